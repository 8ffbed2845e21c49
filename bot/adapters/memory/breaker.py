"""A circuit breaker: a bank that is down costs the first alerts their wait, and then no other until it may be back.

Must not know what a bank does. The state is pure (`Circuit` and its functions); `GuardedBank` holds it. Reads and
writes have a circuit each: a slow write must not keep a reader from asking.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.domain.access.visibility import Viewer
from bot.domain.incidents.record import Incident
from bot.domain.recall.query import OPERATOR, Query
from bot.ports.clock import Clock
from bot.ports.errors import MemoryRejected, MemoryUnavailable
from bot.ports.memory import BankHit, MemoryBank

FAILURES = 2
FIRST_WAIT_S, LONGEST_WAIT_S = 5.0, 60.0
RECALL_S = 3.0


@dataclass(frozen=True, slots=True)
class Circuit:
    """The state of a breaker: closed while `open_until` is None; open until then; half-open afterwards, when one probe
    is let through."""

    failures: int = 0  # in a row
    open_until: datetime | None = None
    probe_until: datetime | None = None  # the probe's own deadline
    reason: str = ""  # of the latest failure


def admit_call(circuit: Circuit, now: datetime, probe_s: float) -> Circuit | None:
    """Return the circuit with this call on its way, or None if the call must not be made."""
    if circuit.open_until is None:
        return circuit
    probing = circuit.probe_until is not None and now < circuit.probe_until
    if now < circuit.open_until or probing:
        return None
    return replace(circuit, probe_until=now + timedelta(seconds=probe_s))


def note_failure(circuit: Circuit, now: datetime, reason: str) -> Circuit:
    """Return the circuit after a failure: it opens after some in a row, then for twice as long after each failed probe."""
    failures = circuit.failures + 1
    wait_s = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2.0 ** min(failures - FAILURES, 16))
    return Circuit(failures, now + timedelta(seconds=wait_s) if failures >= FAILURES else None, None, reason)


@dataclass(slots=True)
class GuardedBank:
    """A MemoryBank behind two circuits."""

    bank: MemoryBank
    clock: Clock
    recall_s: float = RECALL_S  # what a recall may take; writes keep the bank's own deadlines
    write_s: float = 30.0
    reading: Circuit = field(default_factory=Circuit)
    writing: Circuit = field(default_factory=Circuit)

    async def retain(self, incident: Incident) -> None:
        """See the port. Raises MemoryUnavailable at once while the circuit is open."""
        async with self._write():
            await self.bank.retain(incident)

    async def retract(self, incident_id: str) -> None:
        """See the port. Raises MemoryUnavailable at once while the circuit is open."""
        async with self._write():
            await self.bank.retract(incident_id)

    async def recall(self, query: Query, limit: int, viewer: Viewer = OPERATOR) -> tuple[BankHit, ...]:
        """See the port. Raises MemoryUnavailable at once while the circuit is open."""
        self.reading = self._admit(self.reading, self.recall_s)
        try:
            async with asyncio.timeout(self.recall_s):
                hits = await self.bank.recall(query, limit, viewer)
        except (MemoryUnavailable, TimeoutError) as problem:
            reason = str(problem) or f"The memory bank did not answer within {self.recall_s:g} s."
            self.reading = note_failure(self.reading, self.clock.now(), reason)
            raise MemoryUnavailable(reason) from None
        except MemoryRejected:
            self.reading = Circuit()
            raise
        self.reading = Circuit()
        return hits

    @asynccontextmanager
    async def _write(self) -> AsyncIterator[None]:
        self.writing = self._admit(self.writing, self.write_s)
        try:
            yield
        except MemoryUnavailable as problem:
            self.writing = note_failure(self.writing, self.clock.now(), str(problem))
            raise
        except MemoryRejected:
            self.writing = Circuit()
            raise
        self.writing = Circuit()

    def _admit(self, circuit: Circuit, probe_s: float) -> Circuit:
        admitted = admit_call(circuit, self.clock.now(), probe_s)
        if admitted is None:
            raise MemoryUnavailable(f"{circuit.reason} It is not asked again for a while.")
        return admitted
