"""Parse Datadog monitors. The monitor id and its group are the identity, never event ids."""

from __future__ import annotations

import re
from urllib.parse import parse_qs

from bot.domain.alerts.alert import AlertState, Severity, Symptom
from bot.parsers.common.draft import Draft, Refusal
from bot.parsers.common.labels import build_labels, find_tag_pairs
from bot.parsers.common.symptoms import build_metric
from bot.parsers.message import Card, Message

TOOL = "datadog"
_TITLE = re.compile(
    r"^(\[TEST\] )?(Re-?Triggered|Triggered|Re-?Warn|Warn|Re-?No data|No data|Recovered|Renotify|Alert|Test)(?: \w{1,12})?:\s*(?:\[(P[1-5])\]\s*)?(.+)$",
    re.IGNORECASE,
)
_MONITOR = re.compile(r"/monitors/(\d+)")
_SCOPE = re.compile(r"\s+on\s+((?:[\w.-]+:[^\s,]+,?\s?)+)$")
_AVERAGE = re.compile(r"([\w.]{2,120}) over .{1,300}? was (>=|<=|>|<) ([\d.]+)")
_VALUE = re.compile(r"Metric value: ([\d.eE+-]+)")
_LOGS = re.compile(r"(More|Less) than ([\d.]+) ([a-z ]{3,30}?) matched")
_SEARCHED = ("service", "env", "vendor", "host", "region")


def _find_card(message: Message) -> Card:
    return next((card for card in message.cards if _TITLE.match(card.title)), Card())


def matches(message: Message) -> bool:
    """One of Datadog's title prefixes with a link to a monitor or its notification tail."""
    card = _find_card(message)
    linked = bool(_MONITOR.search(card.title_url)) or "datadog" in card.title_url
    return bool(card.title) and (linked or "Notified: @" in message.body)


def _read_state(prefix: str) -> AlertState:
    if prefix.startswith("recovered"):
        return AlertState.RESOLVED
    return AlertState.NO_DATA if prefix.endswith("no data") else AlertState.FIRING


def _find_symptoms(text: str) -> tuple[Symptom, ...]:
    average, value, logs = _AVERAGE.search(text), _VALUE.search(text), _LOGS.search(text)
    found = [build_metric(average[1], value[1] if value else None, average[2], average[3])] if average else []
    counted = [build_metric(logs[3].strip(), logs[2], ">" if logs[1] == "More" else "<", logs[2])] if logs else []
    return (*found, *counted)


def parse(message: Message) -> Draft | Refusal:
    """Draft the alert: prefix, priority, name and scope from the title, monitor and group from its link."""
    card = _find_card(message)
    head = _TITLE.match(card.title)
    if head is None or head[1] or head[2].casefold() == "test":
        return Refusal("test_notification", "Datadog's test of a monitor")
    prefix, priority, rest = head[2], head[3], head[4]
    state, scope, monitor = _read_state(prefix.casefold()), _SCOPE.search(rest), _MONITOR.search(card.title_url)
    name, tags = (rest[: scope.start()], scope[1]) if scope else (rest, "")
    group = parse_qs(card.title_url.partition("?")[2]).get("group", [""])[0]
    searched = build_labels(find_tag_pairs(message.body))
    labels = {k: searched[k] for k in _SEARCHED if k in searched} | build_labels(find_tag_pairs(f"{tags},{group}"))
    labels |= ({"monitor_id": monitor[1]} if monitor else {}) | ({"priority": priority} if priority else {})
    severity, raw = None, priority
    if not priority and state is AlertState.FIRING:
        warned = "warn" in prefix.casefold()
        severity, raw = (Severity.WARNING, prefix) if warned else (Severity.CRITICAL, None)
    settled = frozenset({"title", "host"} | (set() if priority else {"severity"}))
    identity = (monitor[1], group) if monitor else (name, tags)
    return Draft(TOOL, state, name.strip(), identity=identity, severity=severity, severity_raw=raw, symptoms=_find_symptoms(message.body), links={"source": card.title_url}, labels=labels, settled=settled, service=labels.get("service"))  # fmt: skip
