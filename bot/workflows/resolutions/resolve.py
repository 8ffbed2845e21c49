"""Record what fixed an incident: one durable commit, then the thread is told.

Must not render anything itself, and must not call Slack: what is owed goes through the outbox.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from bot.domain.access.roles import Permission, Verifiers, may_verify
from bot.domain.alerts.alert import Alert
from bot.domain.brief.decide import Brief, with_life
from bot.domain.fixes.grouping import filed_of
from bot.domain.incidents.corrections import ATTEMPT, Difference, differences
from bot.domain.incidents.lifecycle import IncidentState, Life, past_end, resolve
from bot.domain.incidents.opening import opened_record, posted_at, view_of
from bot.domain.incidents.record import Attempt, Boundary, FailedCheck, Incident, Runbook, Source, VerificationStatus
from bot.domain.resolutions.suggestions import KnownFix, known_fixes, known_runbooks, usual_checks
from bot.domain.text.names import counted
from bot.domain.text.redaction import marks, mask, masked_note
from bot.domain.text.tokens import normalise
from bot.ports import ChatRejected, ChatUnavailable, IncidentNotFound, RecordRejected, StoreConflict
from bot.ports.channels import People
from bot.ports.chat import Channel, Message, Posting, Surfaces
from bot.ports.clock import Clock
from bot.ports.feedback import SaidStore
from bot.ports.parts import brief_edit, owed
from bot.ports.unit_of_work import Changes, Destination, IncidentStore, Owed, SeenPost
from bot.records.incident_json import record_changed


class Outcome(StrEnum):
    """The answer to "did it fix it?"."""

    RECOVERED = "recovered"
    PARTLY = "partly"
    NO = "no"
    BY_ITSELF = "by_itself"
    NOT_SURE = "not_sure"


STATUS_OF = {
    Outcome.RECOVERED: VerificationStatus.VERIFIED,
    Outcome.PARTLY: VerificationStatus.PARTIAL,
    Outcome.NO: VerificationStatus.FAILED,
    Outcome.NOT_SURE: VerificationStatus.UNVERIFIED,
}
SAID = {
    Outcome.RECOVERED: "it fixed it, recovery seen",
    Outcome.PARTLY: "it helped partly",
    Outcome.NO: "it did not fix it",
    Outcome.BY_ITSELF: "it cleared by itself",
    Outcome.NOT_SURE: "outcome not sure",
}
MAX_TEXT = 3000
MAX_FIX = 20_000  # a known one may be longer than what can be typed
# How a resolution is told where its words come from a modal or a button, and not from a message.
TYPED = frozenset({"", "button"})
CONFLICTS = 5
UNKNOWN_PERSON = "It counts as not verified yet, for Slack does not tell me now who you are. Record it once more later."
UNCONFIRMED = "said to have fixed it, to be confirmed"


@dataclass(frozen=True, slots=True)
class Subject:
    """The message that a resolution is about, where no incident was opened for it (a past thread, an unread post)."""

    channel: Channel
    ts: str
    title: str
    alert: Alert | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a person said in the modal. Exactly one of `incident_id` and `subject` is given.

    `fix` is what was done, verbatim, steps on lines of their own; None only with BY_ITSELF. `thread` (channel, ts) is
    where it is told if the incident has no brief anywhere. `unconfirmed`: why a recovery does not count as VERIFIED.
    `runbook`: the named procedure that the fix is. `how` says by what it was told; "" for the modal and its buttons.
    `also`: another fix that was tried, and what came of it. `warning`: what they are told of secrets that they wrote.
    """

    outcome: Outcome
    incident_id: str | None = None
    subject: Subject | None = None
    fix: str | None = None
    note: str | None = None
    root_cause: str | None = None
    boundary: Boundary = Boundary.UNKNOWN
    failed_checks: tuple[FailedCheck, ...] = ()
    lesson: str | None = None
    customer_impact: str | None = None
    suggested: bool = False
    unconfirmed: str = ""
    thread: tuple[str, str] | None = None
    runbook: Runbook | None = None
    how: str = ""
    also: tuple[str, VerificationStatus] | None = None
    warning: str = ""


@dataclass(frozen=True, slots=True)
class ResolveForm:
    """What the modal offers: fixes, checks and runbooks that brief and precedents know (verbatim and in full), and what
    the record already says."""

    incident_id: str | None
    title: str
    known_fixes: tuple[KnownFix, ...] = ()
    usual_checks: tuple[str, ...] = ()
    record: Incident | None = None
    runbooks: tuple[Runbook, ...] = ()


