"""The picture of a digest: what it shows, and the same in words for those who do not see it. Must not draw."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bot.domain.reports.digest import DayCount, Digest, RecurringFamily
from bot.domain.text.names import counted, cut, listed, one_line

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


def chart_of(digest: Digest) -> DigestChart | None:
    """The picture of a digest; None where nothing happened, for there is nothing to see."""
    if not digest.incidents:
        return None
    heading = one_line(digest.period[:1].upper() + digest.period[1:], 60)
    counts = f"{counted(digest.incidents, 'incident')}, {digest.incidents_before} in the period before"
    bars = tuple(_bar(family) for family in digest.families[:BARS])
    columns = _columns(digest.by_day)
    more = max(0, len(digest.families) - BARS)
    return DigestChart(heading, counts, bars, more, columns, _in_words(heading, counts, bars, more, columns))


def _bar(family: RecurringFamily) -> Bar:
    place = "/".join(part for part in (family.service, family.vendor) if part)
    ids = listed(family.incidents, 3)
    labels = (family.title, f"{place}: {ids}" if place else ids, ids)
    return Bar(
        tuple(dict.fromkeys(one_line(label, MAX_LABEL) for label in labels if label.strip())),
        family.times,
        family.times_before,
    )


def _columns(days: tuple[DayCount, ...]) -> tuple[Column, ...]:
    """A column for each day, or for each seven days of a long period (the last of them may be shorter)."""
    if len(days) <= DAYS_SHOWN:
        return tuple(Column(f"{d.day:%a} {d.day.day}", d.count) for d in days)
    weeks = [days[start : start + 7] for start in range(0, len(days), 7)]
    weeks = weeks[-DAYS_SHOWN:]
    return tuple(Column(f"{week[0].day:%b} {week[0].day.day}", sum(d.count for d in week)) for week in weeks)


def _in_words(heading: str, counts: str, bars: Iterable[Bar], more: int, columns: Iterable[Column]) -> str:
    families = [f"{cut(bar.labels[0], 60)}: {counted(bar.times, 'time')} (before: {bar.times_before})" for bar in bars]
    families += [f"{more} more"] if more else []
    came = f"Came more than once: {'; '.join(families)}." if families else "Nothing came more than once."
    days = ", ".join(f"{column.label} {column.count}" for column in columns)
    return cut(f"{heading}: {counts}. Incidents by date: {days}. {came}", MAX_ALT)
