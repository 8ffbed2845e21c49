"""Details of a brief and the brief without memory, opened from its buttons. Who may see it is asked each time anew.

Must not decide what is in them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.access.visibility import Viewer
from bot.ports.errors import IncidentNotFound, RecordRejected
from bot.slack import ids
from bot.slack.listeners.context import UseCases, require_member, require_viewer, require_visible
from bot.slack.listeners.recall_question import BoltCall
from bot.slack.listeners.resolve import OPEN_WITHIN_S, read_channel_id, read_trigger, read_user
from bot.slack.views.details_modal import build_compare_view, build_details_view, build_loading_view
from bot.slack.views.forms import View
from bot.slack.views.hypothesis import build_hypotheses_view
from bot.slack.views.same_fix import build_pair_value
from bot.workflows.assistant.analyze import OFF

Body = Mapping[str, Any]
ASKING = "Asking the model, with memory and without…"


def register(app: AsyncApp, deps: UseCases) -> None:
    """Register the buttons; the menu's entry is opened by `agreements`."""

    @app.action(ids.DETAILS)
    async def details(ack: BoltCall, body: dict[str, Any], action: dict[str, Any], client: Any) -> None:
        await ack()
        await open_details(deps, client, body, str(action.get("value")))

    @app.action(ids.SAME_FIX)
    async def same_fix(ack: BoltCall, body: dict[str, Any], action: dict[str, Any], client: Any) -> None:
        await ack()
        await group_fixes(deps, client, body, action.get("value"), same=True)

    @app.action(ids.OTHER_FIXES)
    async def other_fixes(ack: BoltCall, body: dict[str, Any], action: dict[str, Any], client: Any) -> None:
        await ack()
        await group_fixes(deps, client, body, action.get("value"), same=False)

    @app.action(ids.ASK_MODEL)
    async def ask_model(ack: BoltCall, body: dict[str, Any], client: Any) -> None:
        await ack()
        await ask_both(deps, client, body)


async def open_details(deps: UseCases, client: AsyncWebClient, body: Body, value: str) -> None:
    """Show that it comes, then what it is: asking a bank may take longer than Slack waits for a modal."""
    incident_id = ids.read_text(ids.decode(value), "i") or ""
    async with asyncio.timeout(OPEN_WITHIN_S):
        viewer = await require_reader(deps, incident_id, body)
        opened = await client.views_open(trigger_id=read_trigger(body), view=build_loading_view("Details"))
    view = await _load_details(deps, incident_id, read_channel_id(body), read_user(body), viewer)
    await client.views_update(view_id=str(opened["view"]["id"]), view=view)


async def _load_details(deps: UseCases, incident_id: str, channel_id: str, user: str, viewer: Viewer) -> View:
    found = await deps.details(incident_id, channel_id, viewer)
    sources = [line.incident_id for line in found.brief.sources]
    pairs = await deps.correct.fixes.list_pairs(sources, viewer, user)
    return build_details_view(found, pairs, {"i": incident_id, "c": channel_id})


async def group_fixes(deps: UseCases, client: AsyncWebClient, body: Body, value: object, *, same: bool) -> None:
    """Say that two fixes are one, or two, and show the details anew. Raises what `SayFixes` raises, NotAllowedHere."""
    view, user = ids.read_object(body, "view"), read_user(body)
    place, named = ids.decode(view.get("private_metadata")), ids.decode(value)
    incident_id, channel_id = (ids.read_text(place, key) or "" for key in ("i", "c"))
    await require_member(deps.chat, channel_id, user)
    await require_visible(deps, incident_id, channel_id, user)
    viewer = await require_viewer(deps.chat, channel_id)
    found = await deps.details(incident_id, channel_id, viewer)
    pairs = await deps.correct.fixes.list_pairs([line.incident_id for line in found.brief.sources], viewer, user)
    pair = next((p for p in pairs if build_pair_value(p) == named), None)
    if pair is None:
        raise RecordRejected("", "These fixes are not there any more, or you may not say which are one.")
    once = f"{ids.read_text(view, 'id')}/{ids.read_text(view, 'hash')}"
    await deps.correct.fixes(replace(pair, same=same), user, once)
    fresh = await _load_details(deps, incident_id, channel_id, user, viewer)
    await client.views_update(view_id=str(view.get("id")), view=fresh)


async def load_compare_view(deps: UseCases, body: Body, incident_id: str) -> View:
    """The brief with memory and without."""
    viewer = await require_reader(deps, incident_id, body)
    with_memory, without = await deps.details.compare(incident_id, read_channel_id(body), viewer)
    shown = (deps.surfaces.render_brief(with_memory).blocks, deps.surfaces.render_brief(without).blocks)
    if deps.converse is None:
        return build_compare_view(with_memory, without, shown)
    channel_id = read_channel_id(body)
    why_not = await deps.converse.explain_refusal(await deps.chat.read_channel(channel_id))
    return build_compare_view(with_memory, without, shown, {"i": incident_id, "c": channel_id}, why_not)


async def ask_both(deps: UseCases, client: AsyncWebClient, body: Body) -> None:
    """Ask the model with memory and without, for this person's eyes: first that it comes, then both hypotheses. Raises
    NotAllowedHere, IncidentNotFound."""
    view, user = ids.read_object(body, "view"), read_user(body)
    place, view_id = ids.decode(view.get("private_metadata")), str(view.get("id"))
    incident_id, channel_id = (ids.read_text(place, key) or "" for key in ("i", "c"))
    await require_member(deps.chat, channel_id, user)
    await require_visible(deps, incident_id, channel_id, user)
    if deps.converse is None:
        raise IncidentNotFound(OFF)
    await client.views_update(view_id=view_id, view=build_loading_view("Compare", ASKING))
    both = await deps.converse.compare(incident_id, await deps.chat.read_channel(channel_id), user)
    await client.views_update(view_id=view_id, view=build_hypotheses_view(both))


async def require_reader(deps: UseCases, incident_id: str, body: Body) -> Viewer:
    """What this person may see here now. Raises IncidentNotFound, NotAllowedHere."""
    channel_id, user = read_channel_id(body), read_user(body)
    await require_member(deps.chat, channel_id, user)
    await require_visible(deps, incident_id, channel_id, user)
    return await require_viewer(deps.chat, channel_id)
