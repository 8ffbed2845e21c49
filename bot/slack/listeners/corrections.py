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
from bot.ports import IncidentNotFound, RecordRejected
from bot.slack import ids
from bot.slack.listeners.context import Listening, asker_in, require_member
from bot.slack.listeners.recall_question import Answer
from bot.slack.listeners.resolve import OPEN_WITHIN_S, UNREADABLE, channel_id_of, named, trigger_of, user_of
from bot.slack.views.brief.sections import MAX_ID
from bot.slack.views.correction_modals import changed_view, done_view, edit_view, purge_view, read_edit, retract_view
from bot.slack.views.forms import View, answers
from bot.slack.views.markup import prose

Body = Mapping[str, Any]
USAGE = "Say which record: /precedent {} INC-7."
NOT_SEEN = "There is no record {} that you may see from here."


@dataclass(frozen=True, slots=True)
class Asked:
    """Who asks for what from where; `said` is how they named the record."""

    incident_id: str
    said: str
    channel_id: str
    user: str


def opens_modal(body: Body) -> bool:
    """Whether `/precedent …` asks for one of these modals."""
    return _word(body) in OPENING


async def open_from_command(deps: Listening, client: AsyncWebClient, body: Body) -> None:
    """`/precedent edit|retract|purge INC-…`: the modal, for who may."""
    word, said = _word(body), " ".join(str(body.get("text") or "").split()[1:])
    trigger = trigger_of(body)
    if not said:
        raise RecordRejected("", USAGE.format(word))
    async with asyncio.timeout(OPEN_WITHIN_S):
        asked = Asked(await named(deps, said), said, channel_id_of(body), user_of(body))
        await client.views_open(trigger_id=trigger, view=await OPENING[word](deps, asked))


def _word(body: Body) -> str:
    return next(iter(str(body.get("text") or "").split()), "").lower()


async def _edit(deps: Listening, asked: Asked) -> View:
    await visible(deps, asked)
    return edit_view(await deps.correct.edit.form(asked.incident_id, asked.user), asked.channel_id)


async def _retract(deps: Listening, asked: Asked) -> View:
    await visible(deps, asked)
    return retract_view(await deps.correct.retract.form(asked.incident_id, asked.user), asked.channel_id)


async def _purge(deps: Listening, asked: Asked) -> View:
    record = await purgeable(deps, asked)
    return purge_view(asked.incident_id, record, asked.channel_id)


OPENING: Mapping[str, Callable[[Listening, Asked], Awaitable[View]]] = {
    "edit": _edit,
    "retract": _retract,
    "purge": _purge,
}


async def visible(deps: Listening, asked: Asked) -> Incident:
    """The record, if this person may see it from this channel. Raises IncidentNotFound alike for what is not there and
    what may not be seen, NotAllowedHere in a channel that is shared or that they left."""
    viewer = await asker_in(deps.chat, asked.channel_id)
    record = (await deps.store.find((asked.incident_id,))).get(asked.incident_id)
    if record is None or record.source.visibility != "public":
        await require_member(deps.chat, asked.channel_id, asked.user)
    if record is None or not viewer.may_see(record.source.visibility):
        raise IncidentNotFound(NOT_SEEN.format(asked.said[:200]))
    return record


async def purgeable(deps: Listening, asked: Asked) -> Incident | None:
    """The record that a steward may purge; None where it was removed before. Raises as `visible`, NotAllowedHere."""
    if asked.incident_id in await deps.store.forgotten((asked.incident_id,)):
        await asker_in(deps.chat, asked.channel_id)
        record = None
    else:
        record = await visible(deps, asked)
    await deps.correct.purge.may(asked.user, Act.PURGE, record)
    return record


def listen(app: AsyncApp, deps: Listening) -> None:
    """Register the modals; before the catch-alls."""

    @app.view(ids.EDIT_VIEW)
    async def edited(ack: Answer, body: dict[str, Any]) -> None:
        await ack(response_action="update", view=await edit(deps, body))

    @app.view(ids.RETRACT_VIEW)
    async def retracted(ack: Answer, body: dict[str, Any]) -> None:
        await ack(response_action="update", view=await retract(deps, body))

    @app.view(ids.PURGE_VIEW)
    async def purged(ack: Answer, body: dict[str, Any]) -> None:
        await ack(response_action="update", view=await purge(deps, body))


async def edit(deps: Listening, body: Body) -> View:
    """Save a correction; what it changed. Raises what `EditRecord` raises, RecordRejected with the field."""
    view, view_id, asked = _submitted(body)
    await visible(deps, asked)
    said, shown = read_edit(view)
    done = await deps.correct.edit(asked.incident_id, asked.user, said, shown, f"view:{view_id}")
    return changed_view(done.record, done.changed)


async def retract(deps: Listening, body: Body) -> View:
    """Retract a record. Raises what `RetractRecord` raises."""
    view, view_id, asked = _submitted(body)
    await visible(deps, asked)
    await deps.correct.retract(asked.incident_id, asked.user, answers(view).get(ids.REASON, ""), f"view:{view_id}")
    name = prose(asked.incident_id, MAX_ID)
    return done_view("Retract record", f"*{name}* is retracted. Threads whose brief used it are told.")


async def purge(deps: Listening, body: Body) -> View:
    """Purge a record. Raises what `PurgeRecord` raises."""
    view, view_id, asked = _submitted(body)
    await purgeable(deps, asked)
    reason = answers(view).get(ids.REASON, "")
    done = await deps.correct.purge(asked.incident_id, asked.user, reason, f"view:{view_id}")
    name = prose(asked.incident_id, MAX_ID)
    left = f"The audit log keeps its SHA-256: {done.sha256}" if done.sha256 else "No record was left of it."
    return done_view("Purge record", f"*{name}* is purged. {left}")


def _submitted(body: Body) -> tuple[Mapping[str, Any], str, Asked]:
    view = ids.object_of(body, "view")
    metadata, view_id = ids.decode(view.get("private_metadata")), ids.text_of(view, "id")
    if view_id is None:
        raise RecordRejected("", UNREADABLE)
    incident_id, channel_id = (ids.text_of(metadata, key) or "" for key in ("i", "c"))
    return view, view_id, Asked(incident_id, incident_id, channel_id, user_of(body))
