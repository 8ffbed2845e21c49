"""How the bot is doing: what it depends on, reachable or not, in words for people. Must not repair anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from bot.domain.query import OPERATOR, Viewer
from bot.ports import StoreUnavailable
from bot.ports.clock import Clock
from bot.ports.desk import InboxDesk
from bot.ports.memory import BankStatus, Index, RemoteBank
from bot.ports.store import Outbox, StoreHealth


@dataclass(frozen=True, slots=True)
class StatusLine:
    """One dependency. `ok` None: not configured, which is fine."""

    name: str
    ok: bool | None
    detail: str


@dataclass(frozen=True, slots=True)
class ReportStatus:
    """The state of store, memory, what is owed, model and evidence."""

    health: StoreHealth
    outbox: Outbox
    index: Index
    clock: Clock
    memory: str
    model: str
    version: str
    events: InboxDesk | None = None
    paused: Callable[[], Mapping[str, str]] = dict
    bank: RemoteBank | None = None

    async def __call__(self, viewer: Viewer = OPERATOR) -> tuple[StatusLine, ...]:
        """One line for each dependency. Never raises: a store that is down is a line, too."""
        store = await self.health.status()
        line = StatusLine("Store", store.writable, store.problem or f"writable, schema {store.schema}")
        if not store.writable:
            return (line, StatusLine("Version", True, self.version))
        try:
            known = await self.index.known(viewer)
            counts = await self.outbox.counts()
            oldest = await self.outbox.oldest_pending_at()
            events = await self.events.counts() if self.events else {}
        except StoreUnavailable as problem:
            return (line, StatusLine("Memory", False, str(problem)))
        remote = (bank_line(await self.bank.status()),) if self.bank else ()
        return (
            line,
            StatusLine("Memory", True, f"{self.memory}, {known} incidents"),
            *remote,
            owed_line(counts, oldest, self.clock.now()),
            *paused_lines(self.paused()),
            events_line(events),
            StatusLine("Model", None if self.model == "off" else True, self.model),
            StatusLine("Version", True, self.version),
        )


def bank_line(status: BankStatus) -> StatusLine:
    """The remote bank: reachable, which version, and its latest failure, which may be mended since."""
    if status.problem:
        return StatusLine("Hindsight", False, f"{status.problem} The local index answers.")
    latest = (
        f", latest failure {status.last_error_at:%Y-%m-%d %H:%M} UTC: {status.last_error}"
        if status.last_error_at
        else ""
    )
    return StatusLine("Hindsight", True, f"version {status.version}, bank {status.bank}{latest}")


def owed_line(counts: Mapping[str, int], oldest: datetime | None, now: datetime) -> StatusLine:
    """What is owed outside: fine while nothing waits for more than five minutes and nothing was refused."""
    rows = dict(counts)
    waiting = sum(n for state, n in rows.items() if state.endswith((".pending", ".sending")))
    dead = sum(n for state, n in rows.items() if state.endswith(".dead"))
    minutes = (now - oldest).total_seconds() / 60 if oldest else 0.0
    said = (
        f"{waiting} waiting"
        + (f", oldest {minutes:.0f} min" if waiting else "")
        + (f", {dead} refused: see `precedent outbox list`" if dead else "")
    )
    return StatusLine("Outbox", minutes < 5 and dead == 0, said)


def paused_lines(paused: Mapping[str, str]) -> tuple[StatusLine, ...]:
    """One line for each destination that refuses the bot: what is owed there waits."""
    return tuple(
        StatusLine(f"Delivery to {name}", False, f"paused, tried again every minute: {reason}")
        for name, reason in paused.items()
    )


def events_line(counts: Mapping[str, int]) -> StatusLine:
    """What Slack sent and is not worked off: fine while nothing was given up."""
    waiting, dead = counts.get("pending", 0) + counts.get("working", 0), counts.get("dead", 0)
    given_up = f", {dead} given up: see `precedent inbox list`" if dead else ""
    return StatusLine("Inbox", dead == 0, f"{waiting} waiting{given_up}")
