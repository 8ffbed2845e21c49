"""Record what fixed an incident in one durable commit, and then say so in the thread.

Must not render, or call Slack: what is to be sent goes through the outbox.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import Any

from bot.domain.access.roles import Permission
from bot.domain.alerts.alert import Alert
from bot.domain.brief.decide import Brief, add_lifecycle
from bot.domain.delivery.ids import build_incident_key, build_recorded_id
from bot.domain.delivery.kinds import Operation
from bot.domain.fixes.grouping import build_fix_groups
from bot.domain.incidents.corrections import ATTEMPT, FieldChange, compare_records
from bot.domain.incidents.lifecycle import IncidentState, Lifecycle, find_past_end, resolve
from bot.domain.incidents.opening import build_view, open_record, parse_ts
from bot.domain.incidents.record import (
    RESOLUTION_TEXTS,
    Attempt,
    Boundary,
    FailedCheck,
    Incident,
    Runbook,
    Source,
    VerificationStatus,
)
from bot.domain.resolutions.suggestions import SuggestedFix, suggest_checks, suggest_fixes, suggest_runbooks
from bot.domain.text.format import format_count
from bot.domain.text.redaction import count_marks, format_masked_note, mask
from bot.domain.text.tokens import normalize
from bot.ports.audit import AuditLine
from bot.ports.chat import Channel, ChatMessage, Posting
from bot.ports.clock import Clock
from bot.ports.delivery.outbox import OutboxEntry, build_brief_edit, build_outbox_entry
from bot.ports.errors import IncidentNotFound, RecordRejected
from bot.ports.feedback import FeedbackStore
from bot.ports.incidents import IncidentStore
from bot.ports.posts import IncidentPost
from bot.ports.surfaces import Surfaces
from bot.ports.unit_of_work import Changes, retry_conflicts
from bot.records.incident_json import format_record_change
from bot.workflows.resolutions.confirm_recovery import confirm_anybody


class FixOutcome(StrEnum):
    """The answer to "did it fix it?"."""

    RECOVERED = "recovered"
    PARTLY = "partly"
    NO = "no"
    BY_ITSELF = "by_itself"
    NOT_SURE = "not_sure"


OUTCOME_STATUSES = {
    FixOutcome.RECOVERED: VerificationStatus.VERIFIED,
    FixOutcome.PARTLY: VerificationStatus.PARTIAL,
    FixOutcome.NO: VerificationStatus.FAILED,
    FixOutcome.NOT_SURE: VerificationStatus.UNVERIFIED,
}
OUTCOME_TEXTS = {
    FixOutcome.RECOVERED: "it fixed it, recovery seen",
    FixOutcome.PARTLY: "it helped partly",
    FixOutcome.NO: "it did not fix it",
    FixOutcome.BY_ITSELF: "it cleared by itself",
    FixOutcome.NOT_SURE: "outcome not sure",
}
MAX_TEXT = 3000
# A known fix may be longer than what can be typed.
MAX_FIX = 20_000
# Values of `Resolution.how` for words from a modal or a button rather than from a message.
TYPED = frozenset({"", "button"})
CONFLICTS = 5
UNCONFIRMED = "said to have fixed it, to be confirmed"


@dataclass(frozen=True, slots=True)
class Subject:
    """The message that a resolution is about if no incident was opened for it (a past thread, an unrecognized post)."""

    channel: Channel
    ts: str
    title: str
    alert: Alert | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a person submitted in the modal. Exactly one of `incident_id` and `subject` is set."""

    outcome: FixOutcome
    incident_id: str | None = None
    subject: Subject | None = None
    # What was done, verbatim, one step a line; None only with BY_ITSELF.
    fix: str | None = None
    note: str | None = None
    root_cause: str | None = None
    boundary: Boundary = Boundary.UNKNOWN
    failed_checks: tuple[FailedCheck, ...] = ()
    lesson: str | None = None
    customer_impact: str | None = None
    suggested: bool = False
    # Why a recovery does not count as VERIFIED.
    unconfirmed: str = ""
    # Where to confirm it (channel, ts) if the incident has no brief anywhere.
    thread: tuple[str, str] | None = None
    # The named procedure that the fix is.
    runbook: Runbook | None = None
    # By what means it was reported; "" for the modal and its buttons.
    how: str = ""
    # Another fix that was tried, and its status.
    also: tuple[str, VerificationStatus] | None = None
    # What the person is told about secrets that they wrote.
    warning: str = ""


