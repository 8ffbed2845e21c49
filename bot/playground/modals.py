"""What people do in modals, and how an interaction of any kind is sent to the app."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.playground.blocks import elements
from bot.playground.blocks.validate import validate_view
from bot.playground.core import LocalSlackCore
from bot.playground.delivery import payloads
from bot.playground.delivery.courier import INTERACTIVE, Ack
from bot.playground.people import PeopleActions
from bot.playground.workspace.copies import copy_json
from bot.playground.workspace.state import JSON, LocalChannel, SlackRefused
from bot.playground.workspace.surfaces import RESPONSE_URL_LIFE_S, ResponseUrl, Screen

NO_ANSWER = "We had some trouble connecting. Try again?"


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


class InteractionSender(PeopleActions):
    """Send interactions to the app."""

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

    def _enter(self, found: elements.PlacedElement, choice: Any, kept: JSON) -> None:
        if found.element["type"] in elements.STATEFUL:
            kept.setdefault(found.block_id, {})[found.action_id] = elements.build_element_state(found.element, choice)


class ModalActions(InteractionSender):
    """Open modals and the Home tab: press, choose, fill in, submit, close."""

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
            found = find_element_by_name(placed, name)
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

    def views(self, user: str | None = None) -> list[JSON]:
        """Return the user's stack of modals, the top one last."""
        return copy_json(self.core.surfaces.screen(self._user(user).id).modals)

    def view(self, user: str | None = None) -> JSON | None:
        """Return the modal on top, or None."""
        return next(iter(self.views(user)[::-1]), None)

    def view_errors(self, user: str | None = None) -> dict[str, str]:
        """Return the errors shown in the top modal, by block id."""
        return dict(self.core.surfaces.screen(self._user(user).id).errors)


def find_element_by_name(placed: Iterable[elements.PlacedElement], name: str) -> elements.PlacedElement:
    """Return the element with this action id, block id or `block_id.action_id`. Raises SlackRefused."""
    for found in placed:
        if name in (found.action_id, found.block_id, f"{found.block_id}.{found.action_id}"):
            return found
    raise SlackRefused("no_such_input", name=name)
