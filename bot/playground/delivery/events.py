"""Build the Events API payloads of what happens in the local Slack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.playground.workspace.copies import copy_json
from bot.playground.workspace.state import JSON, LocalChannel, Workspace

# Which subscription of the app's manifest covers an event: for messages, by the kind of channel.
_MESSAGE_SUBSCRIPTION = {"channel": "message.channels", "group": "message.groups", "im": "message.im"}


def find_subscription(event: Mapping[str, Any]) -> str:
    """Return the name by which an app subscribes to this event."""
    kind = str(event["type"])
    return _MESSAGE_SUBSCRIPTION[event["channel_type"]] if kind == "message" else kind


def build_posted(channel: LocalChannel, message: Mapping[str, Any]) -> JSON:
    """Build `message` as it arrives for a post."""
    return {**_copy_content(message), "channel": channel.id, "event_ts": message["ts"], "channel_type": channel.type}


def build_changed(channel: LocalChannel, message: Mapping[str, Any], before: Mapping[str, Any], ts: str) -> JSON:
    """Build `message_changed` with the new and the previous message."""
    return {
        **_build_hidden(channel, "message_changed", ts),
        "message": _copy_content(message),
        "previous_message": _copy_content(before),
    }


def build_deleted(channel: LocalChannel, before: Mapping[str, Any], ts: str) -> JSON:
    """Build `message_deleted`."""
    return {
        **_build_hidden(channel, "message_deleted", ts),
        "deleted_ts": before["ts"],
        "previous_message": _copy_content(before),
    }


def _build_hidden(channel: LocalChannel, subtype: str, ts: str) -> JSON:
    facts = {"channel": channel.id, "channel_type": channel.type, "hidden": True, "ts": ts, "event_ts": ts}
    return {"type": "message", "subtype": subtype, **facts}


def _copy_content(message: Mapping[str, Any]) -> JSON:
    return {k: copy_json(v) for k, v in message.items() if k not in ("metadata", "reactions")}


def build_mention(channel: LocalChannel, message: Mapping[str, Any]) -> JSON:
    """Build `app_mention`, which comes in addition to the message itself."""
    kept = {k: v for k, v in _copy_content(message).items() if k not in ("subtype", "root", "parent_user_id")}
    return {**kept, "type": "app_mention", "channel": channel.id, "event_ts": message["ts"]}


def build_reaction(kind: str, channel: LocalChannel, message: Mapping[str, Any], user: str, name: str, ts: str) -> JSON:
    """Build `reaction_added` or `reaction_removed`."""
    item = {"type": "message", "channel": channel.id, "ts": message["ts"]}
    event: JSON = {"type": kind, "user": user, "reaction": name, "item": item, "event_ts": ts}
    if author := message.get("user"):
        event["item_user"] = author
    return event


def build_joined(workspace: Workspace, channel: LocalChannel, user: str, inviter: str | None, ts: str) -> JSON:
    """Build `member_joined_channel`."""
    event: JSON = {
        "type": "member_joined_channel",
        "user": user,
        "channel": channel.id,
        "channel_type": "G" if channel.is_private else "C",
        "team": workspace.team_id,
        "event_ts": ts,
    }
    return {**event, "inviter": inviter} if inviter else event


def build_home_opened(user: str, direct: LocalChannel, view: Mapping[str, Any] | None, ts: str) -> JSON:
    """Build `app_home_opened` for the Home tab, with the view that is shown there, if any."""
    event: JSON = {"type": "app_home_opened", "user": user, "channel": direct.id, "tab": "home", "event_ts": ts}
    return {**event, "view": copy_json(dict(view))} if view else event


def build_envelope(workspace: Workspace, event: JSON, now: float, *, shared: bool = False) -> JSON:
    """Wrap an event in the outer payload of the Events API."""
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