@dataclass(frozen=True, slots=True)
class Recorded:
    """What was recorded. `again` is true where this very submission had been recorded before (a retry). `unconfirmed`:
    why it is not VERIFIED though the person saw it work, and who can confirm it. `before`: the attempts that were
    recorded already; they are kept."""

    incident: Incident
    summary: str
    again: bool = False
    unconfirmed: str = ""
    before: tuple[Attempt, ...] = ()


async def anybody(_user_id: str) -> Permission:
    """Where nothing is set about who confirms."""
    return Permission(True)


@dataclass(frozen=True, slots=True)
class Confirming:
    """Asks whether what a person saw work counts as VERIFIED."""

    people: People
    verifiers: Verifiers

    async def __call__(self, user_id: str) -> Permission:
        """Whether it does. Where Slack does not say who they are it does not: what they say is kept all the same."""
        try:
            return may_verify(await self.people.person(user_id), self.verifiers)
        except (ChatRejected, ChatUnavailable):
            return Permission(False, UNKNOWN_PERSON)


@dataclass(frozen=True, slots=True)
class Resolve:
    """Commit a resolution. `owes_bank`: a remote bank is fed through the outbox (the embedded one needs nothing)."""

    store: IncidentStore
    surfaces: Surfaces
    clock: Clock
    owes_bank: bool = False
    confirms: Callable[[str], Awaitable[Permission]] = anybody
    said: SaidStore | None = None

    async def form(self, incident_id: str) -> ResolveForm:
        """What the modal offers for this incident; raises IncidentNotFound."""
        record = await self.store.record(incident_id)
        brief = await self._brief(incident_id)
        if brief is None:
            return ResolveForm(incident_id, record.title, record=record)
        past = await self._precedents(brief)
        filed = filed_of(await self.said.fixes_said()) if self.said else None
        fixes, checks = known_fixes(brief, past, filed), usual_checks(brief, past)
        return ResolveForm(incident_id, record.title, fixes, checks, record, known_runbooks(brief, past))

    async def suggested_fix(self, incident_id: str) -> str | None:
        """The fix that the incident's brief recommends, as the brief shows it; the form has it first, in full."""
        brief = await self._brief(incident_id)
        return brief.recommendation.fix if brief and brief.recommendation else None

    async def _brief(self, incident_id: str) -> Brief | None:
        """The incident's brief; of several one that recommends something."""
        briefs = await self.store.briefs(incident_id)
        first = briefs[0].brief if briefs else None
        return next((b.brief for b in briefs if b.brief.recommendation), first)

    async def _precedents(self, brief: Brief) -> list[Incident]:
        """The records of the brief's strong precedents, best first, as they are now."""
        found = await self.store.find([source.incident_id for source in brief.sources])
        return [found[source.incident_id] for source in brief.sources if source.incident_id in found]

    async def __call__(self, resolution: Resolution, by: str, once: str) -> Recorded:
        """Record it durably. `by` is the person's Slack id; `once` names this submission, so that a retry of it changes
        nothing. Raises RecordRejected (field, reason), IncidentNotFound, StoreUnavailable: then nothing was saved."""
        check(resolution)
        resolution = masked(resolution)
        if resolution.outcome is Outcome.RECOVERED and not (confirmed := await self.confirms(by)).allowed:
            resolution = replace(resolution, unconfirmed=confirmed.refusal)
        for _ in range(CONFLICTS):
            try:
                return await self._record(resolution, by, once)
            except StoreConflict:
                continue
        return await self._record(resolution, by, once)

    async def _record(self, resolution: Resolution, by: str, once: str) -> Recorded:
        now = self.clock.now()
        life, before, seen = await self._what(resolution, now)
        at = past_end(life) or now
        record, after = merged(before, resolution, by, at), resolve(life, at)
        if resolution.outcome is Outcome.NO and not seen:
            # A fix that failed is remembered and ends nothing; of what is told afterwards, the end is past.
            record, after = replace(record, resolved_at=before.resolved_at), life
        summary = summarise(resolution)
        posted = await self.store.briefs(record.incident_id)
        briefs = tuple(replace(b, brief=with_life(b.brief, view_of(after))) for b in posted)
        threads = [(b.channel, b.root_ts) for b in briefs] or [(s.channel, s.ts) for s in seen]
        if not threads and resolution.thread:
            threads = [resolution.thread]
        message = self.surfaces.recorded(after, summary, by, added(before, record))
        told = (_told(after, thread, message, once) for thread in threads)
        edits = (brief_edit(b, self.surfaces.brief(b.brief)) for b in briefs)
        changes = Changes(
            lives=(after,),
            records=(record,),
            recallable=frozenset({record.incident_id}),
            owed=(*told, *edits, *self._retained(record, once)),
            briefs=briefs,
            seen_posts=seen,
            once=f"resolve/{once}",
            audit=((by, "resolve", record.incident_id, record_changed(before, record, summary)),),
            expected=(before,) if life.version else (),
        )
        new = await self.store.commit(changes)
        return Recorded(record, summary, not new, resolution.unconfirmed, before.attempts if new else ())

    async def _what(self, resolution: Resolution, now: datetime) -> tuple[Life, Incident, tuple[SeenPost, ...]]:
        if resolution.incident_id:
            record = await self.store.record(resolution.incident_id)
            return await self._life(record, now), record, ()
        subject = resolution.subject
        if subject is None:
            raise IncidentNotFound(
                "This is about no incident I know. Use the message menu on the alert: Record resolution."
            )
        if known := await self.store.incident_at(subject.channel.id, subject.ts):
            # somebody was faster: theirs is the incident of this message
            return await self._what(replace(resolution, incident_id=known, subject=None), now)
        incident_id = await self.store.new_incident_id()
        life = Life(
            incident_id,
            subject.alert.fingerprint if subject.alert else f"message/{subject.channel.id}/{subject.ts}",
            subject.channel.visibility,
            IncidentState.OPEN,
            posted_at(subject.ts) or now,
            now,
        )
        return (
            life,
            self._opened(incident_id, subject, life.opened_at),
            (SeenPost(subject.channel.id, subject.ts, incident_id),),
        )

    async def _life(self, record: Incident, now: datetime) -> Life:
        """The incident's life; an imported record has none yet and gets one that ended when the record says."""
        try:
            return await self.store.life(record.incident_id)
        except IncidentNotFound:
            alert = record.alerts[0].fingerprint if record.alerts else None
            begun, ended = record.happened_at or now, record.resolved_at or record.happened_at or now
            known = alert or f"record/{record.incident_id}"
            visibility, state = record.source.visibility, IncidentState.RESOLVED
            return Life(record.incident_id, known, visibility, state, begun, begun, resolved_at=ended)

    def _opened(self, incident_id: str, subject: Subject, at: datetime) -> Incident:
        source = Source("slack", subject.url, subject.channel.id, subject.channel.visibility)
        return opened_record(incident_id, subject.title, at, source, subject.alert)

    def _retained(self, record: Incident, once: str) -> tuple[Owed, ...]:
        if not self.owes_bank:
            return ()
        payload = {"incident_id": record.incident_id}
        return (Owed(Destination.BANK, "retain", record.incident_id, f"retain/{record.incident_id}/{once}", payload),)


