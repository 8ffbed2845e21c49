"""Record the answer to the question whether a message is the fix, which a 📝 on it asks."""

from __future__ import annotations

from bot.slack.listeners.context import UseCases
from bot.slack.listeners.interaction import Interaction
from bot.slack.payload import read_text, read_ts
from bot.slack.views.memo import OUTCOMES, render_recorded
from bot.slack.views.surfaces import render_note

NOT_RECORDED = "Nothing was recorded."


async def answer(uses: UseCases, it: Interaction) -> None:
    """Do what was answered, and say so in the place of the question."""
    await uses.access.require_visible(it.incident_id, it.channel_id, it.user)
    outcome = OUTCOMES.get(it.answer)
    if outcome is None:
        await it.whisper(render_note(NOT_RECORDED), replaces=True)
        return
    place = (it.channel_id, read_ts(it.value) or "")
    fix_hash = read_text(it.value, "f") or ""
    recorded = await uses.answer_memo(it.incident_id, place, fix_hash, outcome, it.user)
    await it.whisper(render_recorded(recorded, it.user), replaces=True)
