"""Small values that workflows share: how owed Slack calls are named, when a channel's digest comes. Must not render or deliver anything."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.domain.channel import ChannelSettings, DigestTime
from bot.ports.chat import Posting
from bot.ports.store import Destination, Owed

# Edits of one message that follow each other closer than this are sent as one.
EDIT_EVERY_S = 3.0


def owed(
    posting: Posting,
    *,
    key: str,
    urgent: bool = False,
    replaces: bool = False,
    target: str | None = None,
    every_s: float = 0.0,
) -> Owed:
    """The outbox row for a Slack call. `target` is the delivery id whose message the call edits or deletes; its ts is
    looked up when the row is delivered, for it may not exist yet."""
    payload: dict[str, Any] = {k: v for k, v in asdict(posting).items() if v not in (None, "", (), {})}
    if target:
        payload["target"] = target
    return Owed(
        Destination.SLACK,
        posting.operation,
        key,
        posting.delivery_id,
        payload,
        urgent=urgent,
        replaces=replaces,
        every_s=every_s,
    )


def zone_named(name: str) -> ZoneInfo | None:
    """The time zone of this IANA name; None where there is none."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # OSError: the name is one of a directory
        return None


def digest_time(settings: ChannelSettings, default: DigestTime) -> DigestTime:
    """When a channel's digest comes: what it set, else what the operator did."""
    zone = zone_named(settings.zone) if settings.zone else None
    hour = default.hour if settings.digest_hour is None else settings.digest_hour
    return DigestTime(settings.digest_day or default.day, hour, zone or default.zone)
