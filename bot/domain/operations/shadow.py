"""Shadow mode: what the bot would say in alert channels by itself goes to one channel, where a team watches it first.

Where a message goes is decided once, when it is owed, and is kept with it: so an edit finds its message whatever the mode
is by then. Must not render, look anything up or deliver.
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
    """Where a message stands instead of its own channel. `under`: the delivery in whose thread it is; `root_ts`: the
    post of its own channel in whose thread it would be."""

    channel: str
    under: str | None = None
    root_ts: str | None = None


@dataclass(frozen=True, slots=True)
class ShadowedCall:
    """What is owed to Slack, as far as it matters here. `target`: it changes, or joins, what another delivery posted."""

    operation: Operation
    delivery_id: str
    channel: str
    thread_ts: str | None = None
    target: str | None = None


def place_in_shadow(call: ShadowedCall, shadow: str | None, brief: ShadowPlacement | None) -> ShadowPlacement | None:
    """Where a call that is owed now goes instead of its own channel; None: it goes there. `shadow` is the shadow channel
    while the mode is on; `brief`, where the brief of its incident and channel stands, if that is in shadow.

    What belongs to a brief in shadow goes into that brief's thread, be the mode still on or not; what changes a message
    goes where that message is, which whoever delivers it knows."""
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
    """Whether a call is not owed at all: a reaction to an alert would be seen in its channel, and says nothing elsewhere."""
    return shadow is not None and operation is Operation.REACT


def may_be_shown(there: Viewer, here: Viewer) -> bool:
    """Whether what is said in an alert's channel (for `here`) may be read in the shadow channel (by `there`): only where
    those see all that may be spoken of."""
    return there.sees_all or here.scopes <= there.scopes
