"""Bodies of Slack's requests, and the values that travel through Slack and back.

Reading is tolerant: a value of an older version, or of another type than Slack documents, reads as empty. Only what a
listener cannot do without (the person, the trigger, the message) raises RecordRejected.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping

from bot.ports.chat import ChatMessage
from bot.ports.errors import RecordRejected

Body = Mapping[str, object]
# What Bolt injects as `ack` and `respond`.
BoltCall = Callable[..., Awaitable[object]]

# Slack's limits, in characters: a button's value, a menu entry's value, a modal's private metadata.
MAX_VALUE = 2000
MAX_OPTION_VALUE = 150
MAX_METADATA = 3000
UNREADABLE = "Slack sent this without what I need to answer it. Please do it once more."
_TS = re.compile(r"\d{1,11}\.\d{1,6}", re.ASCII)


def encode(value: Body, limit: int = MAX_VALUE) -> str:
    """Return the value as compact JSON. Raises ValueError where it does not fit: a cut value would mean something else."""
    text = json.dumps(value, separators=(",", ":"), sort_keys=True)
    if len(text) >= limit:
        raise ValueError(f"{len(text)} characters do not fit into {limit}")
    return text


def decode(text: object) -> dict[str, object]:
    """Return the value that `encode` wrote; {} for anything else."""
    if not isinstance(text, str):
        return {}
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def read_text(value: Body, key: str) -> str | None:
    """Return the string under a key; None where it is missing, empty or no string."""
    found = value.get(key)
    return found if isinstance(found, str) and found else None


def read_object(value: Body, key: str) -> Body:
    """Return the object under a key, or an empty one."""
    found = value.get(key)
    return found if isinstance(found, Mapping) else {}


def read_objects(value: Body, key: str) -> list[Body]:
    """Return the objects of a list under a key; anything else in it is left out."""
    found = value.get(key)
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []


def read_ts(metadata: Body) -> str | None:
    """Return the message timestamp in a modal's metadata, if it is one."""
    ts = read_text(metadata, "ts")
    return ts if ts and _TS.fullmatch(ts) else None


def read_channel_id(body: Body) -> str:
    """Return the channel of a command or an interaction; "" where Slack names none."""
    of_interaction = read_text(read_object(body, "channel"), "id")
    of_container = read_text(read_object(body, "container"), "channel_id")
    return of_interaction or of_container or read_text(body, "channel_id") or ""


def read_user(body: Body) -> str:
    """Return the id of the person who acts. Raises RecordRejected where Slack names nobody."""
    return require_text(read_text(read_object(body, "user"), "id") or read_text(body, "user_id"))


def read_trigger(body: Body) -> str:
    """Return what opens a modal. Raises RecordRejected where it is missing."""
    return require_text(read_text(body, "trigger_id"))


def read_message(body: Body) -> Body:
    """Return the message of a message shortcut. Raises RecordRejected where it is missing or has no timestamp."""
    message = read_object(body, "message")
    require_text(read_text(message, "ts"))
    return message


def read_root(message: Body) -> str | None:
    """Return the ts of the thread that a message belongs to or would begin."""
    return read_text(message, "thread_ts") or read_text(message, "ts")


def require_text(text: str | None) -> str:
    """Return the text. Raises RecordRejected where there is none."""
    if text is None:
        raise RecordRejected("", UNREADABLE)
    return text


async def tell(respond: BoltCall, message: ChatMessage, *, replaces: bool = False) -> None:
    """Answer the asker alone, without link previews; `replaces`: in the place of the message they pressed."""
    blocks = [dict(b) for b in message.blocks] or None
    await respond(
        text=message.text, blocks=blocks, response_type="ephemeral", replace_original=replaces, unfurl_links=False
    )
