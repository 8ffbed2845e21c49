"""Datadog monitors. Must not key on event ids: the monitor id and its group are the identity."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

from bot.alerts.common.draft import Draft, Refusal
from bot.alerts.common.labels import as_labels, tag_pairs
from bot.alerts.common.symptoms import metric
from bot.alerts.message import Card, Message
from bot.domain.alert import AlertState, Severity, Symptom

TOOL = "datadog"
_TITLE = re.compile(r"^(Re-?Triggered|Triggered|Warn|Re-?Warn|No data|Re-?No data|Recovered|Renotify|Alert|Test)(?: \w{1,12})?:\s*(?:\[(P[1-5])\]\s*)?(.+)$", re.IGNORECASE)  # fmt: skip
_MONITOR = re.compile(r"/monitors/(\d+)")
_SCOPE = re.compile(r"\s+on\s+((?:[\w.-]+:[^\s,]+,?\s?)+)$")
_AVERAGE = re.compile(r"([\w.]{2,120}) over .{1,300}? was (>=|<=|>|<) ([\d.]+)")
_VALUE = re.compile(r"Metric value: ([\d.eE+-]+)")
_LOGS = re.compile(r"(More|Less) than ([\d.]+) ([a-z ]{3,30}?) matched")


def _card(message: Message) -> Card:
    return next((card for card in message.cards if not card.unfurl and card.title), Card())


def matches(message: Message) -> bool:
    """A monitor link, or one of Datadog's title prefixes with its notification tail."""
    card = _card(message)
    titled = bool(_TITLE.match(card.title))
    return titled and (
        bool(_MONITOR.search(card.title_url)) or "Notified: @" in message.body or "datadog" in card.title_url
    )


def _state(prefix: str) -> AlertState:
    word = prefix.casefold()
    if word.startswith("recovered"):
        return AlertState.RESOLVED
    return AlertState.NO_DATA if word.endswith("no data") else AlertState.FIRING


def _symptoms(text: str) -> tuple[Symptom, ...]:
    found = []
    average, value, logs = _AVERAGE.search(text), _VALUE.search(text), _LOGS.search(text)
    if average:
        found.append(metric(average[1], value[1] if value else average[3], average[2], average[3]))
    if logs:
        found.append(metric(logs[3].strip(), logs[2], ">" if logs[1] == "More" else "<", logs[2]))
    return tuple(found)


def parse(message: Message) -> Draft | Refusal:
    """Prefix, priority, name and scope are all in the title; monitor and group in its link."""
    card = _card(message)
    head = _TITLE.match(card.title)
    prefix, priority, rest = (head[1], head[2], head[3]) if head else ("", None, card.title)
    if prefix.casefold() == "test" or card.title.startswith("[TEST]"):
        return Refusal("test_notification", "Datadog's test of a monitor")
    state = _state(prefix)
    scope = _SCOPE.search(rest)
    name = rest[: scope.start()] if scope else rest
    group = parse_qs(urlsplit(card.title_url).query).get("group", [""])[0]
    monitor = _MONITOR.search(card.title_url)
    body = message.body
    tags = as_labels([*tag_pairs(scope[1] if scope else ""), *tag_pairs(group)])
    searched = as_labels(tag_pairs(re.sub(r"\d\d:\d\d\S*", " ", body)))
    labels = {**{k: v for k, v in searched.items() if k in {"service", "env", "vendor", "host", "region"}}, **tags}
    labels |= {"monitor_id": monitor[1]} if monitor else {}
    severity, raw = None, priority
    if not priority and state is AlertState.FIRING:
        warned = "warn" in prefix.casefold()
        severity, raw = (Severity.WARNING, prefix) if warned else (Severity.CRITICAL, None)
    labels |= {"priority": priority} if priority else {}
    settled = frozenset({"title"} | (set() if priority else {"severity"}))
    links = {"source": card.title_url} if card.title_url else {}
    identity = (monitor[1], group) if monitor else (name, scope[1] if scope else "")
    service = labels.get("service")
    return Draft(
        TOOL,
        state,
        name.strip(),
        identity=identity,
        severity=severity,
        severity_raw=raw,
        symptoms=_symptoms(body),
        links=links,
        labels=labels,
        settled=settled,
        service=service,
    )
