"""Sentry issues and metric alerts. Must not key on the notification's uuid: the issue or rule id is the identity."""

from __future__ import annotations

import re

from bot.alerts.common.draft import Draft, Refusal
from bot.alerts.common.symptoms import error, metric
from bot.alerts.message import Message
from bot.domain.alert import AlertState, Severity, Symptom

TOOL = "sentry"
_ISSUE = re.compile(r"https?://[^/\s]+/(?:organizations/[\w-]+/)?issues/(\d+)")
_RULE = re.compile(
    r"https?://[^/\s]+/(?:organizations/[\w-]+/)?(?:alerts|monitors/alerts|issues/alerts)/(?:rules/)?(?:details/)?(\d+)"
)
_METRIC = re.compile(r"^(Critical|Warning|Resolved): (.+)$")
_STATE = re.compile(r"\bState: (New|Ongoing|Escalating|Regressed|Resolved|Archived|Ignored)\b")
_TAG = re.compile(r"\b([a-z][\w.]{1,30}): ([\w.@/-]{1,80})(?=\s|$)")
_CONTEXT = re.compile(r"\bProject: (\S+)\s+(?:Alert: .{1,200}?\s{2,})?.{0,260}?Short ID: ([\w-]+)")
_COUNT = re.compile(r"\b(Events|Users Affected): (\d+)")
_READING = re.compile(r"^([\w.]+\(\S{0,40}\)|[\w. ]{3,60}?) (\d[\d.]*%?) in the last", re.MULTILINE)
_BOUND = re.compile(r"\b(above|below|over|under) ([\d.]+%?)")
_DONE = frozenset({"Resolved", "Archived", "Ignored"})


def matches(message: Message) -> bool:
    """An issue or rule link of Sentry's together with Sentry's own words around it."""
    labelled = any(link.label and (_ISSUE.match(link.url) or _RULE.match(link.url)) for link in message.links)
    return labelled and bool("Short ID: " in message.body or _STATE.search(message.body) or _metric_link(message))


def _metric_link(message: Message) -> tuple[str, re.Match[str]] | None:
    """Address and label of a metric alert's link."""
    found = ((link.url, _METRIC.match(link.label)) for link in message.links if "/alerts/" in link.url)
    return next(((url, label) for url, label in found if label), None)


def _metric(url: str, label: re.Match[str], body: str) -> Draft:
    """A metric alert: the word before its name is state and severity at once."""
    over, word = label[1] == "Resolved", label[1]
    severity = {"Critical": Severity.CRITICAL, "Warning": Severity.WARNING}.get(word)
    reading, bound = _READING.search(body), _BOUND.search(label[2])
    op = (">" if bound[1] in {"above", "over"} else "<") if bound else None
    signs = (metric(reading[1], reading[2], op, bound[2] if bound else None),) if reading else ()
    rule = _RULE.match(url)
    identity = ("rule", rule[1] if rule else label[2])
    state = AlertState.RESOLVED if over else AlertState.FIRING
    raw = None if over else word
    settled = frozenset({"title", "severity", "service"})
    return Draft(
        TOOL,
        state,
        label[2],
        identity=identity,
        severity=severity,
        severity_raw=raw,
        symptoms=signs,
        links={"source": url},
        settled=settled,
    )


def parse(message: Message) -> Draft | Refusal:
    """An issue's state stands in its context line; a resolve edits the first post."""
    body = message.body
    rule = _metric_link(message)
    if rule:
        return _metric(*rule, body)
    link = next(link for link in message.links if link.label and (_ISSUE.match(link.url) or _RULE.match(link.url)))
    issue, stated, context = _ISSUE.match(link.url), _STATE.search(body), _CONTEXT.search(body)
    done = bool(stated and stated[1] in _DONE) or "Issue resolved by" in body
    tags = {
        k: v
        for k, v in _TAG.findall(body.partition("State: ")[0])
        if k in {"environment", "level", "release", "server_name", "region", "transaction"}
    }
    labels = {**tags, **({"project": context[1], "short_id": context[2]} if context else {})}
    said = re.search(rf"{re.escape(link.label)}: (.{{1,200}})", message.text)
    signs: list[Symptom] = [error(link.label, said[1] if said else None)]
    signs += [metric(name, value) for name, value in _COUNT.findall(body)]
    identity = ("issue", issue[1] if issue else context[2] if context else link.label)
    service = context[1] if context else None
    state = AlertState.RESOLVED if done else AlertState.FIRING
    return Draft(
        TOOL,
        state,
        link.label,
        identity=identity,
        service=service,
        symptoms=tuple(signs),
        links={"source": link.url},
        labels=labels,
        settled=frozenset({"title"}),
    )
