"""Trigger ids, response URLs, and the views that users see. Pure: times are seconds since 1970, given by the caller."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.playground.workspace.copies import copy_json
from bot.playground.workspace.messages import build_stored_blocks
from bot.playground.workspace.state import JSON, SlackRefused, Workspace

TRIGGER_LIFE_S = 3.0
RESPONSE_URL_LIFE_S = 1800.0
RESPONSE_URL_USES = 5
STACK_LIMIT = 3
_VIEW_DEFAULTS: JSON = {
    "private_metadata": "",
    "callback_id": "",
    "external_id": "",
    "clear_on_close": False,
    "notify_on_close": False,
    "submit_disabled": False,
    "title": None,
    "submit": None,
    "close": None,
}


@dataclass(slots=True)
class Trigger:
    """The right to open one modal for one user."""

    user: str
    expires_at: float
    used: bool = False


@dataclass(slots=True)
class ResponseUrl:
    """The right to respond to an interaction without a token. `ts` and `ephemeral` identify the message that it came
    from."""

    channel: str
    user: str
    expires_at: float
    ts: str | None = None
    thread_ts: str | None = None
    ephemeral: bool = False
    uses_left: int = RESPONSE_URL_USES


@dataclass(slots=True)
class Screen:
    """What one user sees besides channels: the stack of modals (last on top) and the Home tab."""

    modals: list[JSON] = field(default_factory=list)
    home: JSON | None = None
    errors: dict[str, str] = field(default_factory=dict)
    notice: str = ""


@dataclass(slots=True)
class SurfaceState:
    """All screens, triggers and response URLs of the workspace."""

    workspace: Workspace
    screens: dict[str, Screen] = field(default_factory=dict)
    triggers: dict[str, Trigger] = field(default_factory=dict)
    response_urls: dict[str, ResponseUrl] = field(default_factory=dict)

    def screen(self, user_id: str) -> Screen:
        """Return the screen of a user."""
        return self.screens.setdefault(user_id, Screen())

    def new_trigger(self, user_id: str, now: float) -> str:
        """Return a trigger id that is valid for three seconds and one use."""
        trigger_id = f"{len(self.triggers) + 1}.{int(now * 1000)}.{self.workspace.new_id('t').lower()}"
        self.triggers[trigger_id] = Trigger(user_id, now + TRIGGER_LIFE_S)
        return trigger_id

    def use_trigger(self, trigger_id: str, now: float) -> Screen:
        """Return the screen that a trigger id opens. Raises SlackRefused with Slack's error codes."""
        trigger = self.triggers.get(trigger_id)
        if trigger is None:
            raise SlackRefused("invalid_trigger_id")
        if trigger.used:
            raise SlackRefused("exchanged_trigger_id")
        if now > trigger.expires_at:
            raise SlackRefused("expired_trigger_id")
        trigger.used = True
        return self.screen(trigger.user)

    def new_view(self, given: Mapping[str, Any], *, like: Mapping[str, Any] | None = None) -> JSON:
        """Return a view as Slack stores it, with the identity of `like` if it replaces that one."""
        view_id = like["id"] if like else self.workspace.new_id("V")
        view: JSON = {
            "id": view_id,
            "team_id": self.workspace.team_id,
            "app_id": self.workspace.bot.app_id,
            "app_installed_team_id": self.workspace.team_id,
            "bot_id": self.workspace.bot.bot_id,
            **_VIEW_DEFAULTS,
            **copy_json(dict(given)),
        }
        view["blocks"] = build_stored_blocks(self.workspace, given.get("blocks"))
        view["state"] = {"values": {}}
        view["hash"] = f"{self.workspace.new_id('h')}.hash"
        view["root_view_id"] = like["root_view_id"] if like else view_id
        view["previous_view_id"] = like["previous_view_id"] if like else None
        return view

    def open(self, screen: Screen, given: Mapping[str, Any]) -> JSON:
        """Show a new modal as the only one."""
        self._check_external_id(given)
        view = self.new_view(given)
        screen.modals = [view]
        screen.errors, screen.notice = {}, ""
        return view

    def push(self, screen: Screen, given: Mapping[str, Any]) -> JSON:
        """Show a modal on top of the current one. Raises SlackRefused push_limit_reached."""
        if not screen.modals:
            raise SlackRefused("not_found")
        if len(screen.modals) >= STACK_LIMIT:
            raise SlackRefused("push_limit_reached")
        self._check_external_id(given)
        view = self.new_view(given)
        view["root_view_id"] = screen.modals[0]["id"]
        view["previous_view_id"] = screen.modals[-1]["id"]
        screen.modals.append(view)
        screen.errors, screen.notice = {}, ""
        return view

    def update(self, given: Mapping[str, Any], *, view_id: str = "", external_id: str = "", hash_: str = "") -> JSON:
        """Replace a view in its place. Raises SlackRefused not_found or hash_conflict."""
        for screen in self.screens.values():
            for index, old in enumerate(screen.modals):
                if (view_id and old["id"] == view_id) or (external_id and old["external_id"] == external_id):
                    if hash_ and hash_ != old["hash"]:
                        raise SlackRefused("hash_conflict")
                    screen.modals[index] = view = self.new_view(given, like=old)
                    _keep_state(old, view)
                    screen.errors, screen.notice = {}, ""
                    return view
            if screen.home and view_id and screen.home["id"] == view_id:
                screen.home = self.new_view(given, like=screen.home)
                return screen.home
        raise SlackRefused("not_found")

    def publish(self, user_id: str, given: Mapping[str, Any], hash_: str = "") -> JSON:
        """Show a view on a user's Home tab. Raises SlackRefused hash_conflict."""
        screen = self.screen(user_id)
        if hash_ and screen.home and hash_ != screen.home["hash"]:
            raise SlackRefused("hash_conflict")
        screen.home = self.new_view(given, like=screen.home)
        return screen.home

    def new_response_url(self, hook: ResponseUrl) -> str:
        """Return the id of a response URL that is valid for five uses within 30 minutes."""
        hook_id = self.workspace.new_id("R").lower()
        self.response_urls[hook_id] = hook
        return hook_id

    def use_response_url(self, hook_id: str, now: float) -> ResponseUrl:
        """Use a response URL once and return it. Raises SlackRefused expired_url or used_url."""
        hook = self.response_urls.get(hook_id)
        if hook is None or now > hook.expires_at:
            raise SlackRefused("expired_url")
        if hook.uses_left <= 0:
            raise SlackRefused("used_url")
        hook.uses_left -= 1
        return hook

    def _check_external_id(self, given: Mapping[str, Any]) -> None:
        wanted = given.get("external_id")
        taken = any(m["external_id"] == wanted for s in self.screens.values() for m in s.modals)
        if wanted and taken:
            raise SlackRefused("duplicate_external_id")


def _keep_state(old: Mapping[str, Any], new: JSON) -> None:
    """Copy what the user entered into the inputs that still exist under the same ids."""
    ids = {block["block_id"] for block in new["blocks"]}
    new["state"] = {"values": {k: v for k, v in old["state"]["values"].items() if k in ids}}
