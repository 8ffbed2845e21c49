"""Report how the bot is doing: what it depends on, reachable or not, in words for people. Must not repair anything."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.domain.access.visibility import Viewer
from bot.domain.operations.dependency import Dependency, describe_dependency
from bot.domain.recall.query import OPERATOR
from bot.ports.alerts.brief_timings import BriefTimingStore
from bot.ports.clock import Clock
from bot.ports.delivery.outbox import Outbox
from bot.ports.delivery.outbox_admin import InboxAdmin
from bot.ports.errors import StoreUnavailable
from bot.ports.memory import BankStatus, RecordIndex, RemoteBank
from bot.ports.upkeep.health import StoreHealth

LAST_ALERTS_DAYS, LAST_ALERTS = 30, 8
SHADOW_MODE = "Shadow mode"


@dataclass(frozen=True, slots=True)
class StatusLine:
    """The state of one dependency."""

    name: str
    # None if it is not configured, which is fine.
    ok: bool | None
    detail: str
    # Channels with the time of their last alert.
    channels: tuple[tuple[str, datetime], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportStatus:
    """Report the state of store, memory, outbox, model and evidence."""

    health: StoreHealth
    outbox: Outbox
    index: RecordIndex
    clock: Clock
    memory: str
    model: str
    version: str
    events: InboxAdmin | None = None
    paused: Callable[[], Mapping[str, str]] = dict
    bank: RemoteBank | None = None
    watched: Callable[[], Mapping[str, Dependency]] = dict
    traces: BriefTimingStore | None = None
    sources: tuple[str, ...] | None = None
    shadow: Callable[[], Awaitable[tuple[bool, str]]] | None = None

    async def __call__(self, viewer: Viewer = OPERATOR) -> tuple[StatusLine, ...]:
        """Return one line for each dependency, how long it has been so, and the last alert of each channel.

        Never raises: a store that is down is a line, too.
        """
        lines, watched, now = await self._list_lines(viewer), self.watched(), self.clock.now()
        names = {line.name for line in lines}
        others = tuple(
            StatusLine(
                name,
                d.problem is None,
                f"answers {describe_dependency(d, now)}" if d.problem is None else describe_dependency(d, now),
            )
            for name, d in watched.items()
            if name not in names
        )
        since = tuple(_add_since(line, watched.get(line.name), now) for line in lines)
        unasked = _list_unasked(self.sources, watched) if self.sources is not None else ()
        mode = (StatusLine(SHADOW_MODE, *await self.shadow()),) if self.shadow else ()
        return (*mode, *since[:1], *others, *unasked, *since[1:])

    async def _list_lines(self, viewer: Viewer) -> tuple[StatusLine, ...]:
        store = await self.health.read_status()
        line = StatusLine("Store", store.writable, store.problem or f"writable, schema {store.schema}")
        if not store.writable:
            return (line, StatusLine("Version", True, self.version))
        try:
            count = await self.index.count_records(viewer)
            counts = await self.outbox.count_rows()
            oldest = await self.outbox.find_oldest_pending()
            events = await self.events.count_rows() if self.events else {}
            alerts = await self._list_last_alerts(viewer)
        except StoreUnavailable as problem:
            return (line, StatusLine("Memory", False, str(problem)))
        remote = (format_bank(await self.bank.read_status()),) if self.bank else ()
        return (
            line,
            StatusLine("Memory", True, f"{self.memory}, {count} incidents"),
            *remote,
            format_outbox(counts, oldest, self.clock.now()),
            *format_paused(self.paused()),
            format_inbox(events),
            *alerts,
            StatusLine("Model", None if self.model == "off" else True, self.model),
            StatusLine("Version", True, self.version),
        )

    async def _list_last_alerts(self, viewer: Viewer) -> tuple[StatusLine, ...]:
        if self.traces is None:
            return ()
        since = self.clock.now() - timedelta(days=LAST_ALERTS_DAYS)
        alerts = await self.traces.list_last_alerts(viewer, since, LAST_ALERTS)
        none = f"none in {LAST_ALERTS_DAYS} days"
        return (StatusLine("Last alerts", True if alerts else None, "" if alerts else none, alerts),)


def name_source(source: str) -> str:
    """Return the name of a source of evidence in the status."""
    return f"Evidence: {source}"


def _list_unasked(sources: tuple[str, ...], watched: Mapping[str, Dependency]) -> tuple[StatusLine, ...]:
    """Return the configured sources that no alert has needed yet; or that there are none."""
    if not sources:
        return (StatusLine("Evidence", None, "no source is configured"),)
    names = (name_source(source) for source in sources)
    return tuple(StatusLine(name, None, "not asked since the start") for name in names if name not in watched)


def _add_since(line: StatusLine, dependency: Dependency | None, now: datetime) -> StatusLine:
    """Add how long it has been so, if that is known and agrees with the line."""
    if dependency is None or line.ok is not (dependency.problem is None):
        return line
    lasted = describe_dependency(dependency, now)
    if dependency.problem is not None:
        lasted = f"for {lasted.removeprefix('down for ').partition(':')[0]}"
    return replace(line, detail=f"{line.detail}, {lasted}")


def format_bank(status: BankStatus) -> StatusLine:
    """Format the remote bank: reachable, which version, and its latest failure, which may be over by now."""
    if status.problem:
        return StatusLine("Hindsight", False, f"{status.problem} The local index answers.")
    latest = (
        f", latest failure {status.last_error_at:%Y-%m-%d %H:%M} UTC: {status.last_error}"
        if status.last_error_at
        else ""
    )
    return StatusLine("Hindsight", True, f"version {status.version}, bank {status.bank}{latest}")


def format_outbox(counts: Mapping[str, int], oldest: datetime | None, now: datetime) -> StatusLine:
    """Format the outbox: fine while nothing has waited for more than five minutes and nothing was refused."""
    rows = dict(counts)
    waiting = sum(n for state, n in rows.items() if state.endswith((".pending", ".sending")))
    dead = sum(n for state, n in rows.items() if state.endswith(".dead"))
    minutes = (now - oldest).total_seconds() / 60 if oldest else 0.0
    detail = (
        f"{waiting} waiting"
        + (f", oldest {minutes:.0f} min" if waiting else "")
        + (f", {dead} refused: see `precedent outbox list`" if dead else "")
    )
    return StatusLine("Outbox", minutes < 5 and dead == 0, detail)


def format_paused(paused: Mapping[str, str]) -> tuple[StatusLine, ...]:
    """Format one line for each destination that refuses the bot: everything for it waits."""
    return tuple(
        StatusLine(f"Delivery to {name}", False, f"paused, tried again every minute: {reason}")
        for name, reason in paused.items()
    )


def format_inbox(counts: Mapping[str, int]) -> StatusLine:
    """Format the inbox: fine while no event was given up."""
    waiting, dead = counts.get("pending", 0) + counts.get("working", 0), counts.get("dead", 0)
    given_up = f", {dead} given up: see `precedent inbox list`" if dead else ""
    return StatusLine("Inbox", dead == 0, f"{waiting} waiting{given_up}")
