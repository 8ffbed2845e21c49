"""Prometheus Alertmanager, default and custom templates. Must not read the state from annotations: they are frozen."""

from __future__ import annotations

import re
from urllib.parse import unquote

from bot.alerts.common.bare_values import name_group, name_values
from bot.alerts.common.draft import Draft, Refusal
from bot.alerts.common.titles import clean_title
from bot.alerts.common.labels import as_labels, body_pairs
from bot.alerts.message import Card, Message
from bot.alerts.vocabulary.states import color_state
from bot.domain.alert import AlertMember, AlertState

TOOL = "alertmanager"
_TITLE = re.compile(r"^\s*\[(FIRING|RESOLVED)(?::\d+)?\]\s?([^\n]*)")
_URL = re.compile(r"/#/(?:alerts\?receiver=|silences/new)")
_PAIR = re.compile(r'(\w{1,60})="((?:[^"\\]|\\.){0,300})"')
_POD = re.compile(r"\b([a-z0-9-]{1,40})/([a-z0-9][a-z0-9-]{1,60}-[a-z0-9]{5,10}-[a-z0-9]{5})\b")
_CAMEL = re.compile(r"^\w*[a-z0-9]\w*[A-Z_]\w*$|^[A-Z][a-z]+$")


def _card(message: Message) -> Card:
    text = message.text if _TITLE.match(message.text) else ""
    return next((card for card in message.cards if not card.unfurl), Card(title=text))


def matches(message: Message) -> bool:
    """A bracket title with a link to Alertmanager, or one of its own bracket titles without Grafana's marks."""
    if any("grafana" in text.casefold() for card in message.cards for text in (card.footer, card.title_url)):
        return False
    if any(_URL.search(link.url) for link in message.links) and message.cards:
        return True
    return bool(_TITLE.match(_card(message).title)) and "grafana_folder" not in message.body


def _split(line: str) -> tuple[str, list[str]]:
    """Group values before the parenthesis, other common values inside it; a cut title has no closing one."""
    name, _, inside = re.sub(r" \| https?://\S*$", "", line).strip().partition("(")
    return name.strip(), inside.rstrip(") …").split() if inside else []


def _members(card: Card, state: AlertState) -> tuple[AlertMember, ...]:
    """Alerts of the group: label lists that each start at `alertname`, else the pods that the text names."""
    parts = re.split(r"(?m)^(?=\W*alertname:)", card.text)[1:]
    listed = [as_labels(body_pairs(part.split("\n"))) for part in parts]
    if not listed:
        pods = dict.fromkeys((m[1], m[2]) for m in _POD.finditer(card.text))
        listed = [{"namespace": namespace, "pod": pod} for namespace, pod in pods]
    return tuple(AlertMember(state, labels, labels.get("alertname")) for labels in listed[:50])


def parse(message: Message) -> Draft | Refusal:
    """State from the bracket, else the colour; identity from the group values, which the fallback keeps verbatim."""
    card = _card(message)
    own, spare = _TITLE.match(card.title), _TITLE.match(card.fallback)
    bracket = own or spare
    color = color_state(card.color) or AlertState.FIRING
    state = (AlertState.RESOLVED if bracket[1] == "RESOLVED" else AlertState.FIRING) if bracket else color
    silence = next((unquote(link.url) for link in message.links if "/#/silences/new" in link.url), "")
    labels = dict(_PAIR.findall(silence)) | as_labels(body_pairs(card.text.split("\n")))
    group, values = _split(own[2]) if own else ("", [])
    if len(group.split()) > 1 and _CAMEL.match(group.split()[0]) and values:
        labels = {**name_group(group.split()[1:]), **labels}
    labels = {**name_values(values), **labels}
    words = re.split(r"\s+on\s+", group)[0].split()
    named = labels.get("alertname") or (words[0] if words and _CAMEL.match(words[0]) else " ".join(words))
    title = named if own else clean_title(card.title)
    if (title or "") in {"Watchdog", "InfoInhibitor"} or re.match(r"test ?alert", title or "", re.IGNORECASE):
        return Refusal("heartbeat" if title == "Watchdog" else "test_notification", "fires to show that alerting works")
    key = _split(spare[2])[0] if spare else group
    identity = (key or " ".join(values) or title or "",)
    source = {"source": card.title_url} if card.title_url else {}
    settled = frozenset({"title"} | (set() if labels.get("service") or values else {"service"}))
    members = _members(card, state)
    return Draft(
        TOOL,
        state,
        title or None,
        identity=identity,
        labels=labels,
        links=source,
        settled=settled,
        members=members,
        service=labels.get("service"),
    )
