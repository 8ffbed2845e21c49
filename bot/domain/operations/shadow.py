"""Shadow mode: what the bot would say in alert channels by itself goes to one channel, where a team watches it first.

Where a message goes is decided once, when it is owed, and is kept with it: so an edit finds its message whatever the mode
is by then. Must not render, look anything up or deliver.
"""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.access.visibility import Viewer

# What answers people where they asked, and alerts that the bot posts for a tool: as ever.
ASKED = ("talk/", "mention/", "memo/", "share/", "intake/")
# What tells a thread of what somebody did. It follows the incident's brief, and goes nowhere else by itself.
DONE = ("recorded/", "muted/", "postmortem/")
# Asked about an incident that ended: once the mode is off, in its own thread.
FIRED_AGAIN = "fired-again/"
NUDGE = "nudge/"
POSTS = frozenset({"post", "upload"})
REACTION = "react"


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

    operation: str
    delivery_id: str
    channel: str
    thread_ts: str | None = None
    target: str | None = None


def place_in_shadow(call: ShadowedCall, shadow: str | None, brief: ShadowPlacement | None) -> ShadowPlacement | None:
    """Where a call that is owed now goes instead of its own channel; None: it goes there. `shadow` is the shadow channel
    while the mode is on; `brief`, where the brief of its incident and channel stands, if that is in shadow.

    What belongs to a brief in shadow goes into that brief's thread, be the mode still on or not; what changes a message
    goes where that message is, which whoever delivers it knows."""
    if call.operation not in POSTS or call.target or call.delivery_id.startswith(ASKED):
        return None
    ended = shadow is None and call.delivery_id.startswith(FIRED_AGAIN)
    if brief is not None and not ended:
        return ShadowPlacement(brief.channel, brief.under, call.thread_ts)
    if shadow is None or shadow == call.channel or call.delivery_id.startswith(DONE):
        return None
    return ShadowPlacement(shadow, root_ts=call.thread_ts)


def is_left_out(operation: str, shadow: str | None) -> bool:
    """Whether a call is not owed at all: a reaction to an alert would be seen in its channel, and says nothing elsewhere."""
    return shadow is not None and operation == REACTION


def may_be_shown(there: Viewer, here: Viewer) -> bool:
    """Whether what is said in an alert's channel (for `here`) may be read in the shadow channel (by `there`): only where
    those see all that may be spoken of."""
    return there.sees_all or here.scopes <= there.scopes
