"""Details of a brief, and the brief without memory, opened from its buttons. Who may see them is asked at each press.

What takes longer than Slack waits for a modal is shown in two steps: first that it comes, then what it is.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from bot.domain.access.visibility import Viewer
from bot.ports.errors import IncidentNotFound, RecordRejected
from bot.slack.listeners.context import UseCases
from bot.slack.listeners.interaction import OPEN_WITHIN_S, Interaction
from bot.slack.payload import read_text
from bot.slack.views.details_modal import build_compare_view, build_details_view, build_loading_view, build_pair_value
from bot.slack.views.forms import View
from bot.slack.views.hypothesis import build_hypotheses_view
from bot.workflows.assistant.analyze import OFF

ASKING = "Asking the model, with memory and without…"


async def open_details(uses: UseCases, it: Interaction) -> None:
    """Open everything behind the brief."""
    async with asyncio.timeout(OPEN_WITHIN_S):
        viewer = await uses.access.require_reader(it.incident_id, it.channel_id, it.user)
        view_id = await it.open_loaded(build_loading_view("Details"))
    await it.replace(await _load_details(uses, it, (it.incident_id, it.channel_id), viewer), view_id)


async def _load_details(uses: UseCases, it: Interaction, place: tuple[str, str], viewer: Viewer) -> View:
    incident_id, channel_id = place
    details = await uses.details(incident_id, channel_id, viewer)
    sources = [line.incident_id for line in details.brief.sources]
    pairs = await uses.correct.fixes.list_pairs(sources, viewer, it.user)
    return build_details_view(details, pairs, {"i": incident_id, "c": channel_id})


async def merge_fixes(uses: UseCases, it: Interaction) -> None:
    """Count two fixes as one."""
    await _group_fixes(uses, it, same=True)


async def separate_fixes(uses: UseCases, it: Interaction) -> None:
    """Count two fixes as two."""
    await _group_fixes(uses, it, same=False)


async def _group_fixes(uses: UseCases, it: Interaction, *, same: bool) -> None:
    """Record it and show the details again. Raises what `GroupFixes` raises, NotAllowedHere."""
    incident_id, channel_id = it.place
    viewer = await uses.access.require_reader(incident_id, channel_id, it.user)
    details = await uses.details(incident_id, channel_id, viewer)
    pairs = await uses.correct.fixes.list_pairs([s.incident_id for s in details.brief.sources], viewer, it.user)
    pair = next((p for p in pairs if build_pair_value(p) == it.value), None)
    if pair is None:
        raise RecordRejected("", "These fixes are not there any more, or you may not say which are one.")
    # A modal has a new hash after each update: a second tap on the old one records nothing.
    once = f"{read_text(it.view, 'id')}/{read_text(it.view, 'hash')}"
    await uses.correct.fixes(replace(pair, same=same), it.user, once)
    await it.replace(await _load_details(uses, it, it.place, viewer))


async def compare(uses: UseCases, it: Interaction) -> None:
    """Open the brief with memory and without."""
    await it.open(_load_compare_view(uses, it))


async def _load_compare_view(uses: UseCases, it: Interaction) -> View:
    incident_id, channel_id = it.incident_id, it.channel_id
    viewer = await uses.access.require_reader(incident_id, channel_id, it.user)
    with_memory, without = await uses.details.compare(incident_id, channel_id, viewer)
    shown = (uses.surfaces.render_brief(with_memory).blocks, uses.surfaces.render_brief(without).blocks)
    if uses.converse is None:
        return build_compare_view(with_memory, without, shown)
    refusal = await uses.converse.explain_refusal(await uses.access.chat.read_channel(channel_id))
    return build_compare_view(with_memory, without, shown, {"i": incident_id, "c": channel_id}, refusal)


async def ask_model(uses: UseCases, it: Interaction) -> None:
    """Ask the model with memory and without, for this person's eyes."""
    incident_id, channel_id = it.place
    await uses.access.require_reader(incident_id, channel_id, it.user)
    if uses.converse is None:
        raise IncidentNotFound(OFF)
    await it.replace(build_loading_view("Compare", ASKING))
    both = await uses.converse.compare(incident_id, await uses.access.chat.read_channel(channel_id), it.user)
    await it.replace(build_hypotheses_view(both))
