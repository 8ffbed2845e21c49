"""How Slack stores and returns messages: block ids, attachment ids, colors, threads.

Functions here change only the values that they are given; `core` decides who is notified.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from bot.playground.workspace.copies import copy_json
from bot.playground.workspace.state import JSON, LocalApp, LocalChannel, LocalUser, SlackRefused, Workspace

NAMED_COLOURS = {"good": "2eb886", "warning": "daa038", "danger": "a30200"}
NO_PREVIEW = "[no preview available]"
TEXT_LIMIT = 40_000
_TOKEN = re.compile(r"<([^<>]+)>|(https?://[^\s<>|]+)")
_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))


def build_stored_blocks(workspace: Workspace, blocks: Any) -> list[JSON]:
    """Return blocks as Slack stores them: every block has an id, every element an action id, text objects their
    defaults."""
    kept: list[JSON] = copy_json(list(blocks or ()))
    for block in kept:
        block.setdefault("block_id", workspace.new_id("b"))
        _fill(workspace, block)
    return kept


_INTERACTIVE = ("button", "overflow", "checkboxes", "radio_buttons", "datepicker", "timepicker", "datetimepicker")


def _fill(workspace: Workspace, node: Any) -> None:
    if isinstance(node, list):
        for item in node:
            _fill(workspace, item)
    elif isinstance(node, dict):
        kind = str(node.get("type", ""))
        if kind == "plain_text":
            node.setdefault("emoji", True)
        elif kind == "mrkdwn":
            node.setdefault("verbatim", False)
        elif kind in _INTERACTIVE or kind.endswith(("_select", "_input")):
            node.setdefault("action_id", workspace.new_id("a"))
        for value in node.values():
            _fill(workspace, value)


def build_stored_attachments(workspace: Workspace, attachments: Any) -> list[JSON]:
    """Return attachments as Slack delivers them: numbered, bare hex colors, numbered buttons, a fallback."""
    kept: list[JSON] = []
    for number, given in enumerate(attachments or (), start=1):
        attachment = copy_json(dict(given))
        attachment["id"] = number
        colour = str(attachment.get("color") or "").lower()
        if colour:
            attachment["color"] = NAMED_COLOURS.get(colour, colour.removeprefix("#"))
        if attachment.get("blocks"):
            attachment["blocks"] = build_stored_blocks(workspace, attachment["blocks"])
        for index, action in enumerate(attachment.get("actions") or (), start=1):
            action["id"] = str(index)
        attachment.setdefault("fallback", NO_PREVIEW)
        kept.append({key: value for key, value in attachment.items() if value not in ("", None, [])})
    return kept


def build_rich_text(workspace: Workspace, text: str) -> list[JSON]:
    """Build the rich_text block that Slack's client makes of typed text."""
    parts: list[JSON] = []
    at = 0
    for match in _TOKEN.finditer(text):
        if match.start() > at:
            parts.append({"type": "text", "text": _unescape(text[at : match.start()])})
        parts.append(_build_rich_part(match.group(1) or match.group(2)))
        at = match.end()
    if at < len(text):
        parts.append({"type": "text", "text": _unescape(text[at:])})
    section = {"type": "rich_text_section", "elements": parts}
    return [{"type": "rich_text", "block_id": workspace.new_id("b"), "elements": [section]}]


def _build_rich_part(token: str) -> JSON:
    target, _, label = token.partition("|")
    if target.startswith("@"):
        return {"type": "user", "user_id": target[1:]}
    if target.startswith("#"):
        return {"type": "channel", "channel_id": target[1:]}
    if target.startswith("!"):
        return {"type": "broadcast", "range": target[1:]}
    return {"type": "link", "url": _unescape(target), **({"text": _unescape(label)} if label else {})}


def _unescape(text: str) -> str:
    for entity, character in _ENTITIES:
        text = text.replace(entity, character)
    return text


def build_person_message(workspace: Workspace, user: LocalUser, text: str) -> JSON:
    """Build the fields of a message that a person typed."""
    fields: JSON = {"type": "message", "user": user.id, "text": text, "team": workspace.team_id}
    fields["client_msg_id"] = f"00000000-0000-4000-8000-{workspace.serial:012d}"
    if text:
        fields["blocks"] = build_rich_text(workspace, text)
    return fields


def build_app_message(workspace: Workspace, app: LocalApp, given: Mapping[str, Any]) -> JSON:
    """Build the fields of a message that an app posted with its bot token."""
    fields: JSON = {
        "type": "message",
        "user": app.user_id,
        "bot_id": app.bot_id,
        "app_id": app.app_id,
        "text": str(given.get("text") or "")[:TEXT_LIMIT],
        "team": workspace.team_id,
        "bot_profile": workspace.build_bot_profile(app),
    }
    _add_content(workspace, fields, given)
    if given.get("username"):
        fields.pop("user")
        fields |= {"subtype": "bot_message", "username": given["username"]}
    return fields


def build_webhook_message(workspace: Workspace, app: LocalApp, given: Mapping[str, Any]) -> JSON:
    """Build the fields of a message from an incoming webhook or a response_url: bot_message, no user."""
    fields: JSON = {
        "type": "message",
        "subtype": "bot_message",
        "bot_id": app.bot_id,
        "app_id": app.app_id,
        "text": str(given.get("text") or "")[:TEXT_LIMIT],
        "team": workspace.team_id,
        "username": str(given.get("username") or app.name),
        "bot_profile": workspace.build_bot_profile(app),
    }
    if emoji := given.get("icon_emoji"):
        fields["icons"] = {"emoji": emoji}
    elif image := given.get("icon_url"):
        fields["icons"] = {"image_48": image}
    _add_content(workspace, fields, given)
    return fields


