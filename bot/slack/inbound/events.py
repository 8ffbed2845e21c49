"""Read Slack's events. Each is written to the inbox before it is acknowledged, and worked on later.

Of a message that is not for the bot only the id is stored.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from bot.domain.alerts.alert import Alert, DeployAnnouncement, NotAlert, Reading
from bot.ports.delivery.inbox import ReceivedEvent
from bot.records.alert_json import write_alert
from bot.slack.inbound.references import find_references
from bot.slack.inbound.requests import sanitize_body

SlackEvent = Mapping[str, Any]
# What is stored of an event: facts, no text.
KEPT_FIELDS = frozenset({
    "app_id", "bot_id", "channel", "channel_type", "deleted_ts", "event_ts", "inviter", "subtype", "tab", "team", "thread_ts", "ts",
    "type", "user",
})  # fmt: skip
# Subtypes that are messages of somebody; all others are Slack's own remarks (joins, topics, pins).
SPOKEN_SUBTYPES = frozenset({None, "bot_message", "file_share", "thread_broadcast", "me_message"})
# The reaction that says of a message: this is the fix.
MEMO = "memo"

_ID = re.compile(r"[!-~]{1,200}")
_TS = re.compile(r"\d{1,11}\.\d{1,6}", re.ASCII)


@dataclass(frozen=True, slots=True)
class OwnIdentity:
    """Who we are in this workspace."""

    bot_id: str | None = None
    user_id: str | None = None

    def is_author(self, message: SlackEvent) -> bool:
        """Tell whether a message is our own."""
        by_bot = self.bot_id is not None and message.get("bot_id") == self.bot_id
        return by_bot or (self.user_id is not None and message.get("user") == self.user_id)


def is_event(body: Mapping[str, Any]) -> bool:
    """Tell whether the request is of the Events API."""
    return body.get("type") == "event_callback" and isinstance(body.get("event"), Mapping)


def receive(
    body: Mapping[str, Any], read: Callable[[SlackEvent], Reading], own: OwnIdentity | None = None
) -> ReceivedEvent | None:
    """Return what the inbox stores of an Events API request, whatever is in it; None for our own posts and edits, and
    where there is no event at all."""
    body = sanitize_body(body)
    event = body.get("event")
    if not isinstance(event, Mapping):
        return None
    own = own or _read_own_identity(body)
    kind = str(event.get("type") or "")
    kind = kind if _ID.fullmatch(kind) else "unknown"
    reader = READERS.get(kind)
    if kind == "message" and own.is_author(_read_inner_message(event)):
        return None
    parsed = reader(event, read, own) if reader else ParsedEvent(kind)
    event_id = str(body.get("event_id") or "")
    event_id = event_id if _ID.fullmatch(event_id) else build_natural_key(body)
    order_key = f"alert/{parsed.alert.fingerprint}" if parsed.alert else None
    order_key = None if parsed.kind == "reference" else order_key
    return ReceivedEvent(
        event_id, parsed.key or build_natural_key(body), parsed.kind, _build_body(parsed, body), order_key
    )


def read_back(
    channel: str, message: SlackEvent, team_id: str, read: Callable[[SlackEvent], Reading], own: OwnIdentity
) -> ReceivedEvent | None:
    """Return what the inbox stores of a message that was found in a channel after a gap; None for our own.

    It is the same fact, under the same key, as if Slack had delivered it as an event; that it was read back is noted.
    """
    ts = str(message.get("ts") or "")
    event = {**message, "type": "message", "channel": channel, "event_ts": ts}
    if event.get("thread_ts") == ts:
        del event["thread_ts"]  # it has answers by now, which its event could not know
    body = {"type": "event_callback", "team_id": team_id, "event": event, "event_id": f"read-back/{channel}/{ts}"}
    received = receive(body, read, own)
    if received is None or received.body is None:
        return received
    stored = dict(received.body)
    return replace(received, body=stored | {"event": {**stored["event"], "read_back": True}})


@dataclass(frozen=True, slots=True)
class ParsedEvent:
    """Parsed event, as far as it is stored: its kind, its body if it is for the bot, and the alert or the deploy that
    was read in it."""

    kind: str
    # None where the event is not for the bot.
    body: SlackEvent | None = None
    # Replaces the natural key.
    key: str | None = None
    alert: Alert | None = None
    deployed: DeployAnnouncement | None = None


def build_natural_key(body: Mapping[str, Any]) -> str:
    """Name the fact: one post arrives as `message` and as `app_mention`; an edit is a fact of its own content."""
    event: SlackEvent = body["event"]
    kind, team = str(event.get("type")), body.get("team_id") or event.get("team") or ""
    if kind not in {"message", "app_mention"}:
        return f"{_build_key_part(kind)}/{_build_key_part(body.get('event_id') or _hash(event))}"
    message = _read_inner_message(event)
    ts = message.get("ts") or event.get("deleted_ts") or event.get("ts")
    base = f"message/{_build_key_part(team)}/{_build_key_part(event.get('channel'))}/{_build_key_part(ts)}"
    subtype = event.get("subtype")
    if subtype == "message_changed":
        # With the time of the edit: a message may come back to what it said before, as a re-fired alert does.
        content = _hash({k: message.get(k) for k in ("text", "blocks", "attachments")})
        return f"{base}/edit/{_build_key_part(event.get('event_ts') or event.get('ts'))}/{content}"
    return f"{base}/deleted" if subtype == "message_deleted" else base


def _read_message(event: SlackEvent, read: Callable[[SlackEvent], Reading], own: OwnIdentity) -> ParsedEvent:
    subtype = event.get("subtype")
    if subtype == "message_deleted":
        return ParsedEvent("deleted")
    if not _is_placed(event):
        return ParsedEvent("message")
    reading = read(event)
    if isinstance(reading, Alert):
        return ParsedEvent("message", event, alert=reading)
    if reading.deployed:
        return ParsedEvent("deploy", event, deployed=reading.deployed)
    if subtype in SPOKEN_SUBTYPES and not event.get("bot_id") and _is_addressed_to_bot(event, own):
        return ParsedEvent("app_mention", event)
    return _read_reference(event, reading, read) or ParsedEvent("message")


def _read_reference(event: SlackEvent, reading: NotAlert, read: Callable[[SlackEvent], Reading]) -> ParsedEvent | None:
    """Return a message that is no alert but links to messages, forwards them, or pastes an alert: the places are stored
    and what the paste was read as, no text."""
    pasted = _read_pasted_alert(event, read) if reading.kind == "knowledge_about_alert" else None
    if pasted or find_references(_add_channel(event)):
        return ParsedEvent("reference", event, alert=pasted)
    return None


def _read_pasted_alert(event: SlackEvent, read: Callable[[SlackEvent], Reading]) -> Alert | None:
    """Return the alert in a person's words, read as if a tool had posted it."""
    if event.get("subtype") == "message_changed" or event.get("thread_ts"):
        return None
    unsigned = {k: v for k, v in event.items() if k not in {"user", "client_msg_id"}}
    reading = read({**unsigned, "subtype": "bot_message", "bot_id": "B0PASTED"})
    if not isinstance(reading, Alert) or reading.tool == "generic":
        return None
    return Alert(reading.tool, reading.state, reading.fingerprint)  # which alert it is; not a word of the person's


