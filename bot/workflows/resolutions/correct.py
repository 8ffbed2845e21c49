"""Correct, retract or purge a record: check who may, and commit the change, its audit line and the follow-up work at
once.

Must not render, call Slack, or tell the threads itself: that is the work that it queues in the inbox.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from bot.domain.access.roles import Act, Permission, Stewards, check_permission
from bot.domain.delivery.ids import build_correction_key
from bot.domain.incidents.corrections import (
    BOUNDARY,
    FAILED_CHECKS,
    TITLE,
    FieldChange,
    apply_texts,
    compare_records,
    hash_text,
    is_author,
    is_newly_verified,
    list_quotable_lines,
    read_texts,
)
from bot.domain.incidents.lifecycle import IncidentState, Lifecycle
from bot.domain.incidents.record import Boundary, Incident
from bot.domain.resolutions.failed_checks import read_failed_checks
from bot.domain.text.redaction import mask
from bot.ports.audit import AuditLine
from bot.ports.channels import PeopleDirectory
from bot.ports.clock import Clock
from bot.ports.delivery.inbox import ReceivedEvent
from bot.ports.errors import NotAllowedHere, RecordRejected, require_readable
from bot.ports.incidents import IncidentStore, find_lifecycle
from bot.ports.unit_of_work import Changes, retry_conflicts
from bot.ports.upkeep.purging import Purging
from bot.records.incident_json import format_record_change, write_record

KIND = "corrected"
CORRECTED, RETRACTED, PURGED = "corrected", "retracted", "purged"
MAX_TITLE, MAX_TEXT, MAX_REASON = 300, 3000, 500
CONFLICTS = 5
NOT_NOW = "Somebody changed this meanwhile. It says now: “{}”. Close this and begin again."
STILL_OPEN = (
    "{} is still open, so nothing is recalled from it: there is nothing to retract. "
    "If it is no alert, choose “Not an alert…” under its brief."
)


class RecordAccess(Protocol):
    """Check whether a person may act on a record (None: the record is gone)."""

    async def __call__(self, user_id: str, act: Act, record: Incident | None, /) -> None:
        """Raise NotAllowedHere, naming who may, unless this person may."""
        ...


@dataclass(frozen=True, slots=True)
class RecordGate:
    """Allow authors and stewards, identified by Slack."""

    people: PeopleDirectory
    stewards: Stewards

    async def __call__(self, user_id: str, act: Act, record: Incident | None) -> None:
        """See `RecordAccess`."""
        author = record is not None and is_author(record, user_id)
        permission = check_permission(await self.people.read_person(user_id), act, self.stewards, is_author=author)
        if not permission.allowed:
            raise NotAllowedHere(permission.refusal)


async def allow_operator(_user_id: str, _act: Act, _record: Incident | None) -> None:
    """Allow everything: whoever holds the database can do it anyway."""


async def confirm_operator(_user_id: str) -> Permission:
    """Count what the operator states as verified."""
    return Permission(True)


@dataclass(frozen=True, slots=True)
class RecordCorrection:
    """A correction that was made: the record as it is now, and what changed."""

    record: Incident
    changed: tuple[FieldChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EditRecord:
    """Correct a record."""

    store: IncidentStore
    may: RecordAccess
    confirms: Callable[[str], Awaitable[Permission]]
    clock: Clock

    async def open_form(self, incident_id: str, user_id: str) -> Incident:
        """Return the record for a person who may edit it. Raises IncidentNotFound, NotAllowedHere."""
        record = await self.store.read_record(incident_id)
        await self.may(user_id, Act.EDIT, record)
        return record

    async def __call__(
        self, incident_id: str, user_id: str, submitted: Mapping[str, str], shown: Mapping[str, str], once: str
    ) -> RecordCorrection:
        """Apply the person's changes.

        `submitted` holds the texts of the form by field, `shown` the hashes of the texts that the form showed:
        changes that somebody else made in the meantime are neither lost nor overwritten. Raises RecordRejected with
        the field, NotAllowedHere, IncidentNotFound, StoreUnavailable.
        """
        typed = {name: _clean(text) for name, text in submitted.items() if hash_text(text) != shown.get(name)}
        return await retry_conflicts(CONFLICTS, partial(self._edit, incident_id, user_id, typed, shown, once))

    async def _edit(
        self, incident_id: str, user_id: str, typed: Mapping[str, str], shown: Mapping[str, str], once: str
    ) -> RecordCorrection:
        before = await self.open_form(incident_id, user_id)
        _require_same(before, typed, shown)
        _require_valid(typed)
        checks = require_readable(read_failed_checks(typed[FAILED_CHECKS])) if FAILED_CHECKS in typed else None
        after = apply_texts(before, typed, checks)
        if after == before:
            return RecordCorrection(before, ())
        if is_newly_verified(before, after) and not (confirmed := await self.confirms(user_id)).allowed:
            raise RecordRejected(_find_verified_field(before, after), confirmed.refusal)
        changes = Changes(
            lifecycles=await _list_lifecycles(self.store, incident_id),
            records=(after,),
            expected=(before,),
            bank_act=f"{incident_id}/{once}",
            received=(_build_work(CORRECTED, incident_id, user_id, once),),
            once=f"edit/{once}",
            audit=(AuditLine(user_id, "edit", incident_id, format_record_change(before, after)),),
        )
        await self.store.commit(changes)
        return RecordCorrection(after, compare_records(before, after))


@dataclass(frozen=True, slots=True)
class RetractRecord:
    """Take a record out of memory; its incident and its thread stay."""

    store: IncidentStore
    may: RecordAccess

    async def open_form(self, incident_id: str, user_id: str) -> Incident:
        """Return the record for a person who may retract it.

        Raises IncidentNotFound, NotAllowedHere, RecordRejected (still open).
        """
        record = await self.store.read_record(incident_id)
        await self.may(user_id, Act.RETRACT, record)
        life = await find_lifecycle(self.store, incident_id)
        if life and life.state in (IncidentState.OPEN, IncidentState.CLEARED):
            raise RecordRejected("", STILL_OPEN.format(incident_id))
        return record

    async def __call__(self, incident_id: str, user_id: str, reason: str, once: str) -> Incident:
        """Return the record that can no longer be recalled.

        Raises RecordRejected ("reason"), and whatever `open_form` raises.
        """
        why = _require_reason(reason)
        return await retry_conflicts(CONFLICTS, partial(self._retract, incident_id, user_id, why, once))

    async def _retract(self, incident_id: str, user_id: str, why: str, once: str) -> Incident:
        record = await self.open_form(incident_id, user_id)
        changes = Changes(
            lifecycles=await _list_lifecycles(self.store, incident_id),
            retracted=(incident_id,),
            expected=(record,),
            bank_act=f"{incident_id}/{once}",
            received=(_build_work(RETRACTED, incident_id, user_id, once),),
            once=f"retract/{once}",
            audit=(AuditLine(user_id, "retract", incident_id, format_record_change(record, None, why)),),
        )
        await self.store.commit(changes)
        return record


@dataclass(frozen=True, slots=True)
class PurgeResult:
    """The result of a purge."""

    incident_id: str
    was_there: bool
    # The hash of the record; None if there was none.
    sha256: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeRecord:
    """Remove a record, and everything that quotes it, for good."""

    store: IncidentStore
    purging: Purging
    may: RecordAccess

    async def __call__(self, incident_id: str, user_id: str, reason: str, once: str) -> PurgeResult:
        """Purge the record; again is no error. Raises RecordRejected ("reason"), NotAllowedHere, StoreUnavailable."""
        record = (await self.store.find_records((incident_id,))).get(incident_id)
        await self.may(user_id, Act.PURGE, record)
        why = _require_reason(reason)
        digest = hash_record(record) if record else None
        detail = f"sha256 {digest}: {why}" if digest else f"no record was left: {why}"
        changes = Changes(
            bank_act=f"{incident_id}/{once}",
            received=(_build_work(PURGED, incident_id, user_id, once),),
            audit=(AuditLine(user_id, "purge", incident_id, detail),),
        )
        there = await self.purging.purge(incident_id, list_quotable_lines(record) if record else (), changes)
        return PurgeResult(incident_id, there, digest)


def hash_record(record: Incident) -> str:
    """Return the SHA-256 of the record's export line: anybody who still has that line can recognize what was purged."""
    return hashlib.sha256(json.dumps(write_record(record), ensure_ascii=False).encode("utf-8", "replace")).hexdigest()