@dataclass(frozen=True, slots=True)
class ResolveForm:
    """What the modal offers from the brief and its precedents, verbatim and in full, and what the record already
    says.
    """

    incident_id: str | None
    title: str
    known_fixes: tuple[SuggestedFix, ...] = ()
    usual_checks: tuple[str, ...] = ()
    record: Incident | None = None
    runbooks: tuple[Runbook, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordedResolution:
    """What was recorded."""

    incident: Incident
    summary: str
    # True if this submission had been recorded before (a retry).
    again: bool = False
    # Why it is not VERIFIED though the person saw it work, and who can confirm it.
    unconfirmed: str = ""
    # The attempts that were recorded already; they stay.
    before: tuple[Attempt, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolve:
    """Commit a resolution."""

    store: IncidentStore
    surfaces: Surfaces
    clock: Clock
    confirms: Callable[[str], Awaitable[Permission]] = confirm_anybody
    feedback: FeedbackStore | None = None

    async def open_form(self, incident_id: str) -> ResolveForm:
        """Return what the modal offers for this incident. Raises IncidentNotFound."""
        record = await self.store.read_record(incident_id)
        brief = await self._find_brief(incident_id)
        if brief is None:
            return ResolveForm(incident_id, record.title, record=record)
        past = await self._find_precedents(brief)
        groups = build_fix_groups(await self.feedback.list_fix_equivalences()) if self.feedback else None
        fixes, checks = suggest_fixes(brief, past, groups), suggest_checks(brief, past)
        return ResolveForm(incident_id, record.title, fixes, checks, record, suggest_runbooks(brief, past))

    async def find_suggested_fix(self, incident_id: str) -> str | None:
        """Return the fix that the incident's brief recommends, as the brief shows it; the form lists it first, in
        full.
        """
        brief = await self._find_brief(incident_id)
        return brief.recommendation.fix if brief and brief.recommendation else None

    async def _find_brief(self, incident_id: str) -> Brief | None:
        """Return the incident's brief; of several, one that recommends something."""
        briefs = await self.store.list_briefs(incident_id)
        first = briefs[0].brief if briefs else None
        return next((b.brief for b in briefs if b.brief.recommendation), first)

    async def _find_precedents(self, brief: Brief) -> list[Incident]:
        """Return the records of the brief's strong precedents, best first, as they are now."""
        found = await self.store.find_records([source.incident_id for source in brief.sources])
        return [found[source.incident_id] for source in brief.sources if source.incident_id in found]

    async def __call__(self, resolution: Resolution, by: str, once: str) -> RecordedResolution:
        """Record the resolution durably.

        `by` is the person's Slack id; `once` names this submission, so that a retry of it changes nothing. Raises
        RecordRejected (field, reason), IncidentNotFound, StoreUnavailable: nothing was saved then.
        """
        require_valid(resolution)
        resolution = mask_secrets(resolution)
        if resolution.outcome is FixOutcome.RECOVERED and not (confirmed := await self.confirms(by)).allowed:
            resolution = replace(resolution, unconfirmed=confirmed.refusal)
        return await retry_conflicts(CONFLICTS, partial(self._record, resolution, by, once))

    async def _record(self, resolution: Resolution, by: str, once: str) -> RecordedResolution:
        now = self.clock.now()
        life, before, posts = await self._find_subject(resolution, now)
        at = find_past_end(life) or now
        record, after = merge_resolution(before, resolution, by, at), resolve(life, at)
        if resolution.outcome is FixOutcome.NO and not posts:
            # A failed fix is remembered and ends nothing. A message from a past thread is about an incident that is over.
            record, after = replace(record, resolved_at=before.resolved_at), life
        summary = summarize(resolution)
        posted = await self.store.list_briefs(record.incident_id)
        briefs = tuple(replace(b, brief=add_lifecycle(b.brief, build_view(after))) for b in posted)
        threads = [(b.channel, b.root_ts) for b in briefs] or [(s.channel, s.ts) for s in posts]
        if not threads and resolution.thread:
            threads = [resolution.thread]
        message = self.surfaces.render_recorded(after, summary, by, list_changes(before, record))
        told = (_build_reply(after, thread, message, once) for thread in threads)
        edits = (build_brief_edit(b, self.surfaces.render_brief(b.brief)) for b in briefs)
        changes = Changes(
            lifecycles=(after,),
            records=(record,),
            recallable=frozenset({record.incident_id}),
            deliveries=(*told, *edits),
            briefs=briefs,
            posts=posts,
            once=f"resolve/{once}",
            bank_act=f"{record.incident_id}/{once}",
            audit=(AuditLine(by, "resolve", record.incident_id, format_record_change(before, record, summary)),),
            expected=(before,) if life.version else (),
        )
        new = await self.store.commit(changes)
        return RecordedResolution(record, summary, not new, resolution.unconfirmed, before.attempts if new else ())

    async def _find_subject(
        self, resolution: Resolution, now: datetime
    ) -> tuple[Lifecycle, Incident, tuple[IncidentPost, ...]]:
        if resolution.incident_id:
            record = await self.store.read_record(resolution.incident_id)
            return await self._find_lifecycle(record, now), record, ()
        subject = resolution.subject
        if subject is None:
            raise IncidentNotFound(
                "This is about no incident I know. Use the message menu on the alert: Record resolution."
            )
        if known := await self.store.find_incident(subject.channel.id, subject.ts):
            # somebody was faster: theirs is the incident of this message
            return await self._find_subject(replace(resolution, incident_id=known, subject=None), now)
        incident_id = await self.store.new_incident_id()
        life = Lifecycle(
            incident_id,
            subject.alert.fingerprint if subject.alert else f"message/{subject.channel.id}/{subject.ts}",
            subject.channel.visibility,
            IncidentState.OPEN,
            parse_ts(subject.ts) or now,
            now,
        )
        return (
            life,
            self._build_record(incident_id, subject, life.opened_at),
            (IncidentPost(subject.channel.id, subject.ts, incident_id),),
        )

    async def _find_lifecycle(self, record: Incident, now: datetime) -> Lifecycle:
        """Return the incident's lifecycle; an imported record has none yet, and gets one that ended when the record
        says.
        """
        try:
            return await self.store.read_lifecycle(record.incident_id)
        except IncidentNotFound:
            alert = record.alerts[0].fingerprint if record.alerts else None
            begun, ended = record.happened_at or now, record.resolved_at or record.happened_at or now
            known = alert or f"record/{record.incident_id}"
            visibility, state = record.source.visibility, IncidentState.RESOLVED
            return Lifecycle(record.incident_id, known, visibility, state, begun, begun, resolved_at=ended)

    def _build_record(self, incident_id: str, subject: Subject, at: datetime) -> Incident:
        source = Source("slack", subject.url, subject.channel.id, subject.channel.visibility)
        return open_record(incident_id, subject.title, at, source, subject.alert)


def _build_reply(life: Lifecycle, thread: tuple[str, str], message: ChatMessage, once: str) -> OutboxEntry:
    """Build the line in a thread that confirms what was recorded."""
    channel, root = thread
    delivery = build_recorded_id(once, channel)
    posting = Posting(
        Operation.POST, channel, delivery, message.text, message.blocks, thread_ts=root, incident_id=life.incident_id
    )
    return build_outbox_entry(posting, key=build_incident_key(channel, life.incident_id), urgent=True)


def list_changes(before: Incident, record: Incident) -> tuple[FieldChange, ...]:
    """Return what recording once more changed of the earlier record; nothing the first time.

    Attempts are added, never changed, so they are left out.
    """
    if before.resolved_at is None and not before.attempts:
        return ()
    return tuple(one for one in compare_records(before, record) if not one.field.startswith(ATTEMPT))


def require_valid(resolution: Resolution) -> None:
    """Raise RecordRejected, with the modal's field, for a resolution that cannot be recorded."""
    if resolution.outcome is not FixOutcome.BY_ITSELF and not (resolution.fix or "").strip():
        raise RecordRejected("fix", "Say what was done, or choose “cleared by itself”.")
    texts = {name: getattr(resolution, name) for name in RESOLUTION_TEXTS}
    texts["also"] = resolution.also[0] if resolution.also else None
    for name, most in {"fix": MAX_FIX, **dict.fromkeys(texts, MAX_TEXT)}.items():
        if len(texts.get(name, resolution.fix) or "") > most:
            raise RecordRejected(name, f"At most {most} characters; put the rest behind a link.")
    for failed in resolution.failed_checks:
        if failed.minutes is not None and not 0 <= failed.minutes <= 100_000:
            raise RecordRejected("failed_checks", f"“{failed.check[:60]}”: minutes must be between 0 and 100000.")


def mask_secrets(resolution: Resolution) -> Resolution:
    """Return the resolution with secrets masked: what people paste into a modal is stored and shown as long as the
    incident is.
    """
    checks = tuple(replace(c, check=mask(c.check)[0]) for c in resolution.failed_checks)
    subject = resolution.subject and replace(resolution.subject, title=mask(resolution.subject.title)[0])
    masked: dict[str, Any] = {name: _mask_text(getattr(resolution, name)) for name in RESOLUTION_TEXTS}
    after = replace(
        resolution,
        fix=_mask_text(resolution.fix),
        note=_mask_text(resolution.note),
        **masked,
        failed_checks=checks,
        subject=subject,
        also=(mask(resolution.also[0])[0], resolution.also[1]) if resolution.also else None,
    )
    return replace(after, warning=_build_warning(resolution, after))


def _build_warning(before: Resolution, after: Resolution) -> str:
    """Build the warning about secrets in what the person wrote, "" for none; those in the thread are still there."""
    written, there = (
        Counter(count_marks(_join_texts(after))),
        Counter(count_marks(after.subject.title) if after.subject else {}),
    )
    if after.how in TYPED:
        # a known fix that is chosen again may hold marks of old
        written -= Counter(count_marks(_join_texts(before)))
    return format_masked_note(written + there, "the thread" if there or after.how not in TYPED else None) or ""


def _join_texts(said: Resolution) -> str:
    also = said.also[0] if said.also else None
    checks = (failed.check for failed in said.failed_checks)
    texts = (getattr(said, name) for name in RESOLUTION_TEXTS)
    return "\n".join(filter(None, (said.fix, said.note, *texts, also, *checks)))


def _mask_text(text: str | None) -> str | None:
    return mask(text)[0] if text else text


def merge_resolution(before: Incident, resolution: Resolution, by: str, now: datetime) -> Incident:
    """Return the record with the resolution added; what the person left open stays as it was."""
    runbook = resolution.runbook
    missing = runbook is not None and runbook.id not in {r.id for r in before.runbooks}
    known = {normalize(c.check) for c in resolution.failed_checks}
    checks = tuple(c for c in before.failed_checks if normalize(c.check) not in known) + resolution.failed_checks
    texts = ((name, (getattr(resolution, name) or "").strip()) for name in RESOLUTION_TEXTS)
    return replace(
        before.replace_texts((name, text) for name, text in texts if text),
        attempts=(*before.attempts, *_build_attempts(resolution, by, now)),
        runbooks=(*before.runbooks, runbook) if runbook and missing else before.runbooks,
        failed_checks=checks,
        boundary=resolution.boundary if resolution.boundary is not Boundary.UNKNOWN else before.boundary,
        resolved_at=before.resolved_at or now,
    )


def _build_attempts(resolution: Resolution, by: str, now: datetime) -> Iterator[Attempt]:
    """Yield the reported fixes: first what else was tried, for the last attempt is the one that ended the incident."""
    how = resolution.how or ("button" if resolution.suggested else "modal")
    if resolution.also:
        yield Attempt(resolution.also[0].strip(), resolution.also[1], by=by, at=now, how=how)
    status = VerificationStatus.UNVERIFIED if resolution.unconfirmed else OUTCOME_STATUSES.get(resolution.outcome)
    if status and resolution.fix:
        runbook_id = resolution.runbook.id if resolution.runbook else None
        yield Attempt(
            resolution.fix.strip(), status, resolution.note, runbook_id, by, now, how, suggested=resolution.suggested
        )


def summarize(resolution: Resolution) -> str:
    """Return one line that says what was recorded."""
    first, *more = (resolution.fix or "").strip().splitlines() or [""]
    said = UNCONFIRMED if resolution.unconfirmed else OUTCOME_TEXTS[resolution.outcome]
    steps = f" (and {format_count(len(more), 'more step')})" if more else ""
    told = f"{said}: {first[:120]}{steps}" if first else said
    return f"{told}. {resolution.warning}" if resolution.warning else told