def _add_channel(event: SlackEvent) -> SlackEvent:
    """Return the message of an event, with its channel."""
    return {**_read_inner_message(event), "channel": event.get("channel")}


def _read_mention(event: SlackEvent, read: Callable[[SlackEvent], Reading], own: OwnIdentity) -> ParsedEvent:
    """Read a mention. What an app says to the bot is no question: two bots would talk without end."""
    if not _is_placed(event):
        return ParsedEvent("app_mention")
    reading = read(event)
    if isinstance(reading, Alert):
        return ParsedEvent("message", {**event, "type": "message"}, alert=reading)
    is_ours_to_answer = not event.get("bot_id") and event.get("subtype") in SPOKEN_SUBTYPES
    return ParsedEvent("app_mention", event if is_ours_to_answer else None)


def read_reply(body: Mapping[str, Any]) -> SlackEvent | None:
    """Return the facts of a person's message in a thread that mentions nobody: it may answer what the bot asked. None
    for any other. Not a word of it is in them."""
    event = sanitize_body(body).get("event")
    if not isinstance(event, Mapping) or event.get("type") != "message" or event.get("subtype") not in SPOKEN_SUBTYPES:
        return None
    thread, user = event.get("thread_ts"), event.get("user")
    is_reply = _is_placed(event) and isinstance(user, str) and bool(_TS.fullmatch(str(thread or "")))
    if not is_reply or event.get("bot_id") or thread == event.get("ts") or "<@" in str(event.get("text")):
        return None
    return {**_drop_text(event, None), "answers": True}


