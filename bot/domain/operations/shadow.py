"""Shadow mode: what the bot would post in alert channels on its own goes to one channel, where a team watches it
first.

The placement is decided once, when a message is queued, and stored with it, so that an edit finds its message
whatever the mode is by then.
"""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.access.visibility import Viewer
from bot.domain.delivery.kinds import DeliveryKind, Operation, find_kind

# Answers to people where they asked, and alerts that the bot posts for a tool: they go where they always go.
ANSWERS = frozenset(
    {DeliveryKind.TALK, DeliveryKind.MENTION, DeliveryKind.MEMO, DeliveryKind.SHARE, DeliveryKind.INTAKE}
)
# Lines in a thread about what somebody did: they follow the incident's brief, and go nowhere else by themselves.
REPORTS = frozenset({DeliveryKind.RECORDED, DeliveryKind.MUTED, DeliveryKind.POSTMORTEM})
POSTS = frozenset({Operation.POST, Operation.UPLOAD})


@dataclass(frozen=True, slots=True)
class ShadowPlacement:
    """Where a message goes instead of its own channel."""

    channel: str
    under: str | None = None  # the delivery in whose thread it is
    root_ts: str | None = None  # the post of its own channel in whose thread it would be


@dataclass(frozen=True, slots=True)
class ShadowedCall:
    """A queued call to Slack, as far as placement needs it."""

    operation: Operation
    delivery_id: str
    channel: str
    thread_ts: str | None = None
    target: str | None = None  # the delivery whose message it changes or joins


def place_in_shadow(call: ShadowedCall, shadow: str | None, brief: ShadowPlacement | None) -> ShadowPlacement | None:
    """Return where a call that is queued now goes instead of its own channel; None means its own channel.

    `shadow` is the shadow channel while the mode is on; `brief` is where the brief of its incident and channel is,
    if in shadow. Whatever belongs to a brief in shadow follows it into its thread, even once the mode is off. A
    call that changes a message goes where that message is, which the delivery worker knows.
    """
    kind = find_kind(call.delivery_id)
    if call.operation not in POSTS or call.target or kind in ANSWERS:
        return None
    # It is asked about an incident that ended: once the mode is off, in its own thread.
    ended = shadow is None and kind is DeliveryKind.FIRED_AGAIN
    if brief is not None and not ended:
        return ShadowPlacement(brief.channel, brief.under, call.thread_ts)
    if shadow is None or shadow == call.channel or kind in REPORTS:
        return None
    return ShadowPlacement(shadow, root_ts=call.thread_ts)


def is_left_out(operation: Operation, shadow: str | None) -> bool:
    """Return whether a call is dropped: a reaction would show in the alert's channel, and says nothing elsewhere."""
    return shadow is not None and operation is Operation.REACT


def may_be_shown(there: Viewer, here: Viewer) -> bool:
    """Return whether the shadow channel (`there`) may read what is said in an alert's channel (for `here`): only if
    all its readers see everything it may mention."""
    return there.sees_all or here.scopes <= there.scopes
