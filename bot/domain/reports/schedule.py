"""When a channel's digest comes. Must not read a clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.domain.alerts.channel_settings import NO_DIGEST, ChannelSettings
from bot.domain.reports.digest import find_period


@dataclass(frozen=True, slots=True)
class DigestTime:
    """When a digest comes: day ("mon" … "sun", or `NO_DIGEST`), hour, zone."""

    day: str
    hour: int
    zone: tzinfo


def find_last_digest(when: DigestTime, now: datetime) -> datetime | None:
    """When the digest was due last, in UTC; None where none is wanted."""
    if when.day == NO_DIGEST:
        return None
    day = find_period(now.astimezone(when.zone).date(), when.day, when.zone).key
    # in UTC: two times of one zone are compared by what its clocks show, and those go back once a year
    due = datetime.combine(day, time(when.hour), when.zone).astimezone(UTC)
    if due > now:
        due = datetime.combine(day - timedelta(days=7), time(when.hour), when.zone).astimezone(UTC)
    return due


def find_zone(name: str) -> ZoneInfo | None:
    """The time zone of this IANA name; None where there is none."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # OSError: the name is one of a directory
        return None


def choose_digest_time(settings: ChannelSettings, default: DigestTime) -> DigestTime:
    """When a channel's digest comes: what it set, else what the operator did."""
    zone = find_zone(settings.zone) if settings.zone else None
    hour = default.hour if settings.digest_hour is None else settings.digest_hour
    return DigestTime(settings.digest_day or default.day, hour, zone or default.zone)
