"""Methods of views.*; arguments arrive parsed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bot.playground.blocks.validate import validate_view
from bot.playground.core import LocalSlackCore
from bot.playground.web_api.arguments import read_required
from bot.playground.web_api.chat import build_refusal
from bot.playground.workspace.copies import copy_json
from bot.playground.workspace.state import JSON, SlackRefused


def check_view(core: LocalSlackCore, given: Any, kind: str) -> Mapping[str, Any]:
    """Return a view of the wanted kind within Slack's limits. Raises SlackRefused invalid_arguments."""
    if not isinstance(given, dict) or given.get("type") != kind:
        detail = f"[ERROR] must be a view of type {kind} [json-pointer:/view/type]"
        raise SlackRefused("invalid_arguments", response_metadata={"messages": [detail]})
    problems = validate_view(given) if core.knobs.validate else []
    if problems:
        raise build_refusal(problems)
    return given


def _show_view(core: LocalSlackCore, view: JSON) -> JSON:
    core.notify_waiters()
    return {"view": copy_json(view)}


def open_view(core: LocalSlackCore, args: JSON) -> JSON:
    """Handle views.open."""
    view = check_view(core, args.get("view"), "modal")
    screen = core.surfaces.use_trigger(read_required(args, "trigger_id"), core.now())
    return _show_view(core, core.surfaces.open(screen, view))


def push_view(core: LocalSlackCore, args: JSON) -> JSON:
    """Handle views.push."""
    view = check_view(core, args.get("view"), "modal")
    screen = core.surfaces.use_trigger(read_required(args, "trigger_id"), core.now())
    return _show_view(core, core.surfaces.push(screen, view))


def update_view(core: LocalSlackCore, args: JSON) -> JSON:
    """Handle views.update, by view_id or external_id, with an optional hash."""
    given = args.get("view")
    kind = given.get("type", "modal") if isinstance(given, dict) else "modal"
    view = check_view(core, given, kind)
    ids = {"view_id": str(args.get("view_id") or ""), "external_id": str(args.get("external_id") or "")}
    return _show_view(core, core.surfaces.update(view, **ids, hash_=str(args.get("hash") or "")))


def publish_view(core: LocalSlackCore, args: JSON) -> JSON:
    """Handle views.publish: the Home tab of a user."""
    view = check_view(core, args.get("view"), "home")
    user = read_required(args, "user_id")
    if user not in core.workspace.users:
        raise SlackRefused("user_not_found")
    return _show_view(core, core.surfaces.publish(user, view, str(args.get("hash") or "")))


METHODS: dict[str, Callable[[LocalSlackCore, JSON], JSON]] = {
    "views.open": open_view,
    "views.push": push_view,
    "views.update": update_view,
    "views.publish": publish_view,
}
