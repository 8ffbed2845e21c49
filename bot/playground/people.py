"""What people, tools and the workspace do in channels, as methods for tests and the page.

Channels are given by id or #name, users by id or name. Refusals raise SlackRefused with Slack's error code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.playground.core import IncomingWebhook, LocalSlackCore
from bot.playground.delivery import events
from bot.playground.workspace import messages
from bot.playground.workspace.copies import copy_json
from bot.playground.workspace.state import JSON, LocalChannel, LocalUser, SlackRefused

# Fields of a given event that the workspace decides anew when the event is posted here.
_OWN_FIELDS = ("ts", "event_ts", "channel", "channel_type", "type", "team", "thread_ts", "parent_user_id")
_NO_POSTS = ("message_changed", "message_deleted", "message_replied")


class PeopleActions:
    """Act in channels, and read what they show."""

    core: LocalSlackCore

    def _user(self, name: str | None) -> LocalUser:
        users = self.core.workspace.users
        return self.core.workspace.user(name) if name else next(u for u in users.values() if not u.is_bot)

    def _channel(self, name: str) -> LocalChannel:
        return self.core.workspace.channel(name)

    async def post(
        self, channel: str, text: str, *, user: str | None = None, thread_ts: str | None = None, broadcast: bool = False
    ) -> JSON:
        """Post as a person (the first one by default) and return the stored message."""
        where, person = self._channel(channel), self._user(user)
        if person.id not in where.members:
            raise SlackRefused("not_in_channel")
        fields = messages.build_person_message(self.core.workspace, person, text)
        return copy_json(self.core.add_message(where, fields, thread_ts=thread_ts, broadcast=broadcast))

    async def post_as_app(
        self, channel: str, payload: Mapping[str, Any], *, app: str = "Monitor", thread_ts: str | None = None
    ) -> JSON:
        """Post as another app with its bot token (`user`, `bot_id`, `app_id`, `bot_profile`) and return the stored
        message."""
        author = self.core.workspace.find_app(app)
        fields = messages.build_app_message(self.core.workspace, author, payload)
        return copy_json(self.core.add_message(self._channel(channel), fields, thread_ts=thread_ts))

    async def post_alert(self, channel: str, payload: Mapping[str, Any], *, thread_ts: str | None = None) -> JSON:
        """Post as a monitoring tool's incoming webhook (`subtype: bot_message`, no user) and return the stored message."""
        author = self.core.workspace.find_app(str(payload.get("username") or "incoming-webhook"))
        fields = messages.build_webhook_message(self.core.workspace, author, payload)
        return copy_json(self.core.add_message(self._channel(channel), fields, thread_ts=thread_ts))

    async def deliver_message(self, channel: str, event: Mapping[str, Any], *, thread_ts: str | None = None) -> JSON:
        """Post a recorded Slack message event, unchanged but for a fresh ts and this channel.

        Edits and deletions are not posts: use `edit_raw` and `delete` for them.
        """
        if event.get("subtype") in _NO_POSTS:
            raise SlackRefused("not_a_post", subtype=event["subtype"])
        fields = {k: copy_json(v) for k, v in event.items() if k not in _OWN_FIELDS}
        fields |= {"type": "message", "team": self.core.workspace.team_id}
        where = self._channel(channel)
        return copy_json(self.core.add_message(where, fields, thread_ts=thread_ts))

    async def edit(self, channel: str, ts: str, **changes: Any) -> JSON:
        """Edit `text`, `blocks`, `attachments` or `metadata` of a message as its author, and return the message."""
        where = self._channel(channel)
        message = self.core.workspace.message(where, ts)
        editor = message.get("user")
        if "text" in changes and "blocks" not in changes and message.get("client_msg_id"):
            changes["blocks"] = messages.build_rich_text(self.core.workspace, changes["text"])
        return copy_json(self.core.edit_message(where, ts, changes, editor))

    async def edit_raw(self, channel: str, ts: str, fields: Mapping[str, Any]) -> JSON:
        """Set recorded fields on a message, send message_changed, and return the message."""
        where = self._channel(channel)
        message = self.core.workspace.message(where, ts)
        before = copy_json(message)
        message.update({k: copy_json(v) for k, v in fields.items() if k not in _OWN_FIELDS})
        event_ts = self.core.workspace.new_ts(self.core.now())
        self.core.emit(events.build_changed(where, message, before, event_ts), where)
        return copy_json(message)

    async def unfurl(self, channel: str, ts: str) -> None:
        """Send the message_changed that Slack sends without any change, as when a link unfurls."""
        await self.edit_raw(channel, ts, {})

    async def delete(self, channel: str, ts: str) -> None:
        """Delete a message of any author."""
        self.core.delete_message(self._channel(channel), ts)

    async def react(self, channel: str, ts: str, name: str, *, user: str | None = None) -> None:
        """Add a reaction."""
        self.core.change_reaction(self._channel(channel), ts, self._user(user).id, name)

    async def unreact(self, channel: str, ts: str, name: str, *, user: str | None = None) -> None:
        """Remove a reaction."""
        self.core.change_reaction(self._channel(channel), ts, self._user(user).id, name, add=False)

    async def invite(self, channel: str, user: str | None = None, *, inviter: str | None = None) -> None:
        """Add the bot (or a user) to a channel and send member_joined_channel."""
        who = self.core.workspace.user(user).id if user else self.core.workspace.bot_user
        self.core.add_member(self._channel(channel), who, self._user(inviter).id)

    async def leave(self, channel: str, user: str | None = None) -> None:
        """Remove the bot (or a user) from a channel."""
        who = self.core.workspace.user(user).id if user else self.core.workspace.bot_user
        self._channel(channel).members.remove(who)
        self.core.notify_waiters()

    async def add_channel(self, name: str, **facts: Any) -> str:
        """Create a channel and return its id. Options: `is_private`, `is_ext_shared`, `members` (ids or names), `bot`
        (is a member)."""
        channel_id = self.core.workspace.new_id("C")
        self.core.workspace.add_channel(channel_id, name.removeprefix("#"), **facts)
        self.core.notify_waiters()
        return channel_id

    async def add_user(self, name: str, *, is_guest: bool = False, is_admin: bool = False) -> str:
        """Create a person who is not in any channel yet, and return the user id."""
        user = LocalUser(self.core.workspace.new_id("U"), name, name.title(), is_guest=is_guest, is_admin=is_admin)
        self.core.workspace.users[user.id] = user
        self.core.notify_waiters()
        return user.id

    async def archive(self, channel: str) -> None:
        """Archive a channel."""
        self._channel(channel).is_archived = True
        self.core.notify_waiters()

    async def webhook_url(self, channel: str, name: str = "incoming-webhook") -> str:
        """Return the address of an incoming webhook that posts to this channel under this name."""
        hook_id, secret = self.core.workspace.new_id("B"), f"secret{self.core.workspace.serial}"
        app = self.core.workspace.find_app(name)
        self.core.webhooks[hook_id] = IncomingWebhook(secret, self._channel(channel).id, app)
        return f"{self.core.url}/services/{self.core.workspace.team_id}/{hook_id}/{secret}"

    async def uninstall(self) -> None:
        """Remove the app: revoke its tokens and send it the events that Slack sends."""
        self.core.knobs.revoked = True
        self.core.emit({"type": "tokens_revoked", "tokens": {"bot": [self.core.workspace.bot_user]}})
        self.core.emit({"type": "app_uninstalled"})

    def messages(self, channel: str) -> list[JSON]:
        """Return all messages of a channel with their metadata, threads included, oldest first."""
        return copy_json(list(self._channel(channel).messages.values()))

    def timeline(self, channel: str) -> list[JSON]:
        """Return what the channel shows outside its threads, oldest first."""
        return copy_json(self.core.workspace.timeline(self._channel(channel)))

    def message(self, channel: str, ts: str) -> JSON:
        """Return one message. Raises SlackRefused message_not_found."""
        return copy_json(self.core.workspace.message(self._channel(channel), ts))

    def thread(self, channel: str, ts: str) -> list[JSON]:
        """Return a root and its replies, oldest first. Raises SlackRefused thread_not_found."""
        return copy_json(self.core.workspace.thread(self._channel(channel), ts))

    def replies(self, channel: str, ts: str) -> list[JSON]:
        """Return the bot's replies in a thread, oldest first; none if there is no such thread."""
        bot_id = self.core.workspace.bot.bot_id
        found = self._channel(channel).messages.values()
        mine = [m for m in found if m.get("thread_ts") == ts and m["ts"] != ts and m.get("bot_id") == bot_id]
        return copy_json(mine)

    def ephemerals(self, user: str | None = None, channel: str | None = None) -> list[JSON]:
        """Return the messages that only one user sees, oldest first; `to` is that user."""
        who = self.core.workspace.user(user).id if user else None
        where = self._channel(channel).id if channel else None
        shown = self.core.workspace.ephemerals
        return copy_json([m for m in shown if who in (None, m["to"]) and where in (None, m["channel"])])

    def dm(self, user: str | None = None) -> str:
        """Return the id of the direct message channel of a user and the bot."""
        return self.core.workspace.open_direct(self._user(user).id).id
