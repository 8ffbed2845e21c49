"""Decide when a channel's digest is due."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.domain.alerts.channel_settings import NO_DIGEST, ChannelSettings
from bot.domain.reports.digest import find_period


@dataclass(frozen=True, slots=True)
class DigestTime:
    """When a digest is due: day ("mon" … "sun", or `NO_DIGEST`), hour, zone."""

    day: str
    hour: int
    zone: tzinfo


def find_last_digest(when: DigestTime, now: datetime) -> datetime | None:
    """Return when the digest was last due, in UTC; None if none is wanted."""
    if when.day == NO_DIGEST:
        return None
    day = find_period(now.astimezone(when.zone).date(), when.day, when.zone).key
    # in UTC: two times of one zone are compared by what its clocks show, and those go back once a year
    due = datetime.combine(day, time(when.hour), when.zone).astimezone(UTC)
    if due > now:
        due = datetime.combine(day - timedelta(days=7), time(when.hour), when.zone).astimezone(UTC)
    return due


def find_zone(name: str) -> ZoneInfo | None:
    """Return the time zone of an IANA name; None for an unknown one."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # OSError: the name is one of a directory
        return None


def choose_digest_time(settings: ChannelSettings, default: DigestTime) -> DigestTime:
    """Return when a channel's digest is due: its own setting, else the operator's."""
    zone = find_zone(settings.zone) if settings.zone else None
    hour = default.hour if settings.digest_hour is None else settings.digest_hour
    return DigestTime(settings.digest_day or default.day, hour, zone or default.zone)
