"""Correct, retract and purge records: the commands that open the modals, and their submissions.

What a person may see and do is asked again when a modal is submitted.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from bot.domain.access.roles import Act
from bot.domain.incidents.record import Incident
from bot.ports.errors import RecordRejected
from bot.slack import ids
from bot.slack.listeners.context import UseCases
from bot.slack.listeners.interaction import Interaction
from bot.slack.listeners.resolve import read_incident_id
from bot.slack.views.brief.sections import MAX_ID
from bot.slack.views.correction_modals import (
    build_changed_view,
    build_done_view,
    build_edit_view,
    build_purge_view,
    build_retract_view,
    read_edit,
)
from bot.slack.views.forms import View, read_answers
from bot.slack.views.markup import prose

USAGE = "Say which record: /precedent {} INC-7."
# Loads a modal for the incident with this id, which the asker called like this.
Load = Callable[[UseCases, Interaction, str, str], Awaitable[View]]


async def open_edit(uses: UseCases, it: Interaction) -> None:
    """Open the modal of `/precedent edit INC-…`."""
    await _open(uses, it, "edit", _load_edit_view)


async def open_retract(uses: UseCases, it: Interaction) -> None:
    """Open the modal of `/precedent retract INC-…`."""
    await _open(uses, it, "retract", _load_retract_view)


async def open_purge(uses: UseCases, it: Interaction) -> None:
    """Open the modal of `/precedent purge INC-…`."""
    await _open(uses, it, "purge", _load_purge_view)


async def _open(uses: UseCases, it: Interaction, word: str, load: Load) -> None:
    called = it.arguments
    if not called:
        raise RecordRejected("", USAGE.format(word))

    async def load_named() -> View:
        return await load(uses, it, await read_incident_id(uses, called), called)

    await it.open(load_named())


async def _load_edit_view(uses: UseCases, it: Interaction, incident_id: str, called: str) -> View:
    await uses.access.require_record(incident_id, it.channel_id, it.user, called)
    return build_edit_view(await uses.correct.edit.open_form(incident_id, it.user), it.channel_id)


async def _load_retract_view(uses: UseCases, it: Interaction, incident_id: str, called: str) -> View:
    await uses.access.require_record(incident_id, it.channel_id, it.user, called)
    return build_retract_view(await uses.correct.retract.open_form(incident_id, it.user), it.channel_id)


async def _load_purge_view(uses: UseCases, it: Interaction, incident_id: str, called: str) -> View:
    record = await _find_purgeable(uses, incident_id, it.channel_id, it.user, called)
    return build_purge_view(incident_id, record, it.channel_id)


async def _find_purgeable(
    uses: UseCases, incident_id: str, channel_id: str, user: str, called: str = ""
) -> Incident | None:
    """Return the record that this steward may purge; None where it was removed before. Raises NotAllowedHere."""
    record = await uses.access.find_purgeable(incident_id, channel_id, user, called)
    await uses.correct.purge.may(user, Act.PURGE, record)
    return record


async def edit(uses: UseCases, it: Interaction) -> View:
    """Save a correction, and return what it changed. Raises what `EditRecord` raises, RecordRejected with the field."""
    view_id, (incident_id, channel_id) = it.view_id, it.place
    await uses.access.require_record(incident_id, channel_id, it.user)
    texts, marks = read_edit(it.view)
    done = await uses.correct.edit(incident_id, it.user, texts, marks, f"view:{view_id}")
    return build_changed_view(done.record, done.changed)


async def retract(uses: UseCases, it: Interaction) -> View:
    """Retract a record. Raises what `RetractRecord` raises."""
    view_id, (incident_id, channel_id) = it.view_id, it.place
    await uses.access.require_record(incident_id, channel_id, it.user)
    reason = read_answers(it.view).get(ids.REASON, "")
    await uses.correct.retract(incident_id, it.user, reason, f"view:{view_id}")
    name = prose(incident_id, MAX_ID)
    return build_done_view("Retract record", f"*{name}* is retracted. Threads whose brief used it are told.")


async def purge(uses: UseCases, it: Interaction) -> View:
    """Purge a record. Raises what `PurgeRecord` raises."""
    view_id, (incident_id, channel_id) = it.view_id, it.place
    await _find_purgeable(uses, incident_id, channel_id, it.user)
    reason = read_answers(it.view).get(ids.REASON, "")
    done = await uses.correct.purge(incident_id, it.user, reason, f"view:{view_id}")
    name = prose(incident_id, MAX_ID)
    left = f"The audit log keeps its SHA-256: {done.sha256}" if done.sha256 else "No record was left of it."
    return build_done_view("Purge record", f"*{name}* is purged. {left}")
