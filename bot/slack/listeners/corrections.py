"""Correcting, retracting and purging records from Slack: the commands that open the modals, and their submissions.

Must not decide anything: workflows do. What a person may see and do is asked again when a modal is submitted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.access.roles import Act
from bot.domain.incidents.record import Incident
from bot.ports.errors import IncidentNotFound, RecordRejected
from bot.slack import ids
from bot.slack.listeners.context import UseCases, require_member, require_viewer
from bot.slack.listeners.recall_question import BoltCall
from bot.slack.listeners.resolve import (
    OPEN_WITHIN_S,
    UNREADABLE,
    read_channel_id,
    read_incident_id,
    read_trigger,
    read_user,
)
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

Body = Mapping[str, Any]
USAGE = "Say which record: /precedent {} INC-7."
NOT_SEEN = "There is no record {} that you may see from here."


@dataclass(frozen=True, slots=True)
class RecordRequest:
    """Who asks for what from where; `said` is how they named the record."""

    incident_id: str
    said: str
    channel_id: str
    user: str


def opens_modal(body: Body) -> bool:
    """Whether `/precedent …` asks for one of these modals."""
    return _read_word(body) in OPENING


async def open_from_command(deps: UseCases, client: AsyncWebClient, body: Body) -> None:
    """`/precedent edit|retract|purge INC-…`: the modal, for who may."""
    word, said = _read_word(body), " ".join(str(body.get("text") or "").split()[1:])
    trigger = read_trigger(body)
    if not said:
        raise RecordRejected("", USAGE.format(word))
    async with asyncio.timeout(OPEN_WITHIN_S):
        asked = RecordRequest(await read_incident_id(deps, said), said, read_channel_id(body), read_user(body))
        await client.views_open(trigger_id=trigger, view=await OPENING[word](deps, asked))


def _read_word(body: Body) -> str:
    return next(iter(str(body.get("text") or "").split()), "").lower()


async def _load_edit_view(deps: UseCases, asked: RecordRequest) -> View:
    await require_record(deps, asked)
    return build_edit_view(await deps.correct.edit.open_form(asked.incident_id, asked.user), asked.channel_id)


async def _load_retract_view(deps: UseCases, asked: RecordRequest) -> View:
    await require_record(deps, asked)
    return build_retract_view(await deps.correct.retract.open_form(asked.incident_id, asked.user), asked.channel_id)


async def _load_purge_view(deps: UseCases, asked: RecordRequest) -> View:
    record = await require_purgeable(deps, asked)
    return build_purge_view(asked.incident_id, record, asked.channel_id)


OPENING: Mapping[str, Callable[[UseCases, RecordRequest], Awaitable[View]]] = {
    "edit": _load_edit_view,
    "retract": _load_retract_view,
    "purge": _load_purge_view,
}


async def require_record(deps: UseCases, asked: RecordRequest) -> Incident:
    """The record, if this person may see it from this channel. Raises IncidentNotFound alike for what is not there and
    what may not be seen, NotAllowedHere in a channel that is shared or that they left."""
    viewer = await require_viewer(deps.chat, asked.channel_id)
    record = (await deps.store.find_records((asked.incident_id,))).get(asked.incident_id)
    if record is None or record.source.visibility != "public":
        await require_member(deps.chat, asked.channel_id, asked.user)
    if record is None or not viewer.may_see(record.source.visibility):
        raise IncidentNotFound(NOT_SEEN.format(asked.said[:200]))
    return record


async def require_purgeable(deps: UseCases, asked: RecordRequest) -> Incident | None:
    """The record that a steward may purge; None where it was removed before. Raises as `visible`, NotAllowedHere."""
    if asked.incident_id in await deps.store.find_retracted((asked.incident_id,)):
        await require_viewer(deps.chat, asked.channel_id)
        record = None
    else:
        record = await require_record(deps, asked)
    await deps.correct.purge.may(asked.user, Act.PURGE, record)
    return record


def register(app: AsyncApp, deps: UseCases) -> None:
    """Register the modals; before the catch-alls."""

    @app.view(ids.EDIT_VIEW)
    async def edited(ack: BoltCall, body: dict[str, Any]) -> None:
        await ack(response_action="update", view=await edit(deps, body))

    @app.view(ids.RETRACT_VIEW)
    async def retracted(ack: BoltCall, body: dict[str, Any]) -> None:
        await ack(response_action="update", view=await retract(deps, body))

    @app.view(ids.PURGE_VIEW)
    async def purged(ack: BoltCall, body: dict[str, Any]) -> None:
        await ack(response_action="update", view=await purge(deps, body))


async def edit(deps: UseCases, body: Body) -> View:
    """Save a correction; what it changed. Raises what `EditRecord` raises, RecordRejected with the field."""
    view, view_id, asked = _read_submission(body)
    await require_record(deps, asked)
    said, shown = read_edit(view)
    done = await deps.correct.edit(asked.incident_id, asked.user, said, shown, f"view:{view_id}")
    return build_changed_view(done.record, done.changed)


async def retract(deps: UseCases, body: Body) -> View:
    """Retract a record. Raises what `RetractRecord` raises."""
    view, view_id, asked = _read_submission(body)
    await require_record(deps, asked)
    await deps.correct.retract(asked.incident_id, asked.user, read_answers(view).get(ids.REASON, ""), f"view:{view_id}")
    name = prose(asked.incident_id, MAX_ID)
    return build_done_view("Retract record", f"*{name}* is retracted. Threads whose brief used it are told.")


async def purge(deps: UseCases, body: Body) -> View:
    """Purge a record. Raises what `PurgeRecord` raises."""
    view, view_id, asked = _read_submission(body)
    await require_purgeable(deps, asked)
    reason = read_answers(view).get(ids.REASON, "")
    done = await deps.correct.purge(asked.incident_id, asked.user, reason, f"view:{view_id}")
    name = prose(asked.incident_id, MAX_ID)
    left = f"The audit log keeps its SHA-256: {done.sha256}" if done.sha256 else "No record was left of it."
    return build_done_view("Purge record", f"*{name}* is purged. {left}")


def _read_submission(body: Body) -> tuple[Mapping[str, Any], str, RecordRequest]:
    view = ids.read_object(body, "view")
    metadata, view_id = ids.decode(view.get("private_metadata")), ids.read_text(view, "id")
    if view_id is None:
        raise RecordRejected("", UNREADABLE)
    incident_id, channel_id = (ids.read_text(metadata, key) or "" for key in ("i", "c"))
    return view, view_id, RecordRequest(incident_id, incident_id, channel_id, read_user(body))
