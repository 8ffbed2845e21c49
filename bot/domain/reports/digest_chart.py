"""The picture of a digest: what it shows, and the same in words for those who do not see it. Must not draw."""

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
    """One family that recurs. `labels`: what names it, best first; the next is for where that cannot be drawn, for a font
    has not every script. `times` and `times_before` (the period before) count outages."""

    labels: tuple[str, ...]
    times: int
    times_before: int


@dataclass(frozen=True, slots=True)
class Column:
    """Incidents of a stretch of the period: a day, or a week of a long one."""

    label: str
    count: int


@dataclass(frozen=True, slots=True)
class DigestChart:
    """Everything that is drawn: `more` families recurred beyond the bars. `alt` says it in words."""

    heading: str
    counts: str
    bars: tuple[Bar, ...]
    more: int
    columns: tuple[Column, ...]
    alt: str


def build_chart(digest: Digest) -> DigestChart | None:
    """The picture of a digest; None where nothing happened, for there is nothing to see."""
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
    """A column for each day, or for each seven days of a long period (the last of them may be shorter)."""
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
