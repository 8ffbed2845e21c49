"""Lay out the picture of a digest, with the same in words for those who cannot see it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bot.domain.reports.digest import DayCount, Digest, RecurringFamily
from bot.domain.text.format import cut, fit_one_line, format_count, join_names

BARS = 8
DAYS_SHOWN = 14
MAX_LABEL = 90
MAX_ALT = 1000


@dataclass(frozen=True, slots=True)
class Bar:
    """One recurring family; its counts are outages."""

    labels: tuple[str, ...]  # its names, best first; the next one is for a font that lacks the script
    times: int
    times_before: int


@dataclass(frozen=True, slots=True)
class Column:
    """The incidents of a day, or of a week in a long period."""

    label: str
    count: int


@dataclass(frozen=True, slots=True)
class DigestChart:
    """Everything that is drawn."""

    heading: str
    counts: str
    bars: tuple[Bar, ...]
    more: int  # recurring families beyond the bars
    columns: tuple[Column, ...]
    alt: str  # the same in words


def build_chart(digest: Digest) -> DigestChart | None:
    """Build the picture of a digest; None if nothing happened."""
    if not digest.incidents:
        return None
    heading = fit_one_line(digest.period[:1].upper() + digest.period[1:], 60)
    counts = f"{format_count(digest.incidents, 'incident')}, {digest.incidents_before} in the period before"
    bars = tuple(_build_bar(family) for family in digest.families[:BARS])
    columns = _build_columns(digest.by_day)
    more = max(0, len(digest.families) - BARS)
    return DigestChart(heading, counts, bars, more, columns, _describe_chart(heading, counts, bars, more, columns))


def _build_bar(family: RecurringFamily) -> Bar:
    place = "/".join(part for part in (family.service, family.vendor) if part)
    ids = join_names(family.incidents, 3)
    labels = (family.title, f"{place}: {ids}" if place else ids, ids)
    return Bar(
        tuple(dict.fromkeys(fit_one_line(label, MAX_LABEL) for label in labels if label.strip())),
        family.times,
        family.times_before,
    )


def _build_columns(days: tuple[DayCount, ...]) -> tuple[Column, ...]:
    """Return a column for each day, or for each seven days of a long period (the last may be shorter)."""
    if len(days) <= DAYS_SHOWN:
        return tuple(Column(f"{d.day:%a} {d.day.day}", d.count) for d in days)
    weeks = [days[start : start + 7] for start in range(0, len(days), 7)]
    weeks = weeks[-DAYS_SHOWN:]
    return tuple(Column(f"{week[0].day:%b} {week[0].day.day}", sum(d.count for d in week)) for week in weeks)


def _describe_chart(heading: str, counts: str, bars: Iterable[Bar], more: int, columns: Iterable[Column]) -> str:
    families = [
        f"{cut(bar.labels[0], 60)}: {format_count(bar.times, 'time')} (before: {bar.times_before})" for bar in bars
    ]
    families += [f"{more} more"] if more else []
    came = f"Came more than once: {'; '.join(families)}." if families else "Nothing came more than once."
    days = ", ".join(f"{column.label} {column.count}" for column in columns)
    return cut(f"{heading}: {counts}. Incidents by date: {days}. {came}", MAX_ALT)
