"""Whether an alert is answered in a channel: its settings, what people taught there, and what they muted.

One pure decision with its reason. Must not store, count or post anything.
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
from bot.domain.text.tokens import normalise

MEMBERS_MUTE_FOR = timedelta(hours=24)
LONGEST_MUTE = timedelta(days=90)
_ORDER = (Severity.INFO, Severity.WARNING, Severity.HIGH, Severity.CRITICAL)
_NUMBER = re.compile(r"\d+")


class Reach(StrEnum):
    """How much a rule silences: posts of one title, or whatever an app posts."""

    TITLE = "title"
    SOURCE = "source"


class Muted(StrEnum):
    """What a mute is about: one alert, one service, or everything in the channel for a while; or only the questions what
    ended an alert (NUDGES), until that is undone."""

    FINGERPRINT = "fingerprint"
    SERVICE = "service"
    CHANNEL = "channel"
    NUDGES = "nudges"


@dataclass(frozen=True, slots=True)
class Rule:
    """ "Not an alert", taught by `by`: posts of `source` (an app's id) read as `tool`'s, with this title, are ignored in
    `channel`. `number` is the store's (0: not stored yet), `silenced` how many posts it has silenced."""

    channel: str
    source: str
    tool: str
    title: str
    by: str
    at: datetime
    reach: Reach = Reach.TITLE
    incident_id: str = ""
    number: int = 0
    silenced: int = 0


@dataclass(frozen=True, slots=True)
class Mute:
    """Nothing is posted in `channel` about this until `until`. `value` is the fingerprint or the service ("" for the
    whole channel), `shown` what people call it."""

    channel: str
    what: Muted
    value: str
    shown: str
    until: datetime
    reason: str
    by: str
    at: datetime
    incident_id: str = ""
    number: int = 0
    silenced: int = 0


@dataclass(frozen=True, slots=True)
class House:
    """What is agreed in a channel now: its settings, rules and mutes."""

    settings: ChannelSettings = field(default_factory=ChannelSettings)
    rules: tuple[Rule, ...] = ()
    mutes: tuple[Mute, ...] = ()


class Outcome(StrEnum):
    """What becomes of an alert: it is answered; it counts in lives and history and nothing is posted; nothing at all."""

    ANSWER = "answer"
    COUNT_ONLY = "count_only"
    IGNORE = "ignore"


@dataclass(frozen=True, slots=True)
class Admission:
    """The decision, and why. `silenced_by` is the rule or mute that counts it; `tell` whom the first post mentions."""

    outcome: Outcome
    reason: str
    silenced_by: Rule | Mute | None = None
    tell: str | None = None


ANSWERED = Admission(Outcome.ANSWER, "nothing is agreed against it")


@dataclass(frozen=True, slots=True)
class _Asked:
    alert: Alert
    source: str
    house: House
    at: datetime
    zone: tzinfo


def admit(alert: Alert, source: str, house: House, at: datetime, zone: tzinfo) -> Admission:
    """What becomes of an alert of this app, posted at `at`; `zone` is the channel's. The first check that objects
    decides. What does not fire posts nothing new, so only its source is asked about."""
    asked = _Asked(alert, source, house, at, zone)
    for check in _CHECKS if alert.state in FIRES else _CHECKS[:1]:
        if objection := check(asked):
            return objection
    settings = house.settings
    if settings.tell and alert.severity in URGENT:
        return Admission(Outcome.ANSWER, f"{alert.severity} alerts are told to {settings.tell}", tell=settings.tell)
    return ANSWERED


def _by_source(asked: _Asked) -> Admission | None:
    listed = asked.house.settings.sources
    # no app at all: the operator's own webhook, which needs no permission but its token
    if not listed or not asked.source or asked.source in listed:
        return None
    return Admission(Outcome.IGNORE, "alerts of this app do not count in this channel")


def _by_rule(asked: _Asked) -> Admission | None:
    rule = next((r for r in asked.house.rules if silences(r, asked.alert, asked.source)), None)
    return Admission(Outcome.IGNORE, f"{rule.by} said that this is not an alert", rule) if rule else None


def _by_mute(asked: _Asked) -> Admission | None:
    mute = next((m for m in asked.house.mutes if mutes(m, asked.alert, asked.at)), None)
    if mute is None:
        return None
    return Admission(Outcome.COUNT_ONLY, f"muted by {mute.by} until {mute.until.isoformat()}", mute)


def _by_severity(asked: _Asked) -> Admission | None:
    severity, minimum = asked.alert.severity, asked.house.settings.minimum
    if severity is None or minimum is None or _ORDER.index(severity) >= _ORDER.index(minimum):
        return None
    return Admission(Outcome.COUNT_ONLY, f"{severity} is below {minimum}, the least that is answered here")


def _by_quiet_hours(asked: _Asked) -> Admission | None:
    local = asked.at.astimezone(asked.zone).time()
    if asked.alert.severity not in MILD or not is_quiet(asked.house.settings.quiet, local):
        return None
    return Admission(Outcome.COUNT_ONLY, f"{asked.alert.severity} in the quiet hours")


_CHECKS: tuple[Callable[[_Asked], Admission | None], ...] = (
    _by_source,
    _by_rule,
    _by_mute,
    _by_severity,
    _by_quiet_hours,
)


def title_of(alert: Alert) -> str:
    """What a rule calls an alert: its title, else what it is identified by; only what every database keeps."""
    title = alert.title or alert.labels.get("alertname") or alert.fingerprint
    return title.replace("\x00", "").encode("utf-8", "replace").decode()


def title_form(title: str) -> str:
    """A title as rules compare it: case, spaces and numbers do not matter."""
    return _NUMBER.sub("#", normalise(title))


def _very_title(title: str) -> str:
    return " ".join(title.casefold().split())


def silences(rule: Rule, alert: Alert, source: str) -> bool:
    """Whether a rule is about this alert. A critical one must have the very title that was called no alert."""
    if rule.source != source:
        return False
    title = title_of(alert)
    if alert.severity is Severity.CRITICAL:
        return rule.tool == alert.tool and _very_title(title) == _very_title(rule.title)
    if rule.reach is Reach.SOURCE:
        return True
    return rule.tool == alert.tool and title_form(title) == title_form(rule.title)


def mutes(mute: Mute, alert: Alert, at: datetime) -> bool:
    """Whether a mute is about this alert, posted at `at`; at its very end it is over."""
    if at >= mute.until or mute.what is Muted.NUDGES:
        return False
    if mute.what is Muted.CHANNEL:
        return True
    if mute.what is Muted.SERVICE:
        return alert.service is not None and normalise(alert.service) == normalise(mute.value)
    return alert.fingerprint == mute.value
