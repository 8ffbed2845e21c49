"""Decide whether an alert is answered in a channel, by its settings, its rules and its mutes.

One pure decision with its reason: the table `_CHECKS` in order, and the first objection counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from enum import StrEnum

from bot.domain.alerts.alert import Alert, Severity
from bot.domain.alerts.channel_settings import MILD, URGENT, ChannelSettings, is_quiet
from bot.domain.alerts.notification import FIRES
from bot.domain.text.tokens import normalize

MEMBERS_MUTE_FOR = timedelta(hours=24)
LONGEST_MUTE = timedelta(days=90)
_ORDER = (Severity.INFO, Severity.WARNING, Severity.HIGH, Severity.CRITICAL)
_NUMBER = re.compile(r"\d+")


class RuleScope(StrEnum):
    """How much a rule silences: posts of one title, or everything an app posts."""

    TITLE = "title"
    SOURCE = "source"


class MuteTarget(StrEnum):
    """What a mute covers: one alert, one service, the whole channel for a while, or only the questions about what
    ended an alert (NUDGES), until that is undone."""

    FINGERPRINT = "fingerprint"
    SERVICE = "service"
    CHANNEL = "channel"
    NUDGES = "nudges"


@dataclass(frozen=True, slots=True)
class SilenceRule:
    """ "Not an alert", taught by a person: matching posts are ignored in the channel."""

    channel: str
    source: str  # id of the app that posts
    tool: str  # the tool that the posts were read as
    title: str
    by: str
    at: datetime
    reach: RuleScope = RuleScope.TITLE
    incident_id: str = ""
    number: int = 0  # assigned by the store; 0 until stored
    silenced: int = 0  # how many posts it has silenced


@dataclass(frozen=True, slots=True)
class Mute:
    """Nothing is posted in a channel about a target until a time."""

    channel: str
    what: MuteTarget
    value: str  # the fingerprint or the service; "" for the whole channel
    shown: str  # the name that people read
    until: datetime
    reason: str
    by: str
    at: datetime
    incident_id: str = ""
    number: int = 0
    silenced: int = 0


@dataclass(frozen=True, slots=True)
class ChannelPolicy:
    """A channel's settings, rules and mutes as they are now."""

    settings: ChannelSettings = field(default_factory=ChannelSettings)
    rules: tuple[SilenceRule, ...] = ()
    mutes: tuple[Mute, ...] = ()


class Disposition(StrEnum):
    """What becomes of an alert: answered, counted in lifecycles and history without a post, or ignored."""

    ANSWER = "answer"
    COUNT_ONLY = "count_only"
    IGNORE = "ignore"


@dataclass(frozen=True, slots=True)
class SuppressionDecision:
    """The decision with its reason."""

    outcome: Disposition
    reason: str
    silenced_by: SilenceRule | Mute | None = None  # the rule or mute that counts the alert
    tell: str | None = None  # who is mentioned in the first post


ANSWERED = SuppressionDecision(Disposition.ANSWER, "nothing is agreed against it")


@dataclass(frozen=True, slots=True)
class _Case:
    alert: Alert
    source: str
    house: ChannelPolicy
    at: datetime
    zone: tzinfo


def decide_suppression(
    alert: Alert, source: str, house: ChannelPolicy, at: datetime, zone: tzinfo
) -> SuppressionDecision:
    """Decide what becomes of an alert that an app posted at `at`; `zone` is the channel's.

    The first check that objects decides. An alert that does not fire posts nothing new, so only its source is
    checked.
    """
    asked = _Case(alert, source, house, at, zone)
    for check in _CHECKS if alert.state in FIRES else _CHECKS[:1]:
        if objection := check(asked):
            return objection
    settings = house.settings
    if settings.tell and alert.severity in URGENT:
        return SuppressionDecision(
            Disposition.ANSWER, f"{alert.severity} alerts are told to {settings.tell}", tell=settings.tell
        )
    return ANSWERED


def _check_source(asked: _Case) -> SuppressionDecision | None:
    listed = asked.house.settings.sources
    # no app at all: the operator's own webhook, which needs no permission but its token
    if not listed or not asked.source or asked.source in listed:
        return None
    return SuppressionDecision(Disposition.IGNORE, "alerts of this app do not count in this channel")


def _check_rules(asked: _Case) -> SuppressionDecision | None:
    rule = next((r for r in asked.house.rules if is_silenced(r, asked.alert, asked.source)), None)
    return SuppressionDecision(Disposition.IGNORE, f"{rule.by} said that this is not an alert", rule) if rule else None


def _check_mutes(asked: _Case) -> SuppressionDecision | None:
    mute = next((m for m in asked.house.mutes if is_muted(m, asked.alert, asked.at)), None)
    if mute is None:
        return None
    return SuppressionDecision(Disposition.COUNT_ONLY, f"muted by {mute.by} until {mute.until.isoformat()}", mute)


def _check_severity(asked: _Case) -> SuppressionDecision | None:
    severity, minimum = asked.alert.severity, asked.house.settings.minimum
    if severity is None or minimum is None or _ORDER.index(severity) >= _ORDER.index(minimum):
        return None
    return SuppressionDecision(
        Disposition.COUNT_ONLY, f"{severity} is below {minimum}, the least that is answered here"
    )


def _check_quiet_hours(asked: _Case) -> SuppressionDecision | None:
    local = asked.at.astimezone(asked.zone).time()
    if asked.alert.severity not in MILD or not is_quiet(asked.house.settings.quiet, local):
        return None
    return SuppressionDecision(Disposition.COUNT_ONLY, f"{asked.alert.severity} in the quiet hours")


_CHECKS: tuple[Callable[[_Case], SuppressionDecision | None], ...] = (
    _check_source,
    _check_rules,
    _check_mutes,
    _check_severity,
    _check_quiet_hours,
)


def name_alert(alert: Alert) -> str:
    """Return the name under which a rule knows an alert: its title, else a part of its identity that every database
    stores."""
    title = alert.title or alert.labels.get("alertname") or alert.fingerprint
    return title.replace("\x00", "").encode("utf-8", "replace").decode()


def normalize_rule_title(title: str) -> str:
    """Return a title without case, spaces and numbers, as rules compare it."""
    return _NUMBER.sub("#", normalize(title))


def _fold_title(title: str) -> str:
    return " ".join(title.casefold().split())


def is_silenced(rule: SilenceRule, alert: Alert, source: str) -> bool:
    """Return whether a rule covers this alert. A critical alert must have exactly the title that was called no alert."""
    if rule.source != source:
        return False
    title = name_alert(alert)
    if alert.severity is Severity.CRITICAL:
        return rule.tool == alert.tool and _fold_title(title) == _fold_title(rule.title)
    if rule.reach is RuleScope.SOURCE:
        return True
    return rule.tool == alert.tool and normalize_rule_title(title) == normalize_rule_title(rule.title)


def is_muted(mute: Mute, alert: Alert, at: datetime) -> bool:
    """Return whether a mute covers this alert at `at`; it ends at `until`, exclusive."""
    if at >= mute.until or mute.what is MuteTarget.NUDGES:
        return False
    if mute.what is MuteTarget.CHANNEL:
        return True
    if mute.what is MuteTarget.SERVICE:
        return alert.service is not None and normalize(alert.service) == normalize(mute.value)
    return alert.fingerprint == mute.value
