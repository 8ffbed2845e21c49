"""Methods of chat.* and reactions.*; arguments arrive parsed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bot.playground.blocks.validate import Problem, validate_message
from bot.playground.core import LocalSlackCore
from bot.playground.web_api.arguments import find_joined_channel, find_visible_channel, parse_flag, read_required
from bot.playground.workspace import messages
from bot.playground.workspace.state import JSON, LocalChannel, SlackRefused

_CONTENT = ("text", "blocks", "attachments", "metadata", "username", "icon_emoji", "icon_url")


def check_message(core: LocalSlackCore, args: Mapping[str, Any], *, content_needed: bool = True) -> None:
    """Refuse what Slack refuses. Raises SlackRefused no_text, invalid_blocks, msg_blocks_too_long."""
    if content_needed and not any(args.get(k) for k in ("text", "blocks", "attachments")):
        raise SlackRefused("no_text")
    problems = validate_message(args) if core.knobs.validate else []
    if problems:
        raise build_refusal(problems)


def build_refusal(problems: list[Problem]) -> SlackRefused:
    """Build the response to a payload with problems: the error code of the first, and all of them as Slack lists them."""
    errors = [f"{p.message} [json-pointer:{p.pointer}]" for p in problems]
    metadata = {"messages": [f"[ERROR] {e}" for e in errors]}
    return SlackRefused(problems[0].error, errors=errors, response_metadata=metadata)


def _find_target(core: LocalSlackCore, args: Mapping[str, Any]) -> LocalChannel:
    """Return the channel to post to, by id or name; a user stands for the direct messages with the bot."""
    wanted = read_required(args, "channel")
    if wanted in core.workspace.users:
        return core.workspace.open_direct(wanted)
    channel = core.workspace.channel(wanted)
    if not core.workspace.has_bot(channel):
        if channel.is_private or channel.is_im:
            raise SlackRefused("channel_not_found")
        if "chat:write.public" not in core.installed.scopes:
            raise SlackRefused("not_in_channel")
    return channel


def _enforce_pace(core: LocalSlackCore, channel: LocalChannel) -> None:
    now = core.now()
    if core.knobs.channel_rate_limit and now - core.last_post_at.get(channel.id, -1.0) < 1.0:
        raise SlackRefused("ratelimited")
    core.last_post_at[channel.id] = now


def _build_warning(args: Mapping[str, Any]) -> JSON:
    if len(str(args.get("text") or "")) <= messages.TEXT_LIMIT:
        return {}
    return {"warning": "message_truncated", "response_metadata": {"warnings": ["message_truncated"]}}


def post_message(core: LocalSlackCore, args: JSON) -> JSON:
    """Handle chat.postMessage."""
    channel = _find_target(core, args)
    check_message(core, args)
    _enforce_pace(core, channel)
    fields = messages.build_app_message(core.workspace, core.workspace.bot, _copy_content(args))
    stored = core.add_message(
        channel, fields, thread_ts=str(args.get("thread_ts") or ""), broadcast=parse_flag(args.get("reply_broadcast"))
    )
    message = messages.build_public_message(stored, with_metadata=True)
    return {"channel": channel.id, "ts": stored["ts"], "message": message, **_build_warning(args)}


def _copy_content(args: Mapping[str, Any]) -> JSON:
    return {k: args[k] for k in _CONTENT if k in args}


def update(core: LocalSlackCore, args: JSON) -> JSON:
    """Handle chat.update: only the bot's own messages."""
    channel = find_visible_channel(core, args)
    message = _find_own_message(core, channel, read_required(args, "ts"), "cant_update_message")
    check_message(core, args)
    editor = None if args.get("blocks") else core.workspace.bot_user
    core.edit_message(channel, message["ts"], _copy_content(args), editor)
    shown = messages.build_public_message(message, with_metadata=True)
    return {"channel": channel.id, "ts": message["ts"], "text": message.get("text", ""), "message": shown}


def delete(core: LocalSlackCore, args: JSON) -> JSON:
    """Handle chat.delete: only the bot's own messages."""
    channel = find_visible_channel(core, args)
    message = _find_own_message(core, channel, read_required(args, "ts"), "cant_delete_message")
    core.delete_message(channel, message["ts"])
    return {"channel": channel.id, "ts": message["ts"]}


def _find_own_message(core: LocalSlackCore, channel: LocalChannel, ts: str, error: str) -> JSON:
    message = core.workspace.message(channel, ts)
    if message.get("bot_id") != core.workspace.bot.bot_id:
        raise SlackRefused(error)
    return message


def post_ephemeral(core: LocalSlackCore, args: JSON) -> JSON:
    """Handle chat.postEphemeral: to a member of a channel that the bot is in."""
    channel = _find_target(core, args)
    user = read_required(args, "user")
    if user not in channel.members:
        raise SlackRefused("user_not_in_channel")
    check_message(core, args)
    content = {**_copy_content(args), "thread_ts": args.get("thread_ts")}
    return {"message_ts": core.add_ephemeral(channel, user, content)["ts"]}


def get_permalink(core: LocalSlackCore, args: JSON) -> JSON:
    """Handle chat.getPermalink."""
    channel = find_visible_channel(core, args)
    message = core.workspace.message(channel, read_required(args, "message_ts"))
    return {"channel": channel.id, "permalink": core.permalink(channel, message)}


def add_reaction(core: LocalSlackCore, args: JSON) -> JSON:
    """Handle reactions.add."""
    return _react(core, args, add=True)


def remove_reaction(core: LocalSlackCore, args: JSON) -> JSON:
    """Handle reactions.remove."""
    return _react(core, args, add=False)


def _react(core: LocalSlackCore, args: JSON, *, add: bool) -> JSON:
    channel = find_joined_channel(core, args)
    name = read_required(args, "name").strip(":")
    if not name.replace("_", "").replace("-", "").replace("+", "").replace(":", "").isalnum():
        raise SlackRefused("invalid_name")
    core.change_reaction(channel, read_required(args, "timestamp"), core.workspace.bot_user, name, add=add)
    return {}


METHODS: dict[str, Callable[[LocalSlackCore, JSON], JSON]] = {
    "chat.postMessage": post_message,
    "chat.update": update,
    "chat.delete": delete,
    "chat.postEphemeral": post_ephemeral,
    "chat.getPermalink": get_permalink,
    "reactions.add": add_reaction,
    "reactions.remove": remove_reaction,
}
