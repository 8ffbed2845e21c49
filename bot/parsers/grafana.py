"""Parse Grafana unified alerting. FIRING is not firing if the rule has no data."""

from __future__ import annotations

import re

from bot.domain.alerts.alert import AlertState, Symptom
from bot.parsers.common.draft import Draft, Refusal
from bot.parsers.common.groups import find_headed_members, find_shared_labels
from bot.parsers.common.labels import build_labels, find_equals_pairs
from bot.parsers.common.symptoms import build_metric
from bot.parsers.message import Card, Message

TOOL = "grafana"
_TITLE = re.compile(r"^\[(FIRING|RESOLVED)[^\]]{0,40}\]\s?([^\n(]*)")
_REPLY = re.compile(r"^(Firing|Resolved): (.{1,200}?), Labels: (.*)")
_LINK = re.compile(r"^(Source|Silence|Dashboard|Panel): (https?://.*)$", re.MULTILINE)
_RUNBOOK = re.compile(r"^\s*- runbook_url = (\S+)", re.MULTILINE)
_VALUES = re.compile(r"^Value: (.{1,300})$", re.MULTILINE)
_VALUE = re.compile(r"\b([A-Z]\w{0,20})=([-+]?\d[\d.e+]*)")
_NO_DATA = frozenset({"DatasourceNoData", "DatasourceError"})


def _find_card(message: Message) -> Card:
    return next((card for card in message.cards if not card.unfurl), Card())


def matches(message: Message) -> bool:
    """Grafana's footer, its labels under a bracket title, or its reply with a screenshot."""
    card = _find_card(message)
    marked = card.footer.startswith("Grafana v") or "/alerting/" in card.title_url or "grafana_folder" in card.text
    return bool(_REPLY.match(message.text)) or (bool(_TITLE.match(card.title)) and marked)


def _find_symptoms(text: str) -> tuple[Symptom, ...]:
    """Return values by their letter; a condition's own 0 or 1 is no metric."""
    pairs = [pair for line in _VALUES.findall(text)[:10] for pair in _VALUE.findall(line)]
    return tuple(build_metric(name, value) for name, value in pairs if value not in {"0", "1"} or name == "A")


def _draft_reply(match: re.Match[str]) -> Draft:
    """Draft the screenshot in the thread: one sentence with name and labels."""
    labels = build_labels(find_equals_pairs(match[3]))
    state = AlertState.FIRING if match[1] == "Firing" else AlertState.RESOLVED
    return Draft(TOOL, state, match[2], labels=labels, identity=(match[2], labels.get("grafana_folder", "")))


def _find_links(card: Card) -> dict[str, str]:
    links = {name.casefold(): url for name, url in _LINK.findall(card.text)}
    runbook = _RUNBOOK.search(card.text)
    return {"source": card.title_url, **links, **({"runbook": runbook[1]} if runbook else {})}


def parse(message: Message) -> Draft | Refusal:
    """Draft the alert: state from the bracket; rule and folder are the identity. A rule without data is another alert."""
    reply = _REPLY.match(message.text)
    if reply:
        return _draft_reply(reply)
    card = _find_card(message)
    bracket = _TITLE.match(card.title)
    word, heading = (bracket[1], bracket[2].strip()) if bracket else ("FIRING", "")
    members = find_headed_members(card.text)
    labels = find_shared_labels(members)
    alertname = labels.get("alertname", "")
    title = labels.get("rulename") or alertname or heading
    gap = alertname in _NO_DATA
    state = AlertState.RESOLVED if word == "RESOLVED" else AlertState.NO_DATA if gap else AlertState.FIRING
    identity = (title, labels.get("grafana_folder", ""), *(["no data"] if gap else []))
    return Draft(TOOL, state, title or None, identity=identity, labels=labels, links=_find_links(card), symptoms=_find_symptoms(card.text), members=members)  # fmt: skip