def _told(life: Life, thread: tuple[str, str], message: Message, once: str) -> Owed:
    """The line in a thread that says what was recorded."""
    channel, root = thread
    delivery = f"recorded/{once}/{channel}"
    posting = Posting(
        "post", channel, delivery, message.text, message.blocks, thread_ts=root, incident_id=life.incident_id
    )
    return owed(posting, key=f"{channel}/{life.incident_id}", urgent=True)


def added(before: Incident, record: Incident) -> tuple[Difference, ...]:
    """What recording once more changed of what the record said before; nothing where it is recorded for the first time.
    Attempts are added, never changed."""
    if before.resolved_at is None and not before.attempts:
        return ()
    return tuple(one for one in differences(before, record) if not one.field.startswith(ATTEMPT))


def check(resolution: Resolution) -> None:
    """Refuse what cannot be recorded, naming the modal's field; raises RecordRejected."""
    if resolution.outcome is not Outcome.BY_ITSELF and not (resolution.fix or "").strip():
        raise RecordRejected("fix", "Say what was done, or choose “cleared by itself”.")
    texts = {name: getattr(resolution, name) for name in ("root_cause", "lesson", "customer_impact")}
    texts["also"] = resolution.also[0] if resolution.also else None
    for name, most in {"fix": MAX_FIX, **dict.fromkeys(texts, MAX_TEXT)}.items():
        if len(texts.get(name, resolution.fix) or "") > most:
            raise RecordRejected(name, f"At most {most} characters; put the rest behind a link.")
    for failed in resolution.failed_checks:
        if failed.minutes is not None and not 0 <= failed.minutes <= 100_000:
            raise RecordRejected("failed_checks", f"“{failed.check[:60]}”: minutes must be between 0 and 100000.")


