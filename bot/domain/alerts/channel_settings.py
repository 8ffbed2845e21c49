"""The settings of a channel: which alerts count, when it is quiet, who is mentioned, when the digest comes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import time

from bot.domain.alerts.alert import Severity

NO_DIGEST = "none"
# `tell`: mention the person who acknowledged; any other value is the id of a user group.
ACKNOWLEDGER = "acknowledged"
URGENT = frozenset({Severity.CRITICAL, Severity.HIGH})
MILD = frozenset({Severity.WARNING, Severity.INFO})


@dataclass(frozen=True, slots=True)
class ChannelSettings:
    """The settings of one channel. The defaults hold until somebody changes them."""

    sources: frozenset[str] = frozenset()  # ids of the apps whose alerts count; empty means all
    minimum: Severity | None = None  # milder alerts get no brief
    tell: str | None = None
    quiet: tuple[time, time] | None = None  # (from, until), local time
    zone: str | None = None  # IANA name; None means the operator's
    digest_day: str | None = None  # None means the operator's, `NO_DIGEST` none at all
    digest_hour: int | None = None  # None means the operator's
    nudges: bool = True
    shared: bool = False  # the bot may speak although another organization reads along
    model: bool | None = None  # a language model may be asked; None means only in public channels of one organization


def may_use_model(settings: ChannelSettings, *, is_private: bool, is_shared: bool) -> bool:
    """Return whether a model may be sent this channel's alerts.

    What a private channel or another organization writes leaves only if a steward turned it on.
    """
    return settings.model if settings.model is not None else not (is_private or is_shared)


def is_quiet(quiet: tuple[time, time] | None, local: time) -> bool:
    """Return whether a local time of day lies in the quiet hours, which may cross midnight; their end is not quiet."""
    if quiet is None:
        return False
    start, end = quiet
    return start <= local < end if start <= end else local >= start or local < end
