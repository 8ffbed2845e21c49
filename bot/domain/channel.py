"""What is agreed in a channel: which alerts count, when it is quiet, who is told, when the digest comes.

Pure values and what they mean. Must not store, look up or render anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo

from bot.domain.alert import Severity
from bot.domain.digest import period_for

NO_DIGEST = "none"
# `tell`: mention whoever acknowledged; anything else is the id of a user group.
ACKNOWLEDGER = "acknowledged"
URGENT = frozenset({Severity.CRITICAL, Severity.HIGH})
MILD = frozenset({Severity.WARNING, Severity.INFO})


@dataclass(frozen=True, slots=True)
class ChannelSettings:
    """The settings of one channel; the defaults hold where nobody touched them.

    `sources`: ids of the apps whose alerts count (empty: all). `minimum`: milder alerts get no brief. `quiet`: from and
    until, local time. `zone` (IANA name), `digest_day` and `digest_hour`: None means what the operator set; `NO_DIGEST`
    means none. `shared`: whether the bot may speak here although another organisation reads along. `model`: whether a
    language model may be asked about alerts of this channel; None means only where everybody may read along.
    """

    sources: frozenset[str] = frozenset()
    minimum: Severity | None = None
    tell: str | None = None
    quiet: tuple[time, time] | None = None
    zone: str | None = None
    digest_day: str | None = None
    digest_hour: int | None = None
    nudges: bool = True
    shared: bool = False
    model: bool | None = None


@dataclass(frozen=True, slots=True)
class DigestTime:
    """When a digest comes: day ("mon" … "sun", or `NO_DIGEST`), hour, zone."""

    day: str
    hour: int
    zone: tzinfo


def model_allowed(settings: ChannelSettings, *, is_private: bool, is_shared: bool) -> bool:
    """Whether a model may be told of this channel's alerts: what a private channel or another organisation says leaves
    only where a steward turned it on."""
    return settings.model if settings.model is not None else not (is_private or is_shared)


def is_quiet(quiet: tuple[time, time] | None, local: time) -> bool:
    """Whether a local time of day lies in the quiet hours; they may go over midnight. The end is no longer quiet."""
    if quiet is None:
        return False
    start, end = quiet
    return start <= local < end if start <= end else local >= start or local < end


def last_digest(when: DigestTime, now: datetime) -> datetime | None:
    """When the digest was due last, in UTC; None where none is wanted."""
    if when.day == NO_DIGEST:
        return None
    day = period_for(now.astimezone(when.zone).date(), when.day, when.zone).key
    # in UTC: two times of one zone are compared by what its clocks show, and those go back once a year
    due = datetime.combine(day, time(when.hour), when.zone).astimezone(UTC)
    if due > now:
        due = datetime.combine(day - timedelta(days=7), time(when.hour), when.zone).astimezone(UTC)
    return due


def scopes(visibility: str, pools: Iterable[str]) -> frozenset[str]:
    """What may be seen in a channel: what is public, its own incidents, and those of the channels pooled with it."""
    return frozenset({"public", visibility, *(f"private:{channel}" for channel in pools)})