def _add_content(workspace: Workspace, fields: JSON, given: Mapping[str, Any]) -> None:
    if given.get("blocks"):
        fields["blocks"] = build_stored_blocks(workspace, given["blocks"])
    if given.get("attachments"):
        fields["attachments"] = build_stored_attachments(workspace, given["attachments"])
    if given.get("metadata"):
        fields["metadata"] = copy_json(given["metadata"])
    if given.get("files"):
        fields |= {"subtype": "file_share", "files": copy_json(given["files"]), "upload": False}


def add(
    workspace: Workspace,
    channel: LocalChannel,
    fields: Mapping[str, Any],
    now: float,
    *,
    thread_ts: str | None = None,
    broadcast: bool = False,
) -> JSON:
    """Add a message to a channel with a fresh ts and return it as stored. Raises SlackRefused thread_not_found."""
    message = dict(fields)
    message["ts"] = ts = workspace.new_ts(now)
    if thread_ts:
        root = channel.messages.get(thread_ts)
        if root is None:
            raise SlackRefused("thread_not_found")
        root_ts = root.get("thread_ts", root["ts"])
        if root_ts != thread_ts:
            raise SlackRefused("cannot_reply_to_message")
        message["thread_ts"] = root_ts
        if "user" in root:
            message["parent_user_id"] = root["user"]
        if broadcast:
            message |= {"subtype": "thread_broadcast", "root": dict(root)}
        _count_reply(root, message)
    channel.messages[ts] = message
    return message


def _count_reply(root: JSON, reply: JSON) -> None:
    who = reply.get("user") or reply.get("bot_id")
    root["thread_ts"] = root["ts"]
    root["reply_count"] = root.get("reply_count", 0) + 1
    root["latest_reply"] = reply["ts"]
    users = [*root.get("reply_users", ())]
    if who not in users:
        users.append(who)
    root |= {"reply_users": users, "reply_users_count": len(users), "is_locked": False, "subscribed": False}


def edit(workspace: Workspace, message: JSON, changes: Mapping[str, Any], *, editor: str | None, now: float) -> JSON:
    """Change a message in place as chat.update does, and return it as it was before.

    Text without blocks removes the blocks; attachments and metadata stay unless new ones are given. Without an `editor`
    there is no `edited` mark.
    """
    before = copy_json(message)
    if "text" in changes:
        message["text"] = str(changes["text"] or "")[:TEXT_LIMIT]
        if "blocks" not in changes:
            message.pop("blocks", None)
    for key, stored in (("blocks", build_stored_blocks), ("attachments", build_stored_attachments)):
        if key in changes:
            message[key] = stored(workspace, changes[key])
            if not message[key]:
                del message[key]
    if changes.get("metadata"):
        message["metadata"] = copy_json(changes["metadata"])
    if editor:
        message["edited"] = {"user": editor, "ts": workspace.new_ts(now)}
    return before


def delete(channel: LocalChannel, ts: str) -> JSON:
    """Delete a message and return it as it was. A root with replies leaves a tombstone, as in Slack."""
    message = channel.messages[ts]
    before = copy_json(message)
    if message.get("reply_count"):
        kept = {k: v for k, v in message.items() if k in _TOMBSTONE_KEEPS}
        channel.messages[ts] = {
            **kept,
            "subtype": "tombstone",
            "user": "USLACKBOT",
            "text": "This message was deleted.",
            "hidden": True,
        }
        return before
    del channel.messages[ts]
    root = channel.messages.get(message.get("thread_ts", ""))
    if root is not None:
        _uncount_reply(channel, root)
    return before


_TOMBSTONE_KEEPS = ("type", "ts", "thread_ts", "reply_count", "reply_users", "reply_users_count", "latest_reply")


def _uncount_reply(channel: LocalChannel, root: JSON) -> None:
    replies = [m for m in channel.messages.values() if m.get("thread_ts") == root["ts"] and m["ts"] != root["ts"]]
    if not replies:
        for key in ("thread_ts", "reply_count", "reply_users", "reply_users_count", "latest_reply", "is_locked"):
            root.pop(key, None)
        return
    users = list(dict.fromkeys(m.get("user") or m.get("bot_id") for m in replies))
    root |= {"reply_count": len(replies), "latest_reply": replies[-1]["ts"], "reply_users": users}
    root["reply_users_count"] = len(users)


def react(message: JSON, user_id: str, name: str) -> None:
    """Add a reaction. Raises SlackRefused already_reacted."""
    reactions: list[JSON] = message.setdefault("reactions", [])
    entry = next((r for r in reactions if r["name"] == name), None)
    if entry is None:
        entry = {"name": name, "users": [], "count": 0}
        reactions.append(entry)
    if user_id in entry["users"]:
        raise SlackRefused("already_reacted")
    entry["users"].append(user_id)
    entry["count"] = len(entry["users"])


def unreact(message: JSON, user_id: str, name: str) -> None:
    """Remove a reaction. Raises SlackRefused no_reaction."""
    reactions: list[JSON] = message.get("reactions", [])
    entry = next((r for r in reactions if r["name"] == name and user_id in r["users"]), None)
    if entry is None:
        raise SlackRefused("no_reaction")
    entry["users"].remove(user_id)
    entry["count"] = len(entry["users"])
    message["reactions"] = [r for r in reactions if r["count"]]
    if not message["reactions"]:
        del message["reactions"]


def build_public_message(message: Mapping[str, Any], *, with_metadata: bool = False) -> JSON:
    """Return a message as the Web API does; its metadata only on request."""
    return {k: copy_json(v) for k, v in message.items() if with_metadata or k != "metadata"}
