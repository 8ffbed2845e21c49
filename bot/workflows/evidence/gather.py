"""Ask all sources of evidence at once, and complete a brief with what comes after its deadline, in one edit.

Must not hold up a recall, or a worker while sources are asked, and must not let one that hangs or fails cost more than its
own lines.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.domain.alerts.alert import Alert
from bot.domain.brief.decide import Brief, with_evidence
from bot.domain.brief.then_and_now import snapshot
from bot.domain.evidence.items import Evidence, Unavailable, in_order, is_pending
from bot.domain.incidents.record import Incident
from bot.domain.operations.load import Load
from bot.observability import get_logger, spawn
from bot.ports.clock import Clock
from bot.ports.delivery.inbox import Inbox, InboxRow
from bot.ports.delivery.outbox import EDIT_EVERY_S, build_brief_edit
from bot.ports.errors import EvidenceUnavailable, IncidentNotFound
from bot.ports.evidence import EvidenceProvider, GatheredEvidence
from bot.ports.incidents import IncidentStore
from bot.ports.posts import PostedBrief
from bot.ports.surfaces import Surfaces
from bot.ports.unit_of_work import Changes

DEADLINE_S, LATE_S = 2.0, 10.0
# A source that hung beyond the deadline and then failed is left alone for so long, then one alert tries it.
REST = timedelta(seconds=30)
LOOK_AGAIN_S, LOOK_SELDOM_S, UNDER_LOAD_S = 0.15, 2.0, 5.0
FORGOTTEN_AFTER_S = 120.0
BUSY = "not asked: many alerts at once"
log = get_logger("evidence")


@dataclass(frozen=True, slots=True)
class SourceState:
    """How a source answered last: `problem` None if it did. Since when is told by who watches what the bot depends on."""

    name: str
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class EvidenceRequest:
    """Sources that are being asked, by name. `until` is the deadline, and `begun` the start, in the loop's time."""

    at: datetime | None
    begun: float
    until: float
    deadline_s: float
    tasks: Sequence[tuple[EvidenceProvider, asyncio.Task[tuple[Evidence, ...]]]] = ()
    resting: tuple[Unavailable, ...] = ()
    not_asked: str | None = None

    @property
    def is_done(self) -> bool:
        """Whether every one has answered, or was given up."""
        return all(task.done() for _, task in self.tasks)

    async def collect(self) -> GatheredEvidence:
        """See the port."""
        left = self.until - asyncio.get_running_loop().time()
        if not self.is_done and left > 0:
            await asyncio.wait([task for _, task in self.tasks], timeout=left)
        return self.collect_now()

    async def wait_for_all(self) -> GatheredEvidence:
        """What they said in the end: they are given up after ten seconds."""
        if not self.is_done:
            await asyncio.wait([task for _, task in self.tasks])
        return self.collect_now()

    def collect_now(self) -> GatheredEvidence:
        """What is there now."""
        if self.not_asked:
            return GatheredEvidence(not_asked=self.not_asked)
        found = [item for provider, task in self.tasks for item in self._read_answer(provider, task)]
        return GatheredEvidence(self.at if self.tasks or self.resting else None, in_order((*found, *self.resting)))

    def _read_answer(
        self, provider: EvidenceProvider, task: asyncio.Task[tuple[Evidence, ...]]
    ) -> tuple[Evidence, ...]:
        if not task.done():
            reason = f"no answer within {self.deadline_s:g} s, still asked"
            return (replace(build_unavailable(provider, reason), pending=True),)
        if task.cancelled():
            return (build_unavailable(provider, "the bot was stopped meanwhile"),)
        if problem := task.exception():
            return (build_unavailable(provider, f"failed ({type(problem).__name__})"),)
        return task.result()


