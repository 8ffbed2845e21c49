"""What people do with buttons, modals, shortcuts, slash commands and the Home tab.

Each method waits for the app's acknowledgment. Refusals raise SlackRefused with Slack's error code.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.playground.blocks import elements
from bot.playground.blocks.validate import validate_view
from bot.playground.core import LocalSlackCore
from bot.playground.delivery import events, payloads
from bot.playground.delivery.courier import INTERACTIVE, SLASH, Ack
from bot.playground.people import PeopleActions
from bot.playground.workspace import messages
from bot.playground.workspace.copies import copy_json
from bot.playground.workspace.state import JSON, LocalChannel, SlackRefused, iterate_blocks
from bot.playground.workspace.surfaces import RESPONSE_URL_LIFE_S, ResponseUrl, Screen

NO_ANSWER = "We had some trouble connecting. Try again?"
INVITE = "/invite"
INVITE_REFUSED = {
    "user_not_found": "There is no one called {} here: /invite @Precedent invites the bot.",
    "already_in_channel": "{} is in this channel already.",
}


@dataclass(frozen=True, slots=True)
class InteractionResult:
    """The result of an interaction."""

    # the app answered in time
    acked: bool
    # the payload of its answer
    response: Any = None
    # messages shown at the inputs, by block id
    errors: Mapping[str, str] = field(default_factory=dict)
    # what Slack tells the user
    notice: str = ""
    # the interaction reached Slack
    sent: bool = True
    trigger_id: str = ""


class Interactions(PeopleActions):
    """Buttons, modals, shortcuts, slash commands, and the Home tab."""

    core: LocalSlackCore

    def _build_context(self, user: str | None) -> payloads.InteractionContext:
        person = self._user(user)
        trigger = self.core.surfaces.new_trigger(person.id, self.core.now())
        return payloads.InteractionContext(self.core.workspace, person, trigger)

    def _build_response_url(
        self, common: payloads.InteractionContext, channel: LocalChannel, message: Mapping[str, Any] | None = None
    ) -> str:
        hook = ResponseUrl(channel.id, common.user.id, self.core.now() + RESPONSE_URL_LIFE_S)
        if message:
            hook.ts, hook.thread_ts = message["ts"], message.get("thread_ts")
            hook.ephemeral = bool(message.get("is_ephemeral"))
        return f"{self.core.url}/response/{self.core.surfaces.new_response_url(hook)}"

    async def _send(self, common: payloads.InteractionContext, kind: str, payload: JSON) -> InteractionResult:
        self.core.notify_waiters()
        ack = await self.core.courier.send(kind, payload)
        notice = "" if ack.ok else NO_ANSWER
        return InteractionResult(acked=ack.ok, response=ack.body, notice=notice, trigger_id=common.trigger_id)

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

    def _enter(self, found: elements.PlacedElement, choice: Any, kept: JSON) -> None:
        if found.element["type"] in elements.STATEFUL:
            kept.setdefault(found.block_id, {})[found.action_id] = elements.build_element_state(found.element, choice)

    async def click_view(
        self, action_id: str, *, user: str | None = None, choice: Any = None, home: bool = False
    ) -> InteractionResult:
        """Press a button or choose in a menu in the user's top modal or Home tab."""
        common = self._build_context(user)
        screen = self.core.surfaces.screen(common.user.id)
        view = screen.home if home else self._read_top_view(screen)
        if view is None:
            raise SlackRefused("not_found")
        found = elements.find_element(view["blocks"], action_id)
        kept: JSON = view["state"]["values"]
        self._enter(found, choice, kept)
        sent = {**view, "state": {"values": elements.build_state_values(view["blocks"], kept)}}
        action = elements.build_action(found, choice, self.core.workspace.new_ts(self.core.now()))
        return await self._send(common, INTERACTIVE, payloads.build_view_action(common, sent, action))

    def _read_top_view(self, screen: Screen) -> JSON:
        if not screen.modals:
            raise SlackRefused("no_view_open")
        return screen.modals[-1]

    async def fill(self, values: Mapping[str, Any], *, user: str | None = None) -> None:
        """Enter values into the user's top modal by action id, block id or `block_id.action_id`; options by value."""
        view = self._read_top_view(self.core.surfaces.screen(self._user(user).id))
        placed = list(elements.iterate_elements(view["blocks"]))
        for name, value in values.items():
            found = _find_element(placed, name)
            self._enter(found, "" if value is None else value, view["state"]["values"])
        self.core.notify_waiters()

    async def submit_view(
        self, values: Mapping[str, Any] | None = None, *, user: str | None = None
    ) -> InteractionResult:
        """Fill in and submit the user's top modal, and carry out what the app answers."""
        await self.fill(values or {}, user=user)
        common = self._build_context(user)
        screen = self.core.surfaces.screen(common.user.id)
        view = self._read_top_view(screen)
        entered = elements.build_state_values(view["blocks"], view["state"]["values"])
        screen.errors, screen.notice = elements.check_inputs(view["blocks"], entered), ""
        if screen.errors:
            self.core.notify_waiters()
            return InteractionResult(acked=False, errors=dict(screen.errors), sent=False)
        payload = payloads.build_view_submission(common, {**view, "state": {"values": entered}})
        outcome = await self._send(common, INTERACTIVE, payload)
        self._apply_response(screen, view, Ack(outcome.acked, outcome.response))
        self.core.notify_waiters()
        return InteractionResult(
            outcome.acked, outcome.response, dict(screen.errors), screen.notice, trigger_id=common.trigger_id
        )

    def _apply_response(self, screen: Screen, view: JSON, ack: Ack) -> None:
        answer = ack.body if isinstance(ack.body, dict) else {}
        kind = answer.get("response_action")
        if not ack.ok:
            screen.notice = NO_ANSWER
        elif kind is None:
            screen.modals = [m for m in screen.modals if m["id"] != view["id"]]
        elif kind == "clear":
            screen.modals = []
        elif kind == "errors":
            self._show_errors(screen, view, answer.get("errors") or {})
        elif kind in ("update", "push"):
            self._show_next(screen, view, kind, answer.get("view") or {})
        else:
            screen.notice = NO_ANSWER

    def _show_errors(self, screen: Screen, view: JSON, errors: Mapping[str, str]) -> None:
        inputs = {b["block_id"] for b in view["blocks"] if b["type"] == "input"}
        screen.errors = {k: v for k, v in errors.items() if k in inputs}
        if not screen.errors or len(screen.errors) < len(errors):
            screen.notice = NO_ANSWER  # Slack's client cannot show an error where there is no such input

    def _show_next(self, screen: Screen, view: JSON, kind: str, given: Mapping[str, Any]) -> None:
        if self.core.knobs.validate and validate_view(given):
            screen.notice = NO_ANSWER
            return
        try:
            if kind == "push":
                self.core.surfaces.push(screen, given)
            else:
                self.core.surfaces.update(given, view_id=view["id"])
        except SlackRefused:  # closed meanwhile, or the stack is full
            screen.notice = NO_ANSWER

    async def close_view(self, *, user: str | None = None, clear: bool = False) -> InteractionResult:
        """Close the user's top modal, or all of them; send view_closed if the view asks for it."""
        common = self._build_context(user)
        screen = self.core.surfaces.screen(common.user.id)
        view = self._read_top_view(screen)
        cleared = clear or view["clear_on_close"]
        screen.modals = [] if cleared else screen.modals[:-1]
        screen.errors, screen.notice = {}, ""
        self.core.notify_waiters()
        if not view["notify_on_close"]:
            return InteractionResult(acked=True, sent=False)
        return await self._send(common, INTERACTIVE, payloads.build_view_closed(common, view, cleared=cleared))

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

    def views(self, user: str | None = None) -> list[JSON]:
        """Return the user's stack of modals, the top one last."""
        return copy_json(self.core.surfaces.screen(self._user(user).id).modals)

    def view(self, user: str | None = None) -> JSON | None:
        """Return the modal on top, or None."""
        return next(iter(self.views(user)[::-1]), None)

    def view_errors(self, user: str | None = None) -> dict[str, str]:
        """Return the errors shown in the top modal, by block id."""
        return dict(self.core.surfaces.screen(self._user(user).id).errors)

    def home(self, user: str | None = None) -> JSON | None:
        """Return the view on the user's Home tab, or None."""
        return copy_json(self.core.surfaces.screen(self._user(user).id).home)


def _find_element(placed: Iterable[elements.PlacedElement], name: str) -> elements.PlacedElement:
    for found in placed:
        if name in (found.action_id, found.block_id, f"{found.block_id}.{found.action_id}"):
            return found
    raise SlackRefused("no_such_input", name=name)
