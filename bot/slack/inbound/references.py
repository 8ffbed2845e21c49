"""Which other messages a message refers to: permalinks in it, and messages forwarded with it. Not a word of the text is
returned."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from bot.slack.payload import Body

MAX_REFERENCES = 5
_READ = 64 * 1024
_PERMALINK = re.compile(r"https?://[\w.-]{1,200}/archives/([A-Z0-9]{1,40})/p(\d{10})(\d{6})")
_CHANNEL = re.compile(r"[A-Z0-9]{1,40}")
_TS = re.compile(r"\d{10}\.\d{6}", re.ASCII)
_PLACES = ("text", "blocks", "attachments")

Reference = tuple[str, str]


def find_references(message: Body) -> tuple[Reference, ...]:
    """Return the messages (channel, ts) that this one forwards or links to, the first few; without itself."""
    found = dict.fromkeys([*_find_forwarded(message), *_find_linked(message)])
    found.pop((str(message.get("channel")), str(message.get("ts"))), None)
    return tuple(found)[:MAX_REFERENCES]


def _find_forwarded(message: Body) -> Iterator[Reference]:
    attachments = message.get("attachments")
    for card in attachments[:MAX_REFERENCES] if isinstance(attachments, list) else ():
        if not isinstance(card, Mapping) or not (card.get("is_share") or card.get("is_msg_unfurl")):
            continue
        channel, ts = card.get("channel_id"), card.get("ts")
        if isinstance(channel, str) and isinstance(ts, str) and _CHANNEL.fullmatch(channel) and _TS.fullmatch(ts):
            yield channel, ts


def _find_linked(message: Body) -> Iterator[Reference]:
    text = json.dumps({place: message.get(place) for place in _PLACES}, default=str)[:_READ]
    for link in _PERMALINK.finditer(text):
        yield link[1], f"{link[2]}.{link[3]}"