def _require_reason(submitted: str) -> str:
    """Return the reason as the audit log stores it; raise RecordRejected if there is none."""
    why = _clean(submitted)[:MAX_REASON]
    if not why:
        raise RecordRejected("reason", "Say why; the audit log keeps it.")
    return why


def _clean(text: str) -> str:
    return mask(text.replace("\x00", "").strip())[0]


def _require_same(before: Incident, typed: Mapping[str, str], shown: Mapping[str, str]) -> None:
    now = read_texts(before)
    for name in typed:
        if name not in now:
            raise RecordRejected(name, "The record has no such field any more. Close this and begin again.")
        if hash_text(now[name]) != shown.get(name):
            raise RecordRejected(name, NOT_NOW.format(now[name][:200] or "nothing"))


def _require_valid(typed: Mapping[str, str]) -> None:
    if not typed.get(TITLE, "x"):
        raise RecordRejected(TITLE, "A record needs a title.")
    if typed.get(BOUNDARY, Boundary.UNKNOWN.value) not in set(Boundary):
        raise RecordRejected(BOUNDARY, "Choose one.")
    for name, text in typed.items():
        most = MAX_TITLE if name == TITLE else MAX_TEXT
        if len(text) > most:
            raise RecordRejected(name, f"At most {most} characters; put the rest behind a link.")


def _find_verified_field(before: Incident, after: Incident) -> str:
    changed = compare_records(before, after)
    return next(d.field for d in changed if d.after == "VERIFIED" and d.field not in (TITLE, BOUNDARY))


async def _list_lifecycles(store: IncidentStore, incident_id: str) -> tuple[Lifecycle, ...]:
    """Return the record's lifecycle, if it has one, as a commit takes it.

    It is written back unchanged, so that a concurrent change of the incident makes the commit fail.
    """
    life = await find_lifecycle(store, incident_id)
    return (life,) if life else ()


def build_key(what: str, incident_id: str, once: str) -> str:
    """Build the key of this one action: threads are updated once for each."""
    return build_correction_key(what, incident_id, once)


def _build_work(what: str, incident_id: str, by: str, once: str) -> ReceivedEvent:
    key = build_key(what, incident_id, once)
    body = {"what": what, "incident_id": incident_id, "by": by, "key": key}
    return ReceivedEvent(key, key, KIND, body, order_key=f"{KIND}/{incident_id}")
