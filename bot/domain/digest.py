"""The digest: what recurs in a period (design 7). Must not fetch, schedule or render."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.domain.incident import Incident
from bot.domain.lifecycle import Life


@dataclass(frozen=True, slots=True)
class RecurringFamily:
    """One family of incidents that came more than once in the period."""

    title: str
    service: str | None
    vendor: str | None
    times: int
    times_before: int
    minutes: float | None
    unrecorded: int
    workaround: str | None
    workaround_times: int
    incidents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Digest:
    """What a period brought. `period` names it for people ("week of 2026-11-23")."""

    period: str
    since: datetime
    until: datetime
    incidents: int
    resolved: int
    unrecorded: int
    families: tuple[RecurringFamily, ...] = ()


def compose(
    records: Sequence[Incident], lives: Sequence[Life], since: datetime, until: datetime, period: str
) -> Digest:
    """The digest of [since, until)."""
    raise NotImplementedError
