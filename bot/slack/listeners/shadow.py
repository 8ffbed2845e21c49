"""Shadow mode in Slack: the line above a message in the shadow channel, and presses of buttons there. Must not decide
where a message goes.

A press under a brief in the shadow channel counts as one under the brief in the alert's thread: what it mutes, shows or
asks is about the alert's channel, and so is who may press.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bot.domain.operations.shadow import NUDGE
from bot.ports.chat import Message, Posting
from bot.ports.unit_of_work import IncidentStore
from bot.slack import ids
from bot.slack.views.markup import context, link, place
from bot.slack.views.surfaces import note

PRESSES = "block_actions"


def headed(posting: Posting, origin: str, url: str | None) -> Posting:
    """The message with the channel that it is of above it, and a link to the alert's post where there is one."""
    if posting.delivery_id.startswith(NUDGE):
        where, what = "a direct message", "_Shadow mode: for one person, in a direct message._"
    else:
        where = place(origin)
        under = f", {link(url, 'under this post')}" if url else ""
        what = f"_Shadow mode: for {where}{under}._"
    if not posting.blocks:
        return replace(posting, text=f"{what}\n{posting.text}")
    return replace(posting, text=f"{where}: {posting.text}", blocks=(context(what), *posting.blocks))


def left_out(count: int) -> Message:
    """How many alerts of private channels are not shown; neither which nor where."""
    alerts, were = ("1 alert", "was") if count == 1 else (f"{count} alerts", "were")
    return note(
        f"_Shadow mode: {alerts} of private channels {were} left out today (UTC); who reads here may not see them._"
    )


async def as_under_the_alert(body: dict[str, Any], store: IncidentStore) -> None:
    """Change a press of a button under a brief in a shadow channel, in place, into one in the alert's thread. Raises
    StoreUnavailable."""
    if body.get("type") != PRESSES:
        return
    channel, message = ids.text_of(ids.object_of(body, "channel"), "id"), ids.object_of(body, "message")
    incident_id = next((i for one in body.get("actions") or () if (i := _incident_in(one))), None)
    if not channel or not incident_id:
        return
    shown = [b for b in await store.briefs(incident_id) if b.shadow == channel != b.channel]
    pressed = {message.get("ts"), message.get("thread_ts")}
    for brief in sorted(shown, key=lambda b: b.message_ts not in pressed)[:1]:
        body["channel"] = {**body["channel"], "id": brief.channel}
        body["message"] = {**message, "thread_ts": brief.root_ts}


def _incident_in(action: object) -> str | None:
    """The incident that a button or a menu's entry names."""
    if not isinstance(action, Mapping):
        return None
    chosen = ids.object_of(action, "selected_option").get("value")
    return ids.text_of(ids.decode(action.get("value") or chosen), "i")
