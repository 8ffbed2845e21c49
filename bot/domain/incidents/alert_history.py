"""Count what alerts alone tell: how often one fired, how long it took to clear, how often nobody recorded a fix."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.incidents.lifecycle import FiringPeriod, IncidentState, Lifecycle


def list_firing_periods(life: Lifecycle) -> tuple[FiringPeriod, ...]:
    """Return an incident's firing periods; for one stored by an old version, only its beginning and end."""
    return life.spells or (FiringPeriod(life.opened_at, life.cleared_at or life.resolved_at),)


def count_history(lives: Sequence[Lifecycle], now: datetime, days: int, but: str | None = None) -> AlertHistory:
    """Return the history of one alert in the last `days`.

    Each firing counts once until it cleared, however often it was repeated. Dismissed incidents do not count, and
    of incident `but`, the current one, the last firing is left out.
    """
    since = now - timedelta(days=days)
    past: list[tuple[Lifecycle, FiringPeriod]] = []
    for life in lives:
        periods = list_firing_periods(life)[:-1] if life.incident_id == but else list_firing_periods(life)
        if life.state is not IncidentState.DISMISSED:
            past += [(life, spell) for spell in periods if since <= spell.start < now]
    ends = [(spell.end, spell.start) for _, spell in past if spell.end]
    return AlertHistory(
        days=days,
        times=len(past),
        unrecorded=sum(life.state is not IncidentState.RESOLVED and spell.end is not None for life, spell in past),
        median_minutes=statistics.median((end - start).total_seconds() / 60 for end, start in ends) if ends else None,
    )


@dataclass(frozen=True, slots=True)
class AlertHistory:
    """How often one fingerprint fired before now."""

    days: int
    times: int
    unrecorded: int  # cleared without a recorded fix
    median_minutes: float | None = None  # to clear, if known
