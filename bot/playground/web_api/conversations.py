"""conversations.*, users.*, bots.*, team.* and auth.test of the Web API. Must not read requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bot.playground.core import Core
from bot.playground.web_api.arguments import flag, in_time, joined_channel, next_page, page, required, visible_channel
from bot.playground.workspace import messages
from bot.playground.workspace.state import JSON, Channel, SlackRefused, User

_CREATED = 1_700_000_000
_KINDS = {"channel": "public_channel", "group": "private_channel", "im": "im"}


def auth_test(core: Core, _args: JSON) -> JSON:
    """auth.test."""
    workspace = core.workspace
    return {
        "url": f"{core.url}/",
        "team": workspace.name,
        "user": workspace.user(workspace.bot_user).name,
        "team_id": workspace.team_id,
        "user_id": workspace.bot_user,
        "bot_id": workspace.bot.bot_id,
        "is_enterprise_install": False,
    }


def team_info(core: Core, _args: JSON) -> JSON:
    """team.info."""
    workspace = core.workspace
    return {"team": {"id": workspace.team_id, "name": workspace.name, "domain": workspace.domain}}


def _channel_json(core: Core, channel: Channel) -> JSON:
    if channel.is_im:
        person = next((m for m in channel.members if m != core.workspace.bot_user), "")
        return {"id": channel.id, "created": _CREATED, "is_im": True, "user": person, "is_archived": False}
    return {
        "id": channel.id,
        "name": channel.name,
        "name_normalized": channel.name,
        "created": _CREATED,
        "creator": channel.members[0] if channel.members else "",
        "is_channel": not channel.is_private,
        "is_group": False,
        "is_im": False,
        "is_mpim": False,
        "is_private": channel.is_private,
        "is_archived": channel.is_archived,
        "is_general": False,
        "is_shared": channel.is_ext_shared,
        "is_ext_shared": channel.is_ext_shared,
        "is_org_shared": False,
        "is_member": core.workspace.bot_is_in(channel),
        "num_members": len(channel.members),
        "context_team_id": core.workspace.team_id,
        "topic": {"value": channel.topic, "creator": "", "last_set": 0},
        "purpose": {"value": "", "creator": "", "last_set": 0},
    }


def info(core: Core, args: JSON) -> JSON:
    """conversations.info."""
    return {"channel": _channel_json(core, visible_channel(core, args))}


def list_channels(core: Core, args: JSON) -> JSON:
    """conversations.list: public channels by default; private ones only where the bot is a member."""
    kinds = str(args.get("types") or "public_channel").split(",")
    seen = [c for c in core.workspace.channels.values() if _KINDS[c.type] in kinds and _listed(core, c, args)]
    rows, cursor = page(seen, args, default=100)
    return {"channels": [_channel_json(core, c) for c in rows], **next_page(cursor)}


def joined_channels(core: Core, args: JSON) -> JSON:
    """users.conversations: the channels that the bot is in."""
    mine = {c.id for c in core.workspace.channels.values() if core.workspace.bot_is_in(c)}
    kinds = str(args.get("types") or "public_channel").split(",")
    seen = [
        c
        for c in core.workspace.channels.values()
        if c.id in mine and _KINDS[c.type] in kinds and _listed(core, c, args)
    ]
    rows, cursor = page(seen, args, default=100)
    return {"channels": [_channel_json(core, c) for c in rows], **next_page(cursor)}


def _listed(core: Core, channel: Channel, args: Mapping[str, Any]) -> bool:
    if channel.is_archived and flag(args.get("exclude_archived")):
        return False
    return channel.type == "channel" or core.workspace.bot_is_in(channel)


def history(core: Core, args: JSON) -> JSON:
    """conversations.history: roots, newest first."""
    channel = joined_channel(core, args)
    found = in_time(core.workspace.timeline(channel), args)
    rows, cursor = page(found[::-1], args, default=100, most=999)
    return {**_messages(rows, args), "has_more": bool(cursor), "pin_count": 0, **next_page(cursor)}


def replies(core: Core, args: JSON) -> JSON:
    """conversations.replies: the root first, then its replies, oldest first."""
    channel = joined_channel(core, args)
    thread = core.workspace.thread(channel, required(args, "ts"))
    rows, cursor = page([thread[0], *in_time(thread[1:], args)], args, default=1000)
    return {**_messages(rows, args), "has_more": bool(cursor), **next_page(cursor)}


def _messages(rows: list[JSON], args: Mapping[str, Any]) -> JSON:
    with_metadata = flag(args.get("include_all_metadata"))
    return {"messages": [messages.public(m, with_metadata=with_metadata) for m in rows]}


def members(core: Core, args: JSON) -> JSON:
    """conversations.members."""
    rows, cursor = page(visible_channel(core, args).members, args, default=100)
    return {"members": rows, **next_page(cursor)}


def join(core: Core, args: JSON) -> JSON:
    """conversations.join: public channels only."""
    channel = visible_channel(core, args)
    if channel.type != "channel":
        raise SlackRefused("method_not_supported_for_channel_type")
    if core.workspace.bot_is_in(channel):
        shown = _channel_json(core, channel)
        return {"channel": shown, "warning": "already_in_channel"}
    core.add_member(channel, core.workspace.bot_user)
    return {"channel": _channel_json(core, channel)}


def open_direct(core: Core, args: JSON) -> JSON:
    """conversations.open: direct messages with one user."""
    users = args.get("users") or ""
    names = users if isinstance(users, list) else [u for u in str(users).split(",") if u]
    if len(names) != 1:
        raise SlackRefused("users_list_not_supplied" if not names else "method_not_supported_for_channel_type")
    if names[0] not in core.workspace.users:
        raise SlackRefused("user_not_found")
    channel = core.workspace.direct(names[0])
    shown = _channel_json(core, channel) if flag(args.get("return_im")) else {"id": channel.id}
    return {"channel": shown}


def _user_json(core: Core, user: User) -> JSON:
    profile = {"real_name": user.real_name, "display_name": user.name, "team": core.workspace.team_id}
    return {
        "id": user.id,
        "team_id": core.workspace.team_id,
        "name": user.name,
        "deleted": False,
        "real_name": user.real_name,
        "tz": user.tz,
        "profile": profile,
        "is_admin": user.is_admin,
        "is_owner": False,
        "is_primary_owner": False,
        "is_restricted": user.is_guest,
        "is_ultra_restricted": False,
        "is_bot": user.is_bot,
        "is_app_user": False,
    }


def user_info(core: Core, args: JSON) -> JSON:
    """users.info."""
    user = core.workspace.users.get(required(args, "user"))
    if user is None:
        raise SlackRefused("user_not_found")
    return {"user": _user_json(core, user)}


def list_users(core: Core, args: JSON) -> JSON:
    """users.list."""
    rows, cursor = page(list(core.workspace.users.values()), args, default=200)
    return {"members": [_user_json(core, u) for u in rows], "cache_ts": int(core.now()), **next_page(cursor)}


def bot_info(core: Core, args: JSON) -> JSON:
    """bots.info."""
    app = core.workspace.apps.get(required(args, "bot"))
    if app is None:
        raise SlackRefused("bot_not_found")
    shown = {"id": app.bot_id, "app_id": app.app_id, "user_id": app.user_id, "name": app.name, "deleted": False}
    return {"bot": shown}


METHODS: dict[str, Callable[[Core, JSON], JSON]] = {
    "auth.test": auth_test,
    "team.info": team_info,
    "conversations.info": info,
    "conversations.list": list_channels,
    "conversations.history": history,
    "conversations.replies": replies,
    "conversations.members": members,
    "conversations.join": join,
    "conversations.open": open_direct,
    "users.conversations": joined_channels,
    "users.info": user_info,
    "users.list": list_users,
    "bots.info": bot_info,
}
