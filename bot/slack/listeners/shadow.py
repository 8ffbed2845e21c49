"""Presses in a shadow channel.

A press under a brief there counts as one under the brief in the alert's thread: what it mutes, shows or asks is about the
alert's channel, and so is who may press.
"""

from __future__ import annotations

from bot.slack.payload import Body, decode, read_object, read_objects, read_text
from bot.workflows.operations.shadow import FindShadowed

PRESS = "block_actions"


async def redirect_press(body: dict[str, object], find_shadowed: FindShadowed) -> None:
    """Change a press under a brief in a shadow channel, in place, into one in the alert's thread. Raises StoreUnavailable."""
    if body.get("type") != PRESS:
        return
    channel, message = read_object(body, "channel"), read_object(body, "message")
    channel_id = read_text(channel, "id")
    incident_id = next((i for action in read_objects(body, "actions") if (i := _read_incident_id(action))), None)
    if not channel_id or not incident_id:
        return
    pressed = {ts for key in ("ts", "thread_ts") if (ts := read_text(message, key))}
    brief = await find_shadowed(incident_id, channel_id, pressed)
    if brief:
        body["channel"] = {**channel, "id": brief.channel}
        body["message"] = {**message, "thread_ts": brief.root_ts}


def _read_incident_id(action: Body) -> str | None:
    """Return the incident that a button or a menu entry names."""
    chosen = read_object(action, "selected_option").get("value")
    return read_text(decode(action.get("value") or chosen), "i")