def _read_joined(event: SlackEvent, read: Callable[[SlackEvent], Reading], own: OwnIdentity) -> ParsedEvent:
    """Read the bot's own arrival; who else joins does not matter here."""
    is_ours = event.get("user") == own.user_id and isinstance(event.get("channel"), str)
    return ParsedEvent("joined", event if is_ours else None)


def _read_home(event: SlackEvent, read: Callable[[SlackEvent], Reading], own: OwnIdentity) -> ParsedEvent:
    is_home = event.get("tab", "home") == "home" and isinstance(event.get("user"), str)
    return ParsedEvent("home", event if is_home else None)


def _read_reaction(event: SlackEvent, read: Callable[[SlackEvent], Reading], own: OwnIdentity) -> ParsedEvent:
    """Read the one reaction that calls a message the fix; never our own."""
    item, user = event.get("item"), event.get("user")
    if not isinstance(item, Mapping) or event.get("reaction") != MEMO or item.get("type") != "message":
        return ParsedEvent("reaction_added")
    message = {**event, "channel": item.get("channel"), "ts": item.get("ts")}
    if own.is_author(event) or not isinstance(user, str) or not _is_placed(message):
        return ParsedEvent("reaction_added")
    return ParsedEvent(MEMO, message)


READERS: Mapping[str, Callable[[SlackEvent, Callable[[SlackEvent], Reading], OwnIdentity], ParsedEvent]] = {
    "message": _read_message,
    "app_mention": _read_mention,
    "member_joined_channel": _read_joined,
    "app_home_opened": _read_home,
    "reaction_added": _read_reaction,
}


def _is_placed(event: SlackEvent) -> bool:
    """Tell whether the event says where its message is; without that nobody can be answered."""
    channel, ts = event.get("channel"), _read_inner_message(event).get("ts") or event.get("ts")
    return isinstance(channel, str) and bool(_ID.fullmatch(channel)) and bool(_TS.fullmatch(str(ts)))


def _build_key_part(value: object) -> str:
    """Return a part of a key: Slack's ids and times unchanged, anything else as its hash (no database stores every
    text)."""
    text = str(value or "")
    return text if not text or _ID.fullmatch(text) else _hash(value)


def _read_inner_message(event: SlackEvent) -> SlackEvent:
    inner = event.get("message") if event.get("subtype") == "message_changed" else event.get("previous_message")
    return inner if isinstance(inner, Mapping) else event


def _is_addressed_to_bot(event: SlackEvent, own: OwnIdentity) -> bool:
    return event.get("channel_type") == "im" or bool(own.user_id and f"<@{own.user_id}>" in str(event.get("text")))


def _read_own_identity(body: Mapping[str, Any]) -> OwnIdentity:
    bots = [a for a in body.get("authorizations") or () if a.get("is_bot")]
    return OwnIdentity(user_id=bots[0].get("user_id")) if bots else OwnIdentity()


def _drop_text(event: SlackEvent, alert: Alert | None) -> dict[str, Any]:
    """Return an event without a word of its text: who, where, when, and the alert that was read in it, masked."""
    stored: dict[str, Any] = {k: v for k, v in event.items() if k in KEPT_FIELDS and isinstance(v, str)}
    inner = event.get("message")
    if isinstance(inner, Mapping):
        stored["message"] = {k: inner[k] for k in ("ts", "thread_ts", "edited", "bot_id", "app_id") if k in inner}
    if spoken_of := find_references(_add_channel(event)):
        stored["refers_to"] = [list(place) for place in spoken_of]
    return stored | ({"alert": write_alert(alert)} if alert else {})


def _build_body(parsed: ParsedEvent, body: Mapping[str, Any]) -> dict[str, Any] | None:
    if parsed.body is None:
        return None
    event = _drop_text(parsed.body, parsed.alert) | ({"deployed": asdict(parsed.deployed)} if parsed.deployed else {})
    return {"event": event, "team_id": body.get("team_id")}


def _hash(value: object) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
