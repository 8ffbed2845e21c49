"""What alerts alone tell: how often one fired, how long it took to clear, and how often nobody wrote down a fix.

Pure. Must not look anything up.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.incidents.lifecycle import FiringPeriod, IncidentState, Lifecycle


def list_firing_periods(life: Lifecycle) -> tuple[FiringPeriod, ...]:
    """The stretches of firing of one incident; one of an older version has told only its beginning and its end."""
    return life.spells or (FiringPeriod(life.opened_at, life.cleared_at or life.resolved_at),)


def count_history(lives: Sequence[Lifecycle], now: datetime, days: int, but: str | None = None) -> AlertHistory:
    """The history of one alert in the last `days`: each firing until it cleared counts once, however often it was
    repeated. What was dismissed was no alert. Of incident `but`, the one that is told of, the last firing is left out."""
    since = now - timedelta(days=days)
    past: list[tuple[Lifecycle, FiringPeriod]] = []
    for life in lives:
        told = list_firing_periods(life)[:-1] if life.incident_id == but else list_firing_periods(life)
        if life.state is not IncidentState.DISMISSED:
            past += [(life, spell) for spell in told if since <= spell.start < now]
    ends = [(spell.end, spell.start) for _, spell in past if spell.end]
    return AlertHistory(
        days=days,
        times=len(past),
        unrecorded=sum(life.state is not IncidentState.RESOLVED and spell.end is not None for life, spell in past),
        median_minutes=statistics.median((end - start).total_seconds() / 60 for end, start in ends) if ends else None,
    )


@dataclass(frozen=True, slots=True)
class AlertHistory:
    """History from alerts alone, before now: this fingerprint fired `times` in `days`, of which
    `unrecorded` cleared with no recorded fix; `median_minutes` to clear, if known."""

    days: int
    times: int
    unrecorded: int
    median_minutes: float | None = None
