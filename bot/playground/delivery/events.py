"""The Events API payloads of what happens in the local Slack. Must not decide who receives them, nor send them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.playground.workspace.copies import copied
from bot.playground.workspace.state import JSON, Channel, Workspace

# Which subscription of the app's manifest covers an event: for messages, by the kind of channel.
_MESSAGE_SUBSCRIPTION = {"channel": "message.channels", "group": "message.groups", "im": "message.im"}


def subscription(event: Mapping[str, Any]) -> str:
    """The name under which an app subscribes to this event."""
    kind = str(event["type"])
    return _MESSAGE_SUBSCRIPTION[event["channel_type"]] if kind == "message" else kind


def posted(channel: Channel, message: Mapping[str, Any]) -> JSON:
    """`message` as it arrives for a post."""
    return {**_content(message), "channel": channel.id, "event_ts": message["ts"], "channel_type": channel.type}


def changed(channel: Channel, message: Mapping[str, Any], before: Mapping[str, Any], ts: str) -> JSON:
    """`message_changed`: the message now and as it was."""
    return {
        **_hidden(channel, "message_changed", ts),
        "message": _content(message),
        "previous_message": _content(before),
    }


def deleted(channel: Channel, before: Mapping[str, Any], ts: str) -> JSON:
    """`message_deleted`."""
    return {
        **_hidden(channel, "message_deleted", ts),
        "deleted_ts": before["ts"],
        "previous_message": _content(before),
    }


def _hidden(channel: Channel, subtype: str, ts: str) -> JSON:
    facts = {"channel": channel.id, "channel_type": channel.type, "hidden": True, "ts": ts, "event_ts": ts}
    return {"type": "message", "subtype": subtype, **facts}


def _content(message: Mapping[str, Any]) -> JSON:
    return {k: copied(v) for k, v in message.items() if k not in ("metadata", "reactions")}


def mentioned(channel: Channel, message: Mapping[str, Any]) -> JSON:
    """`app_mention`, which comes besides the message itself."""
    kept = {k: v for k, v in _content(message).items() if k not in ("subtype", "root", "parent_user_id")}
    return {**kept, "type": "app_mention", "channel": channel.id, "event_ts": message["ts"]}


def reaction(kind: str, channel: Channel, message: Mapping[str, Any], user: str, name: str, ts: str) -> JSON:
    """`reaction_added` or `reaction_removed`."""
    item = {"type": "message", "channel": channel.id, "ts": message["ts"]}
    event: JSON = {"type": kind, "user": user, "reaction": name, "item": item, "event_ts": ts}
    if author := message.get("user"):
        event["item_user"] = author
    return event


def joined(workspace: Workspace, channel: Channel, user: str, inviter: str | None, ts: str) -> JSON:
    """`member_joined_channel`."""
    event: JSON = {
        "type": "member_joined_channel",
        "user": user,
        "channel": channel.id,
        "channel_type": "G" if channel.is_private else "C",
        "team": workspace.team_id,
        "event_ts": ts,
    }
    return {**event, "inviter": inviter} if inviter else event


def home_opened(user: str, direct: Channel, view: Mapping[str, Any] | None, ts: str) -> JSON:
    """`app_home_opened` on the Home tab, with the view that is shown there, if any."""
    event: JSON = {"type": "app_home_opened", "user": user, "channel": direct.id, "tab": "home", "event_ts": ts}
    return {**event, "view": copied(dict(view))} if view else event


def envelope(workspace: Workspace, event: JSON, now: float, *, shared: bool = False) -> JSON:
    """The Events API's outer payload around an event."""
    event_id = workspace.new_id("Ev")
    authorization = {
        "enterprise_id": None,
        "team_id": workspace.team_id,
        "user_id": workspace.bot_user,
        "is_bot": True,
        "is_enterprise_install": False,
    }
    return {
        "token": "verification-token",  # deprecated by Slack, still sent
        "team_id": workspace.team_id,
        "context_team_id": workspace.team_id,
        "context_enterprise_id": None,
        "api_app_id": workspace.bot.app_id,
        "event": event,
        "type": "event_callback",
        "event_id": event_id,
        "event_time": int(now),
        "authorizations": [authorization],
        "is_ext_shared_channel": shared,
        "event_context": f"4-{event_id}",
    }
