"""Small values that workflows share: how owed Slack calls are named, when a channel's digest comes. Must not render or deliver anything."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import asdict
from typing import Any, TypeVar

from bot.ports import ChatAuthRejected, ChatRejected
from bot.ports.chat import Channel, Chat, ChatMessage, Posting
from bot.ports.unit_of_work import Destination, OutboxEntry, PostedBrief

T = TypeVar("T")

# Edits of one message that follow each other closer than this are sent as one.
EDIT_EVERY_S = 3.0
# In what is said to one person (`extra`): the channels of which it tells, so that it is known who else may read it.
OF_CHANNELS = "of_channels"
# How Slack's message events name what not everybody may read.
PRIVATE_TYPES = frozenset({"group", "mpim", "im"})


def build_outbox_entry(
    posting: Posting,
    *,
    key: str,
    urgent: bool = False,
    replaces: bool = False,
    target: str | None = None,
    every_s: float = 0.0,
) -> OutboxEntry:
    """The outbox row for a Slack call. `target` is the delivery id whose message the call edits or deletes; its ts is
    looked up when the row is delivered, for it may not exist yet."""
    payload: dict[str, Any] = {k: v for k, v in asdict(posting).items() if v not in (None, "", (), {})}
    if target:
        payload["target"] = target
    return OutboxEntry(
        Destination.SLACK,
        posting.operation,
        key,
        posting.delivery_id,
        payload,
        urgent=urgent,
        replaces=replaces,
        every_s=every_s,
    )


def build_brief_edit(posted: PostedBrief, message: ChatMessage, every_s: float = 0.0) -> OutboxEntry:
    """The outbox row that puts `message` in the place of a posted brief; edits of it that wait become one."""
    about = posted.incident_id
    posting = Posting(
        "update", posted.channel, f"{posted.delivery_id}/edit", message.text, message.blocks, incident_id=about
    )
    key = f"{posted.channel}/{about}"
    return build_outbox_entry(posting, key=key, replaces=True, target=posted.delivery_id, every_s=every_s)


async def or_if_refused(asked: Awaitable[T], otherwise: T) -> T:
    """What Slack says, or `otherwise` where it refuses this one thing. Raises ChatAuthRejected, for then it refuses
    everything, and ChatUnavailable."""
    try:
        return await asked
    except ChatAuthRejected:
        raise
    except ChatRejected:
        return otherwise


async def read_event_channel(chat: Chat, event: Mapping[str, Any]) -> Channel:
    """The channel in which a message was posted. The event itself says whether it was private then, which may be newer
    than what is known of the channel: that is asked anew. Raises ChatRejected, ChatUnavailable."""
    channel_id = str(event.get("channel") or "")
    channel = await chat.read_channel(channel_id)
    is_outdated = event.get("channel_type") in PRIVATE_TYPES and not channel.is_private
    return await chat.read_channel(channel_id, within_s=0) if is_outdated else channel
