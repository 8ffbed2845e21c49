"""Turn text from data into text for Slack, cleaned, shortened and escaped; and build blocks.

Text from alerts, records and people passes here exactly once on its way out. It must not be able to mention, link,
format or hide anything. Only `link` makes links, from http(s) addresses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from bot.domain.text.visible import clean

Block = Mapping[str, Any]

_ENTITY = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
# Look-alikes for the characters that mrkdwn reads as format. Prose only: steps to copy go out as plain text, unchanged.
_FORMAT = str.maketrans({"*": "∗", "~": "∼", "`": "ˋ"})
_EDGE_UNDERSCORE = re.compile(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_EMOJI = re.compile(r":(?=[a-z+][a-z0-9_+'-]*:)", re.IGNORECASE)
_HTTP = re.compile(r"https?://[^\s<>|\"`\\^{}]+", re.IGNORECASE)
_CHANNEL = re.compile(r"[CG][A-Z0-9]{2,20}")
_USER = re.compile(r"[UW][A-Z0-9]{2,20}")
_REFERENCE = re.compile(r"<([^<>|]*)(?:\|([^<>]*))?>")
ELLIPSIS = "…"
# A longer address is named, not linked: it would take the place of what a person reads.
MAX_URL = 300


def escape(text: str) -> str:
    """Return the text with `&`, `<` and `>` as Slack's entities."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def fit(text: str, limit: int) -> str:
    """Return the text escaped, in at most `limit` characters of the escaped form, cut at a word where one is near."""
    whole = escape(text)
    if len(whole) <= limit:
        return whole
    room, size = limit - len(ELLIPSIS), 0
    for index, char in enumerate(text):
        size += len(_ENTITY.get(char, char))
        if size > room:
            return escape(_cut_at_word(text[:index])) + ELLIPSIS
    return ELLIPSIS[:limit]


def _cut_at_word(text: str) -> str:
    head, _, _ = text.rpartition(" ")
    return (head if len(head) * 3 >= len(text) * 2 else text).rstrip(" ,;:-…")


def plain(text: str, limit: int, *, lines: bool = False, exact: bool = False) -> str:
    """Return data for a plain_text object: cleaned, escaped, at most `limit` characters."""
    return fit(clean(_cut_near(text, limit), lines=lines, exact=exact), limit)


def _cut_near(text: str, limit: int) -> str:
    """Return no more of the text than could be shown, so that a huge one costs nothing; a cut one still exceeds the
    limit."""
    most = limit * 4 + 400
    return text if len(text) <= most else text[:most] + "…" * limit


def prose(text: str, limit: int) -> str:
    """Return data for mrkdwn: one line, without the power to format, in at most `limit` characters."""
    calm = clean(_cut_near(text, limit)).translate(_FORMAT)
    calm = _EDGE_UNDERSCORE.sub("ˍ", calm)
    return fit(_EMOJI.sub("꞉", calm), limit)


def link(url: str | None, label: str, limit: int = 60) -> str:
    """Return a mrkdwn link if the address is plain http(s), else the label alone."""
    shown = prose(label, limit)
    if not url or len(url) > MAX_URL or not _HTTP.fullmatch(url) or clean(url) != url:
        return shown
    return f"<{escape(url)}|{shown}>"


def format_user(user_id: str | None) -> str:
    """Return a mention of a Slack user id, or the text as data if it is no such id."""
    if user_id and _USER.fullmatch(user_id):
        return f"<@{user_id}>"
    return prose(user_id or "someone", 40)


def format_channel(channel_id: str) -> str:
    """Return a link to a Slack channel, or the text as data if it is no such id."""
    return f"<#{channel_id}>" if _CHANNEL.fullmatch(channel_id) else prose(channel_id, 40)


def format_time(at: datetime) -> str:
    """Return a time in the reader's own zone, in UTC where Slack cannot show that."""
    stamp = int(at.timestamp())
    return f"<!date^{stamp}^{{date_short_pretty}} {{time}}|{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC>"


def format_seconds(at: datetime) -> str:
    """Return a time of day to the second, in the reader's own zone."""
    return f"<!date^{int(at.timestamp())}^{{time_secs}}|{at.astimezone(UTC):%H:%M:%S} UTC>"


def format_date(at: datetime | None) -> str:
    """Return a date in UTC, or "no date"."""
    return f"{at.astimezone(UTC):%Y-%m-%d}" if at else "no date"


def decode_text(text: str) -> str:
    """Return what a person reads in a text as Slack delivers it: references as their label, entities decoded."""
    named = _REFERENCE.sub(lambda m: m[2] or ("" if m[1][:1] in {"@", "#", "!"} else m[1]), text)
    return named.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def mrkdwn(text: str) -> dict[str, object]:
    """Return a mrkdwn text object. With `verbatim` Slack adds no links or mentions of its own."""
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def plain_text(text: str) -> dict[str, object]:
    """Return a plain_text object in which `:names:` stay as they are."""
    return {"type": "plain_text", "text": text, "emoji": False}


def header(text: str) -> Block:
    """Return a header block."""
    return {"type": "header", "text": plain_text(text)}


def section(text: str) -> Block:
    """Return a section of mrkdwn."""
    return {"type": "section", "text": mrkdwn(text)}


def verbatim(text: str) -> Block:
    """Return a section of plain text, for what is to be copied unchanged."""
    return {"type": "section", "text": plain_text(text)}


def context(text: str) -> Block:
    """Return small print in mrkdwn."""
    return {"type": "context", "elements": [mrkdwn(text)]}


def actions(block_id: str, elements: Iterable[Mapping[str, object]]) -> Block:
    """Return a row of buttons."""
    return {"type": "actions", "block_id": block_id, "elements": list(elements)}


def count_text(blocks: Iterable[Block]) -> int:
    """Return the number of characters of all text objects in the blocks, buttons and confirmations included."""
    return sum(_count_text(block) for block in blocks)


def _count_text(node: object) -> int:
    if isinstance(node, Mapping):
        return sum(len(v) if k == "text" and isinstance(v, str) else _count_text(v) for k, v in node.items())
    return sum(_count_text(item) for item in node) if isinstance(node, list | tuple) else 0
