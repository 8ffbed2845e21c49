"""Grafana unified alerting. Must not take FIRING for firing when the rule has no data."""

from __future__ import annotations

import re

from bot.alerts.common.draft import Draft, Refusal
from bot.alerts.common.labels import as_labels, equals_pairs
from bot.alerts.common.symptoms import metric
from bot.alerts.message import Card, Message
from bot.domain.alert import AlertMember, AlertState, Symptom

TOOL = "grafana"
_TITLE = re.compile(r"^\[(FIRING|RESOLVED)[^\]]{0,40}\]\s?([^\n(]*)")
_REPLY = re.compile(r"^(Firing|Resolved): (.{1,200}?), Labels: (.*)")
_LABEL = re.compile(r"^\s*- ([\w.-]{1,60}) = (.*)$", re.MULTILINE)
_LINK = re.compile(r"^(Source|Silence|Dashboard|Panel): (https?://.*)$", re.MULTILINE)
_VALUE = re.compile(r"\b([A-Z]\w{0,20})=([-+]?\d[\d.e+]*)")
_NO_DATA = frozenset({"DatasourceNoData", "DatasourceError"})


def _card(message: Message) -> Card:
    return next((card for card in message.cards if not card.unfurl), Card())


def matches(message: Message) -> bool:
    """Grafana's footer, its labels under a bracket title, or its reply with a screenshot."""
    card = _card(message)
    if _REPLY.match(message.text):
        return True
    marked = card.footer.startswith("Grafana v") or "/alerting/" in card.title_url or "grafana_folder" in card.text
    return bool(_TITLE.match(card.title)) and marked


def _members(text: str) -> list[AlertMember]:
    """One member per label block, under the heading that states its state."""
    found = []
    for half in re.split(r"(?m)^(?=(?:Firing|Resolved)\s*$)", text):
        state = AlertState.RESOLVED if half.startswith("Resolved") else AlertState.FIRING
        for part in re.split(r"(?m)^(?=Value: )", half)[1:]:
            labels = dict(_LABEL.findall(part.partition("Annotations:")[0]))
            found.append(AlertMember(state, labels, labels.get("rulename") or labels.get("alertname")))
    return found[:50]


def _values(text: str) -> tuple[Symptom, ...]:
    """Values by their letter; the condition's own 0 or 1 is no metric."""
    lines = re.findall(r"(?m)^Value: (.{1,300})$", text)
    return tuple(
        metric(k, v) for line in lines[:10] for k, v in _VALUE.findall(line) if v not in {"0", "1"} or k == "A"
    )


def _reply(match: re.Match[str]) -> Draft:
    labels = as_labels(equals_pairs(match[3]))
    state = AlertState.FIRING if match[1] == "Firing" else AlertState.RESOLVED
    return Draft(
        TOOL,
        state,
        match[2],
        labels=labels,
        identity=(match[2], labels.get("grafana_folder", "")),
        settled=frozenset({"vendor"}),
    )


def parse(message: Message) -> Draft | Refusal:
    """State from the bracket; rule and folder are the identity, and a rule without data is another alert."""
    reply = _REPLY.match(message.text)
    if reply:
        return _reply(reply)
    card = _card(message)
    bracket = _TITLE.match(card.title)
    members = _members(card.text)
    shared = [set(m.labels.items()) for m in members]
    labels = dict(set.intersection(*shared)) if shared else {}
    labels = {**labels, **{k: v for m in members[:1] for k, v in m.labels.items()}} if len(members) == 1 else labels
    alertname = labels.get("alertname", "")
    title = labels.get("rulename") or alertname or (bracket[2].strip() if bracket else "")
    if re.match(r"test ?alert", title, re.IGNORECASE):
        return Refusal("test_notification", "Grafana's own test alert")
    state = AlertState.FIRING if bracket and bracket[1] == "FIRING" else AlertState.RESOLVED
    gap = alertname in _NO_DATA
    links = {name.casefold(): url for name, url in _LINK.findall(card.text)} or (
        {"source": card.title_url} if card.title_url else {}
    )
    runbook = re.search(r"(?m)^\s*- runbook_url = (\S+)", card.text)
    links |= {"runbook": runbook[1]} if runbook else {}
    identity = (title, labels.get("grafana_folder", ""), *(["no data"] if gap else []))
    state = AlertState.NO_DATA if gap and state is AlertState.FIRING else state
    return Draft(
        TOOL,
        state,
        title or None,
        identity=identity,
        labels=labels,
        links=links,
        symptoms=_values(card.text),
        members=tuple(members),
    )