@dataclass(slots=True)
class GatherEvidence:
    """All sources. `deadline_s` is what a brief waits for them, `late_s` when they are given up; `load` is asked first, for
    while many alerts wait none is asked."""

    providers: Sequence[EvidenceProvider]
    clock: Clock
    deadline_s: float = DEADLINE_S
    late_s: float = LATE_S
    load: Callable[[], Load] = lambda: Load.FULL
    _asked: dict[str, EvidenceRequest] = field(default_factory=dict)
    _hung: dict[str, datetime] = field(default_factory=dict)
    _probed: set[str] = field(default_factory=set)
    _states: dict[str, SourceState] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """See the port."""
        return tuple(provider.name for provider in self.providers)

    def list_states(self) -> tuple[SourceState, ...]:
        """How each source that was asked answered last."""
        return tuple(self._states[name] for name in self.names if name in self._states)

    def ask(self, alert: Alert, name: str) -> EvidenceRequest:
        """See the port."""
        begun = asyncio.get_running_loop().time()
        for old in [k for k, a in self._asked.items() if a.is_done and begun - a.begun > FORGOTTEN_AFTER_S]:
            del self._asked[old]
        until = begun + self.deadline_s
        if self.providers and self.load() is not Load.FULL:
            return EvidenceRequest(None, begun, until, self.deadline_s, not_asked=BUSY)
        at = self.clock.now()
        awake = [p for p in self.providers if self._may_ask(p.name, at)]
        resting = tuple(self._build_resting(p) for p in self.providers if p not in awake)
        tasks = [(p, spawn(self._observe(p, alert, at), f"evidence-{p.name}")) for p in awake]
        asking = EvidenceRequest(at, begun, until, self.deadline_s, tasks, resting)
        self._asked[name] = asking
        return asking

    def resume(self, alert: Alert, name: str) -> EvidenceRequest:
        """What was asked under this name, or asked anew where nothing is known of it (the bot was started again)."""
        return self._asked.get(name) or self.ask(alert, name)

    def forget(self, name: str) -> None:
        """Nothing more is wanted of what was asked under this name."""
        self._asked.pop(name, None)

    def _may_ask(self, name: str, now: datetime) -> bool:
        """Whether a source is to be asked: one that hung rests, then a single question finds out whether it is back."""
        if name not in self._hung:
            return True
        if now - self._hung[name] < REST or name in self._probed:
            return False
        self._probed.add(name)
        return True

    def _build_resting(self, provider: EvidenceProvider) -> Unavailable:
        since = self._hung[provider.name]
        return build_unavailable(provider, f"no answer at {since:%H:%M:%S} UTC, tried again every {REST.seconds} s")

    async def _observe(self, provider: EvidenceProvider, alert: Alert, at: datetime) -> tuple[Evidence, ...]:
        """What one source says; given up after `late_s`. One that fails only after the deadline hung, too."""
        loop = asyncio.get_running_loop()
        begun, answered = loop.time(), False
        try:
            async with asyncio.timeout(self.late_s):
                found = tuple(await provider.observe(alert, at))
            answered = True
        except TimeoutError:
            answered = True
            return self._record_failure(provider, f"no answer within {self.late_s:g} s", hung=True)
        except EvidenceUnavailable as problem:
            answered = True
            return self._record_failure(provider, str(problem), hung=loop.time() - begun >= self.deadline_s)
        finally:
            self._probed.discard(provider.name)
            if not answered:  # an error that nobody foresaw, which is not to look as if all were well
                self._record_state(provider.name, "it failed; the log says how")
        self._hung.pop(provider.name, None)
        self._record_state(provider.name, None)
        return found

    def _record_failure(self, provider: EvidenceProvider, reason: str, *, hung: bool) -> tuple[Evidence, ...]:
        if hung:
            self._hung[provider.name] = self.clock.now()
        else:
            self._hung.pop(provider.name, None)
        log.warning("a source of evidence is not available", source=provider.name, reason=reason)
        self._record_state(provider.name, reason)
        return (build_unavailable(provider, reason),)

    def _record_state(self, name: str, problem: str | None) -> None:
        self._states[name] = SourceState(name, problem)


def build_unavailable(provider: EvidenceProvider, reason: str) -> Unavailable:
    """That a whole source cannot be seen."""
    return Unavailable(provider.kind, provider.name, provider.name, provider.name, reason)


@dataclass(frozen=True, slots=True)
class CompleteEvidence:
    """Works off what a brief is owed by its sources: one edit with all that they said, and the snapshot in the incident's
    record. While they are asked the row is put back, so that it holds no worker and survives a restart."""

    store: IncidentStore
    inbox: Inbox
    surfaces: Surfaces
    sources: GatherEvidence

    async def __call__(self, row: InboxRow) -> None:
        """Work one row off. Raises StoreUnavailable (StoreConflict: take it again)."""
        incident_id, name = str(row.body["incident_id"]), str(row.body["name"])
        posted = await self.store.list_briefs(incident_id)
        if not posted:
            self.sources.forget(name)
            await self.inbox.acknowledge(row)
            return
        asking = self.sources.resume(posted[0].brief.alert, name)
        if asking.not_asked and any(is_pending(p.brief.evidence) for p in posted):
            await self.inbox.retry_later(row, UNDER_LOAD_S, asking.not_asked)
        elif not asking.is_done:
            # ever more seldom, for each look costs the store a write
            delay_s = min(LOOK_SELDOM_S, LOOK_AGAIN_S * 1.6 ** min(row.attempts, 10))
            await self.inbox.retry_later(row, delay_s, "sources are being asked")
        else:
            await self._update_briefs(row, incident_id, posted, asking.collect_now())
            self.sources.forget(name)

    async def _update_briefs(
        self, row: InboxRow, incident_id: str, posted: Sequence[PostedBrief], said: GatheredEvidence
    ) -> None:
        told = [(p, _add_evidence(p.brief, said)) for p in posted]
        changed = tuple(replace(p, brief=brief) for p, brief in told if brief != p.brief)
        record = (await self.store.find_records((incident_id,))).get(incident_id)
        seen = _add_snapshot(record, said) if record else None
        try:
            life = await self.store.read_lifecycle(incident_id)
        except IncidentNotFound:
            await self.inbox.acknowledge(row)
            return
        await self.store.commit(
            Changes(
                # Written as it is, so that whoever changes the incident at the same moment is noticed.
                lives=(life,) if changed or seen else (),
                records=(seen,) if seen else (),
                expected=(record,) if record and seen else (),
                briefs=changed,
                owed=tuple(build_brief_edit(p, self.surfaces.render_brief(p.brief), EDIT_EVERY_S) for p in changed),
                done=row,
            )
        )


def _add_evidence(brief: Brief, said: GatheredEvidence) -> Brief:
    return brief if said.not_asked else with_evidence(brief, said.evidence, said.at)


def _add_snapshot(record: Incident, said: GatheredEvidence) -> Incident | None:
    """The record with what was seen; None where that adds nothing."""
    kept = snapshot(said.evidence, record.evidence)
    return replace(record, evidence=kept) if kept != dict(record.evidence) else None
