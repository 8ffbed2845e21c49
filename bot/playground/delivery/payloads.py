"""Build the interaction payloads that Slack sends: actions, views, shortcuts, and slash commands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.playground.workspace.copies import copy_json
from bot.playground.workspace.state import JSON, LocalChannel, LocalUser, Workspace


@dataclass(frozen=True, slots=True)
class InteractionContext:
    """The context of an interaction: workspace, user, and trigger id."""

    workspace: Workspace
    user: LocalUser
    trigger_id: str

    def fields(self) -> JSON:
        """Return the fields that all kinds of interaction share."""
        team = {"id": self.workspace.team_id, "domain": self.workspace.domain}
        user = {"id": self.user.id, "username": self.user.name, "name": self.user.name}
        return {
            "team": team,
            "user": {**user, "team_id": self.workspace.team_id},
            "api_app_id": self.workspace.bot.app_id,
            "token": "verification-token",
            "trigger_id": self.trigger_id,
            "enterprise": None,
            "is_enterprise_install": False,
        }


def _build_channel(channel: LocalChannel) -> JSON:
    name = "directmessage" if channel.is_im else "privategroup" if channel.is_private else channel.name
    return {"id": channel.id, "name": name}


def build_message_action(
    common: InteractionContext,
    channel: LocalChannel,
    message: Mapping[str, Any],
    action: JSON,
    values: JSON,
    response_url: str,
) -> JSON:
    """Build block_actions from a message. For an ephemeral message Slack sends the container, not the message."""
    ephemeral = bool(message.get("is_ephemeral"))
    container: JSON = {"type": "message", "message_ts": message["ts"], "channel_id": channel.id}
    container["is_ephemeral"] = ephemeral
    if message.get("thread_ts"):
        container["thread_ts"] = message["thread_ts"]
    payload: JSON = {
        **common.fields(),
        "type": "block_actions",
        "container": container,
        "channel": _build_channel(channel),
        "state": {"values": values},
        "response_url": response_url,
        "actions": [action],
    }
    if not ephemeral:
        payload["message"] = _copy_content(message)
    return payload


def build_view_action(common: InteractionContext, view: Mapping[str, Any], action: JSON) -> JSON:
    """Build block_actions from a modal or the Home tab."""
    return {
        **common.fields(),
        "type": "block_actions",
        "container": {"type": "view", "view_id": view["id"]},
        "view": copy_json(dict(view)),
        "actions": [action],
    }


def build_view_submission(common: InteractionContext, view: Mapping[str, Any]) -> JSON:
    """Build view_submission; the state is inside the view."""
    view = copy_json(dict(view))
    return {**common.fields(), "type": "view_submission", "view": view, "response_urls": []}


def build_view_closed(common: InteractionContext, view: Mapping[str, Any], *, cleared: bool) -> JSON:
    """Build view_closed, which has no trigger id."""
    fields = {k: v for k, v in common.fields().items() if k != "trigger_id"}
    return {**fields, "type": "view_closed", "view": copy_json(dict(view)), "is_cleared": cleared}


def build_message_shortcut(
    common: InteractionContext,
    channel: LocalChannel,
    message: Mapping[str, Any],
    callback_id: str,
    response_url: str,
    action_ts: str,
) -> JSON:
    """Build message_action: a shortcut in a message's menu."""
    return {
        **common.fields(),
        "type": "message_action",
        "callback_id": callback_id,
        "action_ts": action_ts,
        "channel": _build_channel(channel),
        "message_ts": message["ts"],
        "message": _copy_content(message),
        "response_url": response_url,
    }


def build_global_shortcut(common: InteractionContext, callback_id: str, action_ts: str) -> JSON:
    """Build shortcut: one from the search bar, outside any channel."""
    return {**common.fields(), "type": "shortcut", "callback_id": callback_id, "action_ts": action_ts}


def build_slash_command(
    common: InteractionContext, channel: LocalChannel, command: str, text: str, response_url: str
) -> JSON:
    """Build a slash command: flat, and all values are text."""
    workspace = common.workspace
    return {
        "token": "verification-token",
        "team_id": workspace.team_id,
        "team_domain": workspace.domain,
        "channel_id": channel.id,
        "channel_name": _build_channel(channel)["name"],
        "user_id": common.user.id,
        "user_name": common.user.name,
        "command": command,
        "text": text,
        "api_app_id": workspace.bot.app_id,
        "is_enterprise_install": "false",
        "response_url": response_url,
        "trigger_id": common.trigger_id,
    }


def _copy_content(message: Mapping[str, Any]) -> JSON:
    return {k: copy_json(v) for k, v in message.items() if k != "metadata"}
