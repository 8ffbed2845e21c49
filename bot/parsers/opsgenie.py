"""Parse Opsgenie alerts and what people did with them. The name is in quotes; the tiny id is not it."""

from __future__ import annotations

import re

from bot.domain.alerts.alert import AlertState
from bot.parsers.common.draft import Draft, Refusal
from bot.parsers.common.fingerprint import normalize_identity
from bot.parsers.common.titles import clean_title
from bot.parsers.message import Card, Message
from bot.parsers.vocabulary.states import read_token_state

TOOL = "opsgenie"
_TITLE = re.compile(r"^(?:(New) alert|Alert (\w+(?: \w+)?)): #(\d+)$", re.IGNORECASE)
_QUOTED = re.compile(r"\"(?:\[([\w .-]{1,40})\] )?([^\n]{1,500})\"")
_LINK = re.compile(r"https://(?:opsg\.in|[\w.-]*opsgenie\.com)/")
_UPDATES = re.compile(r"note|snooz|assign|priority|updated|added|removed", re.IGNORECASE)


def _find_card(message: Message) -> Card:
    return next((card for card in message.cards if _TITLE.match(card.title)), Card())


def matches(message: Message) -> bool:
    """Its title form together with a link of its own."""
    return bool(_find_card(message).title) and any(_LINK.match(link.url) for link in message.links)


def parse(message: Message) -> Draft | Refusal:
    """Draft the alert: the action is in the title, the name in quotes in the text."""
    card = _find_card(message)
    head, quoted = _TITLE.match(card.title), _QUOTED.search(card.text)
    action, tiny = ((head[1] or head[2]).casefold(), head[3]) if head else ("", "")
    state = AlertState.UPDATE if _UPDATES.search(action) else read_token_state(action) or AlertState.FIRING
    name = clean_title(quoted[2]) if quoted else None
    source = quoted[1] if quoted else None
    labels = {"tiny_id": tiny, **({"source": source} if source else {})}
    tags = next((value for label, value in message.fields if label == "Tags"), "")
    service = next((tag for tag in tags.split(", ") if "-" in tag), None)
    links = {"source": card.title_url} if card.title_url else {}
    identity = (normalize_identity(name or tiny),)
    return Draft(TOOL, state, name, identity=identity, labels=labels, links=links, service=service)
