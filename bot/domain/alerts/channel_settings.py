"""What is agreed in a channel: which alerts count, when it is quiet, who is told, when the digest comes.

Pure values and what they mean. Must not store, look up or render anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import time

from bot.domain.alerts.alert import Severity

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


def may_use_model(settings: ChannelSettings, *, is_private: bool, is_shared: bool) -> bool:
    """Whether a model may be told of this channel's alerts: what a private channel or another organisation says leaves
    only where a steward turned it on."""
    return settings.model if settings.model is not None else not (is_private or is_shared)


def is_quiet(quiet: tuple[time, time] | None, local: time) -> bool:
    """Whether a local time of day lies in the quiet hours; they may go over midnight. The end is no longer quiet."""
    if quiet is None:
        return False
    start, end = quiet
    return start <= local < end if start <= end else local >= start or local < end
