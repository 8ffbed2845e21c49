"""Methods of conversations.*, users.*, bots.*, team.* and auth.test; arguments arrive parsed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bot.playground.core import LocalSlackCore
from bot.playground.web_api.arguments import (
    build_next_page,
    filter_by_time,
    find_joined_channel,
    find_visible_channel,
    paginate,
    parse_flag,
    read_required,
)
from bot.playground.workspace import messages
from bot.playground.workspace.state import JSON, LocalChannel, LocalUser, SlackRefused

_CREATED = 1_700_000_000
_KINDS = {"channel": "public_channel", "group": "private_channel", "im": "im"}


def auth_test(core: LocalSlackCore, _args: JSON) -> JSON:
    """Handle auth.test."""
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


def team_info(core: LocalSlackCore, _args: JSON) -> JSON:
    """Handle team.info."""
    workspace = core.workspace
    return {"team": {"id": workspace.team_id, "name": workspace.name, "domain": workspace.domain}}


def _build_channel(core: LocalSlackCore, channel: LocalChannel) -> JSON:
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
        "is_member": core.workspace.has_bot(channel),
        "num_members": len(channel.members),
        "context_team_id": core.workspace.team_id,
        "topic": {"value": channel.topic, "creator": "", "last_set": 0},
        "purpose": {"value": "", "creator": "", "last_set": 0},
    }


def info(core: LocalSlackCore, args: JSON) -> JSON:
    """Handle conversations.info."""
    return {"channel": _build_channel(core, find_visible_channel(core, args))}


def list_channels(core: LocalSlackCore, args: JSON) -> JSON:
    """Handle conversations.list: public channels by default; private ones only if the bot is a member."""
    kinds = str(args.get("types") or "public_channel").split(",")
    seen = [c for c in core.workspace.channels.values() if _KINDS[c.type] in kinds and _is_listed(core, c, args)]
    rows, cursor = paginate(seen, args, default=100)
    return {"channels": [_build_channel(core, c) for c in rows], **build_next_page(cursor)}


def list_joined_channels(core: LocalSlackCore, args: JSON) -> JSON:
    """Handle users.conversations: the channels that the bot is in."""
    mine = {c.id for c in core.workspace.channels.values() if core.workspace.has_bot(c)}
    kinds = str(args.get("types") or "public_channel").split(",")
    seen = [
        c
        for c in core.workspace.channels.values()
        if c.id in mine and _KINDS[c.type] in kinds and _is_listed(core, c, args)
    ]
    rows, cursor = paginate(seen, args, default=100)
    return {"channels": [_build_channel(core, c) for c in rows], **build_next_page(cursor)}


def _is_listed(core: LocalSlackCore, channel: LocalChannel, args: Mapping[str, Any]) -> bool:
    if channel.is_archived and parse_flag(args.get("exclude_archived")):
        return False
    return channel.type == "channel" or core.workspace.has_bot(channel)


def history(core: LocalSlackCore, args: JSON) -> JSON:
    """Handle conversations.history: roots, newest first."""
    channel = find_joined_channel(core, args)
    found = filter_by_time(core.workspace.timeline(channel), args)
    rows, cursor = paginate(found[::-1], args, default=100, most=999)
    return {**_build_messages(rows, args), "has_more": bool(cursor), "pin_count": 0, **build_next_page(cursor)}


def replies(core: LocalSlackCore, args: JSON) -> JSON:
    """Handle conversations.replies: the root first, then its replies, oldest first."""
    channel = find_joined_channel(core, args)
    thread = core.workspace.thread(channel, read_required(args, "ts"))
    rows, cursor = paginate([thread[0], *filter_by_time(thread[1:], args)], args, default=1000)
    return {**_build_messages(rows, args), "has_more": bool(cursor), **build_next_page(cursor)}


def _build_messages(rows: list[JSON], args: Mapping[str, Any]) -> JSON:
    with_metadata = parse_flag(args.get("include_all_metadata"))
    return {"messages": [messages.build_public_message(m, with_metadata=with_metadata) for m in rows]}


def members(core: LocalSlackCore, args: JSON) -> JSON:
    """Handle conversations.members."""
    rows, cursor = paginate(find_visible_channel(core, args).members, args, default=100)
    return {"members": rows, **build_next_page(cursor)}


def join(core: LocalSlackCore, args: JSON) -> JSON:
    """Handle conversations.join: public channels only."""
    channel = find_visible_channel(core, args)
    if channel.type != "channel":
        raise SlackRefused("method_not_supported_for_channel_type")
    if core.workspace.has_bot(channel):
        shown = _build_channel(core, channel)
        return {"channel": shown, "warning": "already_in_channel"}
    core.add_member(channel, core.workspace.bot_user)
    return {"channel": _build_channel(core, channel)}


def open_direct(core: LocalSlackCore, args: JSON) -> JSON:
    """Handle conversations.open: direct messages with one user."""
    users = args.get("users") or ""
    names = users if isinstance(users, list) else [u for u in str(users).split(",") if u]
    if len(names) != 1:
        raise SlackRefused("users_list_not_supplied" if not names else "method_not_supported_for_channel_type")
    if names[0] not in core.workspace.users:
        raise SlackRefused("user_not_found")
    channel = core.workspace.open_direct(names[0])
    shown = _build_channel(core, channel) if parse_flag(args.get("return_im")) else {"id": channel.id}
    return {"channel": shown}


def _build_user(core: LocalSlackCore, user: LocalUser) -> JSON:
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


def user_info(core: LocalSlackCore, args: JSON) -> JSON:
    """Handle users.info."""
    user = core.workspace.users.get(read_required(args, "user"))
    if user is None:
        raise SlackRefused("user_not_found")
    return {"user": _build_user(core, user)}


def list_users(core: LocalSlackCore, args: JSON) -> JSON:
    """Handle users.list."""
    rows, cursor = paginate(list(core.workspace.users.values()), args, default=200)
    return {"members": [_build_user(core, u) for u in rows], "cache_ts": int(core.now()), **build_next_page(cursor)}


def bot_info(core: LocalSlackCore, args: JSON) -> JSON:
    """Handle bots.info."""
    app = core.workspace.apps.get(read_required(args, "bot"))
    if app is None:
        raise SlackRefused("bot_not_found")
    shown = {"id": app.bot_id, "app_id": app.app_id, "user_id": app.user_id, "name": app.name, "deleted": False}
    return {"bot": shown}


METHODS: dict[str, Callable[[LocalSlackCore, JSON], JSON]] = {
    "auth.test": auth_test,
    "team.info": team_info,
    "conversations.info": info,
    "conversations.list": list_channels,
    "conversations.history": history,
    "conversations.replies": replies,
    "conversations.members": members,
    "conversations.join": join,
    "conversations.open": open_direct,
    "users.conversations": list_joined_channels,
    "users.info": user_info,
    "users.list": list_users,
    "bots.info": bot_info,
}