def masked(resolution: Resolution) -> Resolution:
    """The same with secrets masked: what people paste into a modal is kept and shown as long as the incident is."""
    checks = tuple(replace(c, check=mask(c.check)[0]) for c in resolution.failed_checks)
    subject = resolution.subject and replace(resolution.subject, title=mask(resolution.subject.title)[0])
    after = replace(
        resolution,
        fix=_masked(resolution.fix),
        note=_masked(resolution.note),
        root_cause=_masked(resolution.root_cause),
        lesson=_masked(resolution.lesson),
        customer_impact=_masked(resolution.customer_impact),
        failed_checks=checks,
        subject=subject,
        also=(mask(resolution.also[0])[0], resolution.also[1]) if resolution.also else None,
    )
    return replace(after, warning=_warning(resolution, after))


def _warning(before: Resolution, after: Resolution) -> str:
    """What the person is told of secrets in what they wrote, "" for none: what stood in the thread stands there still."""
    written, there = Counter(marks(_texts(after))), Counter(marks(after.subject.title) if after.subject else {})
    if after.how in TYPED:
        # a known fix that is chosen again may hold marks of old
        written -= Counter(marks(_texts(before)))
    return masked_note(written + there, "the thread" if there or after.how not in TYPED else None) or ""


def _texts(said: Resolution) -> str:
    also = said.also[0] if said.also else None
    checks = (failed.check for failed in said.failed_checks)
    return "\n".join(
        filter(None, (said.fix, said.note, said.root_cause, said.lesson, said.customer_impact, also, *checks))
    )


def _masked(text: str | None) -> str | None:
    return mask(text)[0] if text else text


def merged(before: Incident, resolution: Resolution, by: str, now: datetime) -> Incident:
    """The record with what the person said added; what they left open stays as it was."""
    runbook = resolution.runbook
    missing = runbook is not None and runbook.id not in {r.id for r in before.runbooks}
    known = {normalise(c.check) for c in resolution.failed_checks}
    checks = tuple(c for c in before.failed_checks if normalise(c.check) not in known) + resolution.failed_checks
    return replace(
        before,
        attempts=(*before.attempts, *_attempts(resolution, by, now)),
        runbooks=(*before.runbooks, runbook) if runbook and missing else before.runbooks,
        failed_checks=checks,
        root_cause=(resolution.root_cause or "").strip() or before.root_cause,
        boundary=resolution.boundary if resolution.boundary is not Boundary.UNKNOWN else before.boundary,
        lesson=(resolution.lesson or "").strip() or before.lesson,
        customer_impact=(resolution.customer_impact or "").strip() or before.customer_impact,
        resolved_at=before.resolved_at or now,
    )


def _attempts(resolution: Resolution, by: str, now: datetime) -> Iterator[Attempt]:
    """The fixes that the person tells of: first what else was tried, for the last attempt is the one that ended it."""
    how = resolution.how or ("button" if resolution.suggested else "modal")
    if resolution.also:
        yield Attempt(resolution.also[0].strip(), resolution.also[1], by=by, at=now, how=how)
    status = VerificationStatus.UNVERIFIED if resolution.unconfirmed else STATUS_OF.get(resolution.outcome)
    if status and resolution.fix:
        runbook_id = resolution.runbook.id if resolution.runbook else None
        yield Attempt(
            resolution.fix.strip(), status, resolution.note, runbook_id, by, now, how, suggested=resolution.suggested
        )


def summarise(resolution: Resolution) -> str:
    """One line that says what was recorded."""
    first, *more = (resolution.fix or "").strip().splitlines() or [""]
    said = UNCONFIRMED if resolution.unconfirmed else SAID[resolution.outcome]
    steps = f" (and {counted(len(more), 'more step')})" if more else ""
    told = f"{said}: {first[:120]}{steps}" if first else said
    return f"{told}. {resolution.warning}" if resolution.warning else told
