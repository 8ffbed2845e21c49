"""Parse Prometheus Alertmanager's default and custom templates.

Annotations never give the state: they are frozen when the alert fires.
"""

from __future__ import annotations

import re

from bot.domain.alerts.alert import AlertState
from bot.parsers.common.bare_values import name_group, name_values, read_silence_labels
from bot.parsers.common.draft import Draft, Refusal
from bot.parsers.common.groups import find_listed_members
from bot.parsers.common.labels import build_labels, find_body_pairs
from bot.parsers.common.titles import clean_title
from bot.parsers.message import Card, Message
from bot.parsers.vocabulary.noise import HEARTBEAT_NAMES
from bot.parsers.vocabulary.states import read_color_state

TOOL = "alertmanager"
_TITLE = re.compile(r"^\s*\[(FIRING|RESOLVED)(?::\d+)?\]\s?([^\n]*)")
_URL = re.compile(r"/#/(?:alerts\?receiver=|silences/new)")
_CAMEL = re.compile(r"^(?=\w{1,120}$)(?:\w*?[a-z0-9]\w*?[A-Z_]|[A-Z][a-z]+$)")


def _find_card(message: Message) -> Card:
    text = message.text if _TITLE.match(message.text) else ""
    return next((card for card in message.cards if not card.unfurl), Card(title=text))


def matches(message: Message) -> bool:
    """A bracket title with a link to Alertmanager, or one of its own bracket titles without Grafana's marks."""
    if any("grafana" in text.casefold() for card in message.cards for text in (card.footer, card.title_url)):
        return False
    if any(_URL.search(link.url) for link in message.links) and message.cards:
        return True
    return bool(_TITLE.match(_find_card(message).title)) and "grafana_folder" not in message.body


def _split_title(line: str) -> tuple[str, list[str]]:
    """Return (group values, other common values): before and inside the parenthesis, which a cut title does not close."""
    name, _, inside = re.sub(r" \| https?://\S*$", "", line).strip().partition("(")
    return name.strip(), inside.rstrip(") …").split()


def _find_name(group: str, labels: dict[str, str]) -> str:
    """Return the alert's name: a label, else the first word if it looks like one, else all group values."""
    words = re.split(r"\s+on\s+", group)[0].split()
    return labels.get("alertname") or (words[0] if words and _CAMEL.match(words[0]) else " ".join(words))


def _collect_labels(card: Card, message: Message, group: str, values: list[str]) -> dict[str, str]:
    """Return the labels that the post lists or its silence link contains; bare values of the title fill gaps."""
    stated = read_silence_labels(link.url for link in message.links) | build_labels(
        find_body_pairs((card.text or message.body).split("\n"))
    )
    words = group.split()
    default = bool(values) or card.fallback.startswith(card.title)
    grouped = name_group(words[1:]) if len(words) > 1 and _CAMEL.match(words[0]) and default else {}
    return {**name_values(values), **grouped, **stated}


def parse(message: Message) -> Draft | Refusal:
    """Draft the alert: state from the bracket, else the color; identity from the group values, which the fallback
    keeps verbatim."""
    card = _find_card(message)
    own, spare = _TITLE.match(card.title), _TITLE.match(card.fallback)
    bracket = own or spare
    over = bracket[1] == "RESOLVED" if bracket else read_color_state(card.color) is AlertState.RESOLVED
    state = AlertState.RESOLVED if over else AlertState.FIRING
    group, values = _split_title(own[2]) if own else ("", [])
    labels = _collect_labels(card, message, group, values)
    title = _find_name(group, labels) if own else clean_title(card.title)
    kind, told = ("heartbeat", AlertState.INFO) if title in HEARTBEAT_NAMES else ("alert", state)
    identity = ((_split_title(spare[2])[0] if spare else group) or " ".join(values) or title,)
    links = {"source": card.title_url} if card.title_url else {}
    service = labels.get("service") or labels.get("app")
    settled = frozenset({"title", "host", "service"})
    members = find_listed_members(card.text, state)
    return Draft(TOOL, told, title or None, kind, identity, service=service, labels=labels, links=links, settled=settled, members=members)  # fmt: skip
