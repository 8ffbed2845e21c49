"""What people, tools and the workspace do in channels, as methods for tests and the page. Must not serve HTTP.

Channels are named by id or #name, users by id or name. Refusals are SlackRefused with Slack's error word.
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
    """Acts in channels, and what can be seen there."""

    core: LocalSlackCore

    def _user(self, name: str | None) -> LocalUser:
        users = self.core.workspace.users
        return self.core.workspace.user(name) if name else next(u for u in users.values() if not u.is_bot)

    def _channel(self, name: str) -> LocalChannel:
        return self.core.workspace.channel(name)

    async def post(
        self, channel: str, text: str, *, user: str | None = None, thread_ts: str | None = None, broadcast: bool = False
    ) -> JSON:
        """Post as a person (the first one if none is named); the stored message."""
        where, person = self._channel(channel), self._user(user)
        if person.id not in where.members:
            raise SlackRefused("not_in_channel")
        fields = messages.build_person_message(self.core.workspace, person, text)
        return copy_json(self.core.add_message(where, fields, thread_ts=thread_ts, broadcast=broadcast))

    async def post_as_app(
        self, channel: str, payload: Mapping[str, Any], *, app: str = "Monitor", thread_ts: str | None = None
    ) -> JSON:
        """Post as another app with its bot token: `user`, `bot_id`, `app_id`, `bot_profile`; the stored message."""
        author = self.core.workspace.find_app(app)
        fields = messages.build_app_message(self.core.workspace, author, payload)
        return copy_json(self.core.add_message(self._channel(channel), fields, thread_ts=thread_ts))

    async def post_alert(self, channel: str, payload: Mapping[str, Any], *, thread_ts: str | None = None) -> JSON:
        """Post as a monitoring tool's incoming webhook: `subtype: bot_message`, no user; the stored message."""
        author = self.core.workspace.find_app(str(payload.get("username") or "incoming-webhook"))
        fields = messages.build_webhook_message(self.core.workspace, author, payload)
        return copy_json(self.core.add_message(self._channel(channel), fields, thread_ts=thread_ts))

    async def deliver_message(self, channel: str, event: Mapping[str, Any], *, thread_ts: str | None = None) -> JSON:
        """Post a recorded Slack message event with a fresh ts and this channel; all else as it was recorded.

        Edits and deletions are no posts: use `edit_raw` and `delete` for them.
        """
        if event.get("subtype") in _NO_POSTS:
            raise SlackRefused("not_a_post", subtype=event["subtype"])
        fields = {k: copy_json(v) for k, v in event.items() if k not in _OWN_FIELDS}
        fields |= {"type": "message", "team": self.core.workspace.team_id}
        where = self._channel(channel)
        return copy_json(self.core.add_message(where, fields, thread_ts=thread_ts))

    async def edit(self, channel: str, ts: str, **changes: Any) -> JSON:
        """Edit a message as its author: `text`, `blocks`, `attachments`, `metadata`; the message."""
        where = self._channel(channel)
        message = self.core.workspace.message(where, ts)
        editor = message.get("user")
        if "text" in changes and "blocks" not in changes and message.get("client_msg_id"):
            changes["blocks"] = messages.build_rich_text(self.core.workspace, changes["text"])
        return copy_json(self.core.edit_message(where, ts, changes, editor))

    async def edit_raw(self, channel: str, ts: str, fields: Mapping[str, Any]) -> JSON:
        """Set recorded fields on a message and send message_changed; the message."""
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
        """Delete a message, whoever posted it."""
        self.core.delete_message(self._channel(channel), ts)

    async def react(self, channel: str, ts: str, name: str, *, user: str | None = None) -> None:
        """Add a reaction."""
        self.core.change_reaction(self._channel(channel), ts, self._user(user).id, name)

    async def unreact(self, channel: str, ts: str, name: str, *, user: str | None = None) -> None:
        """Take a reaction away."""
        self.core.change_reaction(self._channel(channel), ts, self._user(user).id, name, add=False)

    async def invite(self, channel: str, user: str | None = None, *, inviter: str | None = None) -> None:
        """Let the bot (or a user) into a channel; member_joined_channel is sent."""
        who = self.core.workspace.user(user).id if user else self.core.workspace.bot_user
        self.core.add_member(self._channel(channel), who, self._user(inviter).id)

    async def leave(self, channel: str, user: str | None = None) -> None:
        """Take the bot (or a user) out of a channel."""
        who = self.core.workspace.user(user).id if user else self.core.workspace.bot_user
        self._channel(channel).members.remove(who)
        self.core.notify_waiters()

    async def add_channel(self, name: str, **facts: Any) -> str:
        """A new channel: `is_private`, `is_ext_shared`, `members` (ids or names), `bot` (is it in?); its id."""
        channel_id = self.core.workspace.new_id("C")
        self.core.workspace.add_channel(channel_id, name.removeprefix("#"), **facts)
        self.core.notify_waiters()
        return channel_id

    async def add_user(self, name: str, *, is_guest: bool = False, is_admin: bool = False) -> str:
        """A new person who is in no channel yet; the user id."""
        user = LocalUser(self.core.workspace.new_id("U"), name, name.title(), is_guest=is_guest, is_admin=is_admin)
        self.core.workspace.users[user.id] = user
        self.core.notify_waiters()
        return user.id

    async def archive(self, channel: str) -> None:
        """Archive a channel."""
        self._channel(channel).is_archived = True
        self.core.notify_waiters()

    async def webhook_url(self, channel: str, name: str = "incoming-webhook") -> str:
        """The address of an incoming webhook that posts to this channel under this name."""
        hook_id, secret = self.core.workspace.new_id("B"), f"secret{self.core.workspace.serial}"
        app = self.core.workspace.find_app(name)
        self.core.webhooks[hook_id] = IncomingWebhook(secret, self._channel(channel).id, app)
        return f"{self.core.url}/services/{self.core.workspace.team_id}/{hook_id}/{secret}"

    async def uninstall(self) -> None:
        """Remove the app: tokens are revoked, and the app is told, as Slack does."""
        self.core.knobs.revoked = True
        self.core.emit({"type": "tokens_revoked", "tokens": {"bot": [self.core.workspace.bot_user]}})
        self.core.emit({"type": "app_uninstalled"})

    def messages(self, channel: str) -> list[JSON]:
        """All messages of a channel, threads included, oldest first, with their metadata."""
        return copy_json(list(self._channel(channel).messages.values()))

    def timeline(self, channel: str) -> list[JSON]:
        """What the channel shows outside its threads, oldest first."""
        return copy_json(self.core.workspace.timeline(self._channel(channel)))

    def message(self, channel: str, ts: str) -> JSON:
        """One message. Raises SlackRefused message_not_found."""
        return copy_json(self.core.workspace.message(self._channel(channel), ts))

    def thread(self, channel: str, ts: str) -> list[JSON]:
        """A root and its replies, oldest first. Raises SlackRefused thread_not_found."""
        return copy_json(self.core.workspace.thread(self._channel(channel), ts))

    def replies(self, channel: str, ts: str) -> list[JSON]:
        """The bot's replies in a thread, oldest first; none where there is no such thread."""
        bot_id = self.core.workspace.bot.bot_id
        found = self._channel(channel).messages.values()
        mine = [m for m in found if m.get("thread_ts") == ts and m["ts"] != ts and m.get("bot_id") == bot_id]
        return copy_json(mine)

    def ephemerals(self, user: str | None = None, channel: str | None = None) -> list[JSON]:
        """The messages that only one user sees, oldest first; `to` says who."""
        who = self.core.workspace.user(user).id if user else None
        where = self._channel(channel).id if channel else None
        shown = self.core.workspace.ephemerals
        return copy_json([m for m in shown if who in (None, m["to"]) and where in (None, m["channel"])])

    def dm(self, user: str | None = None) -> str:
        """The id of the direct message channel of a user and the bot."""
        return self.core.workspace.open_direct(self._user(user).id).id
