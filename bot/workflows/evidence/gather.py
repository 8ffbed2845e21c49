"""Ask all sources of evidence at once.

Must not delay a recall, or let a source that hangs or fails cost more than its own lines.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.domain.alerts.alert import Alert
from bot.domain.evidence.items import Evidence, Unavailable, sort_evidence
from bot.domain.operations.load import LoadShedding
from bot.observability import get_logger, spawn
from bot.ports.clock import Clock
from bot.ports.errors import EvidenceUnavailable
from bot.ports.evidence import EvidenceProvider, GatheredEvidence

DEADLINE_S, LATE_S = 2.0, 10.0
# A source that hung beyond the deadline and then failed is left alone for this long; then one alert tries it.
REST = timedelta(seconds=30)
# Answers that nobody fetched within this time are dropped.
FORGOTTEN_AFTER_S = 120.0
BUSY = "not asked: many alerts at once"
log = get_logger("evidence")


@dataclass(frozen=True, slots=True)
class SourceState:
    """How a source answered last. `WatchDependencies` knows since when."""

    name: str
    # None if it answered.
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class EvidenceRequest:
    """Several sources that are being asked. `begun` and `until` (the deadline) are in the loop's time."""

    at: datetime | None
    begun: float
    until: float
    deadline_s: float
    tasks: Sequence[tuple[EvidenceProvider, asyncio.Task[tuple[Evidence, ...]]]] = ()
    resting: tuple[Unavailable, ...] = ()
    not_asked: str | None = None

    @property
    def is_done(self) -> bool:
        """Return whether every source has answered, or was given up."""
        return all(task.done() for _, task in self.tasks)

    async def collect(self) -> GatheredEvidence:
        """See the port."""
        left = self.until - asyncio.get_running_loop().time()
        if not self.is_done and left > 0:
            await asyncio.wait([task for _, task in self.tasks], timeout=left)
        return self.collect_now()

    async def wait_for_all(self) -> GatheredEvidence:
        """Return what the sources answered in the end: they are given up after ten seconds."""
        if not self.is_done:
            await asyncio.wait([task for _, task in self.tasks])
        return self.collect_now()

    def collect_now(self) -> GatheredEvidence:
        """Return what has arrived so far."""
        if self.not_asked:
            return GatheredEvidence(not_asked=self.not_asked)
        found = [item for provider, task in self.tasks for item in self._read_answer(provider, task)]
        return GatheredEvidence(self.at if self.tasks or self.resting else None, sort_evidence((*found, *self.resting)))

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


@dataclass(slots=True, kw_only=True)
class GatherEvidence:
    """Ask all sources of evidence."""

    providers: Sequence[EvidenceProvider]
    clock: Clock
    # How long a brief waits for them.
    deadline_s: float = DEADLINE_S
    # When a source is given up.
    late_s: float = LATE_S
    # Asked first: under load no source is asked.
    load: Callable[[], LoadShedding] = lambda: LoadShedding.FULL
    _asked: dict[str, EvidenceRequest] = field(default_factory=dict)
    # Since when each source hangs, by name.
    _hung: dict[str, datetime] = field(default_factory=dict)
    # Sources that hung and are being tried again.
    _probed: set[str] = field(default_factory=set)
    _states: dict[str, SourceState] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """See the port."""
        return tuple(provider.name for provider in self.providers)

    def list_states(self) -> tuple[SourceState, ...]:
        """Return how each source that was asked answered last."""
        return tuple(self._states[name] for name in self.names if name in self._states)

    def ask(self, alert: Alert, name: str) -> EvidenceRequest:
        """See the port."""
        begun = asyncio.get_running_loop().time()
        for old in [k for k, a in self._asked.items() if a.is_done and begun - a.begun > FORGOTTEN_AFTER_S]:
            del self._asked[old]
        until = begun + self.deadline_s
        if self.providers and self.load() is not LoadShedding.FULL:
            return EvidenceRequest(None, begun, until, self.deadline_s, not_asked=BUSY)
        at = self.clock.now()
        awake = [p for p in self.providers if self._may_ask(p.name, at)]
        resting = tuple(self._build_resting(p) for p in self.providers if p not in awake)
        tasks = [(p, spawn(self._observe(p, alert, at), f"evidence-{p.name}")) for p in awake]
        asking = EvidenceRequest(at, begun, until, self.deadline_s, tasks, resting)
        self._asked[name] = asking
        return asking

    def resume(self, alert: Alert, name: str) -> EvidenceRequest:
        """Return the request of this name, or ask again if it is unknown (the bot was restarted)."""
        return self._asked.get(name) or self.ask(alert, name)

    def forget(self, name: str) -> None:
        """Drop the request of this name."""
        self._asked.pop(name, None)

    def _may_ask(self, name: str, now: datetime) -> bool:
        """Return whether to ask a source: one that hung rests, and then a single request finds out whether it is
        back.
        """
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
        """Return what one source says within `late_s`. One that fails after the deadline hung, too."""
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
            if not answered:  # an unforeseen error must not look as if all were well
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
    """Build the line that says that a whole source is unavailable."""
    return Unavailable(provider.kind, provider.name, provider.name, provider.name, reason)
