"""chat.* and reactions.* of the Web API. Must not read requests: arguments come parsed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bot.playground.blocks.validate import Problem, validate_message
from bot.playground.core import Core
from bot.playground.web_api.arguments import flag, joined_channel, required, visible_channel
from bot.playground.workspace import messages
from bot.playground.workspace.state import JSON, Channel, SlackRefused

_CONTENT = ("text", "blocks", "attachments", "metadata", "username", "icon_emoji", "icon_url")


def check_message(core: Core, args: Mapping[str, Any], *, content_needed: bool = True) -> None:
    """Refuse what Slack refuses. Raises SlackRefused no_text, invalid_blocks, msg_blocks_too_long."""
    if content_needed and not any(args.get(k) for k in ("text", "blocks", "attachments")):
        raise SlackRefused("no_text")
    problems = validate_message(args) if core.knobs.validate else []
    if problems:
        raise refusal(problems)


def refusal(problems: list[Problem]) -> SlackRefused:
    """The answer to a payload with problems: the first one's error word, all of them as Slack lists them."""
    errors = [f"{p.message} [json-pointer:{p.pointer}]" for p in problems]
    metadata = {"messages": [f"[ERROR] {e}" for e in errors]}
    return SlackRefused(problems[0].error, errors=errors, response_metadata=metadata)


def _target(core: Core, args: Mapping[str, Any]) -> Channel:
    """Where to post: a channel by id or name, or a user, who means the direct messages with the bot."""
    wanted = required(args, "channel")
    if wanted in core.workspace.users:
        return core.workspace.direct(wanted)
    channel = core.workspace.channel(wanted)
    if not core.workspace.bot_is_in(channel):
        if channel.is_private or channel.is_im:
            raise SlackRefused("channel_not_found")
        if "chat:write.public" not in core.installed.scopes:
            raise SlackRefused("not_in_channel")
    return channel


def _pace(core: Core, channel: Channel) -> None:
    now = core.now()
    if core.knobs.channel_rate_limit and now - core.last_post_at.get(channel.id, -1.0) < 1.0:
        raise SlackRefused("ratelimited")
    core.last_post_at[channel.id] = now


def _warned(args: Mapping[str, Any]) -> JSON:
    if len(str(args.get("text") or "")) <= messages.TEXT_LIMIT:
        return {}
    return {"warning": "message_truncated", "response_metadata": {"warnings": ["message_truncated"]}}


def post_message(core: Core, args: JSON) -> JSON:
    """chat.postMessage."""
    channel = _target(core, args)
    check_message(core, args)
    _pace(core, channel)
    fields = messages.by_app(core.workspace, core.workspace.bot, _content(args))
    stored = core.add_message(
        channel, fields, thread_ts=str(args.get("thread_ts") or ""), broadcast=flag(args.get("reply_broadcast"))
    )
    message = messages.public(stored, with_metadata=True)
    return {"channel": channel.id, "ts": stored["ts"], "message": message, **_warned(args)}


def _content(args: Mapping[str, Any]) -> JSON:
    return {k: args[k] for k in _CONTENT if k in args}


def update(core: Core, args: JSON) -> JSON:
    """chat.update: only the bot's own messages."""
    channel = visible_channel(core, args)
    message = _own(core, channel, required(args, "ts"), "cant_update_message")
    check_message(core, args)
    editor = None if args.get("blocks") else core.workspace.bot_user
    core.edit_message(channel, message["ts"], _content(args), editor)
    shown = messages.public(message, with_metadata=True)
    return {"channel": channel.id, "ts": message["ts"], "text": message.get("text", ""), "message": shown}


def delete(core: Core, args: JSON) -> JSON:
    """chat.delete: only the bot's own messages."""
    channel = visible_channel(core, args)
    message = _own(core, channel, required(args, "ts"), "cant_delete_message")
    core.delete_message(channel, message["ts"])
    return {"channel": channel.id, "ts": message["ts"]}


def _own(core: Core, channel: Channel, ts: str, error: str) -> JSON:
    message = core.workspace.message(channel, ts)
    if message.get("bot_id") != core.workspace.bot.bot_id:
        raise SlackRefused(error)
    return message


def post_ephemeral(core: Core, args: JSON) -> JSON:
    """chat.postEphemeral: to a member of a channel that the bot is in."""
    channel = _target(core, args)
    user = required(args, "user")
    if user not in channel.members:
        raise SlackRefused("user_not_in_channel")
    check_message(core, args)
    content = {**_content(args), "thread_ts": args.get("thread_ts")}
    return {"message_ts": core.add_ephemeral(channel, user, content)["ts"]}


def get_permalink(core: Core, args: JSON) -> JSON:
    """chat.getPermalink."""
    channel = visible_channel(core, args)
    message = core.workspace.message(channel, required(args, "message_ts"))
    return {"channel": channel.id, "permalink": core.permalink(channel, message)}


def add_reaction(core: Core, args: JSON) -> JSON:
    """reactions.add."""
    return _react(core, args, add=True)


def remove_reaction(core: Core, args: JSON) -> JSON:
    """reactions.remove."""
    return _react(core, args, add=False)


def _react(core: Core, args: JSON, *, add: bool) -> JSON:
    channel = joined_channel(core, args)
    name = required(args, "name").strip(":")
    if not name.replace("_", "").replace("-", "").replace("+", "").replace(":", "").isalnum():
        raise SlackRefused("invalid_name")
    core.change_reaction(channel, required(args, "timestamp"), core.workspace.bot_user, name, add=add)
    return {}


METHODS: dict[str, Callable[[Core, JSON], JSON]] = {
    "chat.postMessage": post_message,
    "chat.update": update,
    "chat.delete": delete,
    "chat.postEphemeral": post_ephemeral,
    "chat.getPermalink": get_permalink,
    "reactions.add": add_reaction,
    "reactions.remove": remove_reaction,
}
