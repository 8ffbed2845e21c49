"""What people do with buttons, modals, shortcuts, slash commands and the Home tab.

Each method waits for the app's acknowledgment. Refusals raise SlackRefused with Slack's error code.
"""

from __future__ import annotations

from typing import Any

from bot.playground.blocks import elements
from bot.playground.delivery import events, payloads
from bot.playground.delivery.courier import INTERACTIVE, SLASH
from bot.playground.modals import InteractionResult, ModalActions
from bot.playground.workspace import messages
from bot.playground.workspace.copies import copy_json
from bot.playground.workspace.state import JSON, LocalChannel, SlackRefused, iterate_blocks

INVITE = "/invite"
INVITE_REFUSED = {
    "user_not_found": "There is no one called {} here: /invite @Precedent invites the bot.",
    "already_in_channel": "{} is in this channel already.",
}


class Interactions(ModalActions):
    """Buttons, shortcuts, slash commands, and the Home tab; modals by inheritance."""

    async def click(
        self,
        channel: str,
        ts: str,
        action_id: str,
        *,
        user: str | None = None,
        choice: Any = None,
        block_id: str | None = None,
    ) -> InteractionResult:
        """Press a button of a message or choose in a menu: `choice` is the option's value, or a list of values."""
        where = self._channel(channel)
        message = self._read_visible_message(where, ts)
        found = elements.find_element(iterate_blocks(message), action_id, block_id)
        common = self._build_context(user)
        kept = self.core.read_input_state(where.id, ts)
        self._enter(found, choice, kept)
        values = elements.build_state_values(iterate_blocks(message), kept)
        action = elements.build_action(found, choice, self.core.workspace.new_ts(self.core.now()))
        url = self._build_response_url(common, where, message)
        return await self._send(
            common, INTERACTIVE, payloads.build_message_action(common, where, message, action, values, url)
        )

    def _read_visible_message(self, channel: LocalChannel, ts: str) -> JSON:
        for message in self.core.workspace.ephemerals:
            if message["ts"] == ts and message["channel"] == channel.id:
                return message
        return self.core.workspace.message(channel, ts)

    async def slash(
        self, channel: str, command: str, text: str = "", *, user: str | None = None, thread_ts: str | None = None
    ) -> InteractionResult:
        """Type a slash command. In a thread Slack refuses it without asking the app."""
        name = f"/{command.removeprefix('/')}"
        where = self._channel(channel)
        if name == INVITE:
            return await self._invite(where, text, user)
        known = [c["command"] for c in self.core.installed.commands]
        if known and name not in known:
            return InteractionResult(acked=False, sent=False, notice=f"{name} is not a valid command.")
        if thread_ts:
            return InteractionResult(acked=False, sent=False, notice=f"{name} is not supported in threads. Sorry!")
        common = self._build_context(user)
        payload = payloads.build_slash_command(common, where, name, text, self._build_response_url(common, where))
        outcome = await self._send(common, SLASH, payload)
        self._show_answer(where, common.user.id, outcome.response)
        if outcome.acked:
            return outcome
        notice = f"{name} failed with the error “operation_timeout”"
        return InteractionResult(acked=False, notice=notice, trigger_id=common.trigger_id)

    async def _invite(self, channel: LocalChannel, whom: str, by: str | None) -> InteractionResult:
        """Carry out Slack's own /invite: the app receives nothing but that somebody joined."""
        try:
            await self.invite(channel.id, self.core.workspace.user(whom.strip().casefold()).id, inviter=by)
        except SlackRefused as refused:
            told = INVITE_REFUSED.get(refused.error, refused.error).format(whom.strip() or "nobody")
            return InteractionResult(acked=False, sent=False, notice=told)
        return InteractionResult(acked=True)

    def _show_answer(self, channel: LocalChannel, user_id: str, answer: Any) -> None:
        content = {"text": answer} if isinstance(answer, str) else answer
        if not isinstance(content, dict) or not (content.get("text") or content.get("blocks")):
            return
        if content.get("response_type") == "in_channel":
            workspace = self.core.workspace
            self.core.add_message(channel, messages.build_webhook_message(workspace, workspace.bot, content))
        else:
            self.core.add_ephemeral(channel, user_id, content)

    async def shortcut(
        self, callback_id: str, channel: str | None = None, ts: str | None = None, *, user: str | None = None
    ) -> InteractionResult:
        """Choose a shortcut from a message's menu, or a global one if no message is given."""
        common = self._build_context(user)
        action_ts = self.core.workspace.new_ts(self.core.now())
        if channel is None or ts is None:
            return await self._send(common, INTERACTIVE, payloads.build_global_shortcut(common, callback_id, action_ts))
        where = self._channel(channel)
        message = self.core.workspace.message(where, ts)
        url = self._build_response_url(common, where, message)
        payload = payloads.build_message_shortcut(common, where, message, callback_id, url, action_ts)
        return await self._send(common, INTERACTIVE, payload)

    async def open_home(self, *, user: str | None = None) -> None:
        """Open the app's Home tab and send app_home_opened."""
        person = self._user(user)
        home = self.core.surfaces.screen(person.id).home
        direct = self.core.workspace.open_direct(person.id)
        ts = self.core.workspace.new_ts(self.core.now())
        self.core.emit(events.build_home_opened(person.id, direct, home, ts))

    async def dismiss(self, ts: str) -> None:
        """Dismiss an ephemeral message."""
        shown = self.core.workspace.ephemerals
        self.core.workspace.ephemerals = [m for m in shown if m["ts"] != ts]
        self.core.notify_waiters()

    def home(self, user: str | None = None) -> JSON | None:
        """Return the view on the user's Home tab, or None."""
        return copy_json(self.core.surfaces.screen(self._user(user).id).home)
