"""Parse Sentry metric alerts. The rule is the identity, never the occurrence (`alert=`)."""

from __future__ import annotations

import re

from bot.domain.alerts.alert import AlertState, Severity
from bot.parsers.common.draft import Draft, Refusal
from bot.parsers.common.symptoms import build_metric
from bot.parsers.message import Message

TOOL = "sentry"
_RULE = re.compile(r"https?://[^/\s]+/(?:organizations/[\w-]+/)?(?:issues/)?alerts/rules/(?:details/|[\w-]+/)?(\d+)")
_LABEL = re.compile(r"^(Critical|Warning|Resolved): (.+)$")
_READING = re.compile(r"^([\w.]+\(\S{0,40}\)|[\w. ]{3,60}?) (\d[\d.]*%?) in the last", re.MULTILINE)
_BOUND = re.compile(r"\b(above|below|over|under) ([\d.]+%?)")
_SEVERITY = {"Critical": Severity.CRITICAL, "Warning": Severity.WARNING}


def _find_rule(message: Message) -> tuple[re.Match[str], re.Match[str]] | None:
    """Return the matches of the rule's address and of its link's label."""
    pairs = ((_RULE.match(link.url), _LABEL.match(link.label)) for link in message.links)
    return next(((rule, label) for rule, label in pairs if rule and label), None)


def matches(message: Message) -> bool:
    """A link to a rule, named by the word for its state."""
    return _find_rule(message) is not None


def parse(message: Message) -> Draft | Refusal:
    """Draft the alert: the word before the name is state and severity at once."""
    found = _find_rule(message)
    if found is None:
        return Refusal("bot_noise", "no metric alert in it")
    rule, label = found
    word, name = label[1], label[2]
    reading, bound = _READING.search(message.body), _BOUND.search(name)
    op = (">" if bound[1] in {"above", "over"} else "<") if bound else None
    signs = (build_metric(reading[1], reading[2], op, bound[2] if bound else None),) if reading else ()
    return Draft(
        TOOL,
        AlertState.RESOLVED if word == "Resolved" else AlertState.FIRING,
        name,
        identity=("rule", rule[1]),
        severity=_SEVERITY.get(word),
        severity_raw=word if word in _SEVERITY else None,
        symptoms=signs,
        links={"source": next(link.url for link in message.links if link.url.startswith(rule[0]))},
        settled=frozenset({"title", "severity", "service"}),
    )
