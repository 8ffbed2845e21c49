"""Shadow mode in Slack: the line above a message in the shadow channel, and presses of buttons there. Must not decide
where a message goes.

A press under a brief in the shadow channel counts as one under the brief in the alert's thread: what it mutes, shows or
asks is about the alert's channel, and so is who may press.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bot.domain.delivery.kinds import DeliveryKind, find_kind
from bot.ports.chat import ChatMessage, Posting
from bot.ports.incidents import IncidentStore
from bot.slack import ids
from bot.slack.views.markup import context, format_channel, link
from bot.slack.views.surfaces import render_note

PRESSES = "block_actions"


def add_heading(posting: Posting, origin: str, url: str | None) -> Posting:
    """The message with the channel that it is of above it, and a link to the alert's post where there is one."""
    if find_kind(posting.delivery_id) is DeliveryKind.NUDGE:
        where, what = "a direct message", "_Shadow mode: for one person, in a direct message._"
    else:
        where = format_channel(origin)
        under = f", {link(url, 'under this post')}" if url else ""
        what = f"_Shadow mode: for {where}{under}._"
    if not posting.blocks:
        return replace(posting, text=f"{what}\n{posting.text}")
    return replace(posting, text=f"{where}: {posting.text}", blocks=(context(what), *posting.blocks))


def render_left_out(count: int) -> ChatMessage:
    """How many alerts of private channels are not shown; neither which nor where."""
    alerts, were = ("1 alert", "was") if count == 1 else (f"{count} alerts", "were")
    return render_note(
        f"_Shadow mode: {alerts} of private channels {were} left out today (UTC); who reads here may not see them._"
    )


async def redirect_press(body: dict[str, Any], store: IncidentStore) -> None:
    """Change a press of a button under a brief in a shadow channel, in place, into one in the alert's thread. Raises
    StoreUnavailable."""
    if body.get("type") != PRESSES:
        return
    channel, message = ids.read_text(ids.read_object(body, "channel"), "id"), ids.read_object(body, "message")
    incident_id = next((i for one in body.get("actions") or () if (i := _read_incident_id(one))), None)
    if not channel or not incident_id:
        return
    shown = [b for b in await store.list_briefs(incident_id) if b.shadow == channel != b.channel]
    pressed = {message.get("ts"), message.get("thread_ts")}
    for brief in sorted(shown, key=lambda b: b.message_ts not in pressed)[:1]:
        body["channel"] = {**body["channel"], "id": brief.channel}
        body["message"] = {**message, "thread_ts": brief.root_ts}


def _read_incident_id(action: object) -> str | None:
    """The incident that a button or a menu's entry names."""
    if not isinstance(action, Mapping):
        return None
    chosen = ids.read_object(action, "selected_option").get("value")
    return ids.read_text(ids.decode(action.get("value") or chosen), "i")
