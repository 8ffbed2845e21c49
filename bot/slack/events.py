"""What Slack tells: each event is written to the inbox before it is acknowledged, and worked on later.

Must not work on an event here, and must not keep a message that is not for the bot: of those only the id is kept.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bot.domain.alert import Reading
from bot.domain.redact import ends_in_name, mask, mask_value
from bot.ports.store import Received

Event = Mapping[str, Any]
# Ids and times: never masked.
VERBATIM = frozenset({
    "action_id", "app_id", "block_id", "bot_id", "channel", "channel_type", "client_msg_id", "color", "deleted_ts",
    "event_ts", "id", "inviter", "subtype", "team", "team_id", "thread_ts", "ts", "type", "user",
})  # fmt: skip
# Subtypes that are messages of somebody; all others are Slack's own remarks (joins, topics, pins).
SPOKEN = frozenset({None, "bot_message", "file_share", "thread_broadcast", "me_message"})


@dataclass(frozen=True, slots=True)
class Own:
    """Who we are in this workspace."""

    bot_id: str | None = None
    user_id: str | None = None

    def wrote(self, message: Event) -> bool:
        """Whether a message is our own."""
        by_bot = self.bot_id is not None and message.get("bot_id") == self.bot_id
        return by_bot or (self.user_id is not None and message.get("user") == self.user_id)


def is_event(body: Mapping[str, Any]) -> bool:
    """Whether the request is of the Events API."""
    return body.get("type") == "event_callback" and isinstance(body.get("event"), Mapping)


def receive(body: Mapping[str, Any], read: Callable[[Event], Reading], own: Own | None = None) -> Received | None:
    """What the inbox keeps of an Events API request; None for our own posts and edits."""
    event: Event = body["event"]
    own = own or _named_in(body)
    kind = str(event.get("type") or "unknown")
    reader = READERS.get(kind)
    if kind == "message" and own.wrote(_message(event)):
        return None
    kept = reader(event, read, own) if reader else Kept(kind)
    event_id = str(body.get("event_id") or natural_key(body))
    return Received(event_id, kept.key or natural_key(body), kept.kind, _with_team(kept.body, body))


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of an event: its kind, and its body if it is ours to read. `key` replaces the natural key."""

    kind: str
    body: Event | None = None
    key: str | None = None


def natural_key(body: Mapping[str, Any]) -> str:
    """Names the fact: one post is told as `message` and as `app_mention`; an edit is a fact of its own content."""
    event: Event = body["event"]
    kind, team = str(event.get("type")), body.get("team_id") or event.get("team") or ""
    if kind not in {"message", "app_mention"}:
        return f"{kind}/{body.get('event_id') or _digest(event)}"
    message = _message(event)
    ts = message.get("ts") or event.get("deleted_ts") or event.get("ts")
    base = f"message/{team}/{event.get('channel')}/{ts}"
    subtype = event.get("subtype")
    if subtype == "message_changed":
        # With the time of the edit: a message may come back to what it said before, as a re-fired alert does.
        content = _digest({k: message.get(k) for k in ("text", "blocks", "attachments")})
        return f"{base}/edit/{event.get('event_ts') or event.get('ts')}/{content}"
    return f"{base}/deleted" if subtype == "message_deleted" else base


def _read_message(event: Event, read: Callable[[Event], Reading], own: Own) -> Kept:
    subtype = event.get("subtype")
    if subtype == "message_deleted":
        return Kept("deleted")
    if read(event).is_alert:
        return Kept("message", event)
    if subtype in SPOKEN and not event.get("bot_id") and _addressed(event, own):
        return Kept("app_mention", event)
    return Kept("message")


def _read_mention(event: Event, read: Callable[[Event], Reading], own: Own) -> Kept:
    return Kept("message", {**event, "type": "message"}) if read(event).is_alert else Kept("app_mention", event)


def _read_joined(event: Event, read: Callable[[Event], Reading], own: Own) -> Kept:
    """Only the bot's own arrival matters; who else joins is nobody's business here."""
    return Kept("joined", event if event.get("user") == own.user_id else None)


def _read_home(event: Event, read: Callable[[Event], Reading], own: Own) -> Kept:
    return Kept("home", event if event.get("tab", "home") == "home" else None)


READERS: Mapping[str, Callable[[Event, Callable[[Event], Reading], Own], Kept]] = {
    "message": _read_message,
    "app_mention": _read_mention,
    "member_joined_channel": _read_joined,
    "app_home_opened": _read_home,
}


def _message(event: Event) -> Event:
    inner = event.get("message") if event.get("subtype") == "message_changed" else event.get("previous_message")
    return inner if isinstance(inner, Mapping) else event


def _addressed(event: Event, own: Own) -> bool:
    return event.get("channel_type") == "im" or bool(own.user_id and f"<@{own.user_id}>" in str(event.get("text")))


def _named_in(body: Mapping[str, Any]) -> Own:
    bots = [a for a in body.get("authorizations") or () if a.get("is_bot")]
    return Own(user_id=bots[0].get("user_id")) if bots else Own()


def _with_team(event: Event | None, body: Mapping[str, Any]) -> Event | None:
    return None if event is None else {"event": masked(dict(event)), "team_id": body.get("team_id")}


def masked(value: Any, depth: int = 40) -> Any:
    """The same JSON with secrets masked in every text, so that none is written down; ids and times stay as they are.

    What a text is called counts: its key, the title of its field, or the text element before it.
    """
    if isinstance(value, str):
        return mask(value)[0]
    if depth and isinstance(value, Mapping):
        title = value.get("title")
        called = title if isinstance(title, str) else "value"
        return {k: _entry(called if k == "value" else k, k, v, depth) for k, v in value.items()}
    if not (depth and isinstance(value, list)):
        return value
    before = ["", *(_shown(item) for item in value)]
    return [_element(label, item, depth) for label, item in zip(before, value, strict=False)]


def _entry(label: str, key: str, value: Any, depth: int) -> Any:
    if not isinstance(value, str):
        return masked(value, depth - 1)
    return value if key in VERBATIM else mask_value(label, value)


def _shown(item: Any) -> str:
    """The text of a text element, as what it says may call the next one."""
    text = item.get("text") if isinstance(item, Mapping) else None
    text = text.get("text") if isinstance(text, Mapping) else text
    return text.rpartition("\n")[2][-80:] if isinstance(text, str) else ""


def _element(before: str, item: Any, depth: int) -> Any:
    """An element of a list; one that follows a text which ends in a secret's name is its value."""
    text = item.get("text") if isinstance(item, Mapping) else None
    if text and ends_in_name(before):
        if isinstance(text, str):
            return masked({**item, "text": mask_value("password", text)}, depth - 1)
        return {**masked(item, depth - 1), "text": _element(before, text, depth - 1)}
    return masked(item, depth - 1)


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
