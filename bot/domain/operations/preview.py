"""Work out what the bot would have said to the latest alerts of a channel: the incidents, and which got a brief."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from bot.domain.alerts.alert import Alert, AlertState
from bot.domain.alerts.channel_settings import MILD
from bot.domain.alerts.notification import Notification, build_notification
from bot.domain.alerts.suppression import Disposition, SuppressionDecision
from bot.domain.brief.decide import Brief
from bot.domain.brief.recommendation import Confidence
from bot.domain.incidents.lifecycle import Lifecycle
from bot.domain.incidents.reconstruction import reconstruct

ENDS = frozenset({AlertState.RESOLVED, AlertState.ACKNOWLEDGED})


@dataclass(frozen=True, slots=True)
class SeenPost:
    """One alert post of a channel."""

    alert: Alert
    ts: str
    at: datetime
    source: str  # id of the app that posted it
    edited_at: datetime | None = None  # when its tool last changed it


@dataclass(frozen=True, slots=True)
class PreviewedIncident:
    """An incident that these posts would have opened, and the post that opened it."""

    life: Lifecycle
    first: SeenPost


class PreviewOutcome(StrEnum):
    """What the bot would have done about an incident: a brief with a known fix, a brief without one, only a reaction,
    or nothing."""

    FIX = "fix"
    UNKNOWN = "unknown"
    REACTION = "reaction"
    SILENCE = "silence"


@dataclass(frozen=True, slots=True)
class PreviewedAnswer:
    """What would have become of one incident."""

    opened: PreviewedIncident
    answer: PreviewOutcome
    brief: Brief | None = None  # None if there is none
    why: str = ""  # why it is silent


@dataclass(frozen=True, slots=True)
class RecurringAlert:
    """An alert that came back: how often it fired, and what it would have got last."""

    title: str
    service: str | None
    fired: int
    answer: PreviewOutcome


@dataclass(frozen=True, slots=True)
class Preview:
    """What the bot would have said."""

    messages: int = 0  # how many were read for `alerts` posts
    alerts: int = 0
    since: datetime | None = None  # the oldest of them
    tools: Mapping[str, int] = field(default_factory=dict)
    families: int = 0
    incidents: int = 0
    answers: Mapping[PreviewOutcome, int] = field(default_factory=dict)
    confidence: Mapping[Confidence, int] = field(default_factory=dict)
    silent: Mapping[str, int] = field(default_factory=dict)
    recurring: tuple[RecurringAlert, ...] = ()
    unread: Mapping[str, int] = field(default_factory=dict)
    example: PreviewedAnswer | None = None


def find_openings(posts: Sequence[SeenPost], visibility: str, channel: str) -> tuple[PreviewedIncident, ...]:
    """Return the incidents that these posts would have opened, oldest first."""
    by_alert: dict[str, list[Notification]] = {}
    first: dict[str, SeenPost] = {}
    for post in posts:
        first.setdefault(post.ts, post)
        by_alert.setdefault(post.alert.fingerprint, []).extend(_list_notifications(post, visibility, channel))
    chapters = (chapter for notices in by_alert.values() for chapter in reconstruct(notices, ()).incidents)
    found = (PreviewedIncident(chapter.life, first[chapter.first_notification.ts]) for chapter in chapters)
    return tuple(sorted(found, key=lambda one: (one.life.opened_at, one.first.ts)))


def _list_notifications(post: SeenPost, visibility: str, channel: str) -> Iterable[Notification]:
    """Yield what a post said. A post that was edited to report the end began as the alert."""
    says = build_notification(post.alert, post.at, visibility, channel, post.ts, post.ts)
    if post.alert.state in ENDS and post.edited_at and post.edited_at > post.at:
        yield replace(says, state=AlertState.FIRING, firing=None, cleared=None, past=True)
        yield replace(says, key=f"{says.key}/edit", at=post.edited_at, past=True)
    else:
        yield replace(says, past=True)


def restore_firing(post: SeenPost) -> Alert:
    """Return the alert as it was when its post opened an incident."""
    return replace(post.alert, state=AlertState.FIRING) if post.alert.state in ENDS else post.alert


def build_answer(one: PreviewedIncident, admission: SuppressionDecision, brief: Brief | None) -> PreviewedAnswer:
    """Return what would have become of an incident; `brief` is what any answer would have said."""
    if brief is None or admission.outcome is not Disposition.ANSWER:
        return PreviewedAnswer(one, PreviewOutcome.SILENCE, why=admission.reason)
    if brief.insufficient_memory is None:
        return PreviewedAnswer(one, PreviewOutcome.FIX, brief)
    is_mild = one.first.alert.severity in MILD
    return PreviewedAnswer(one, PreviewOutcome.REACTION if is_mild else PreviewOutcome.UNKNOWN, brief)


def build_preview(
    messages: int, posts: Sequence[SeenPost], unread: Mapping[str, int], would: Sequence[PreviewedAnswer]
) -> Preview:
    """Add everything up."""
    fired: dict[str, list[PreviewedAnswer]] = {}
    for one in would:
        fired.setdefault(one.opened.life.fingerprint, []).append(one)
    recurring = [_summarize_recurring(some) for some in fired.values()]
    return Preview(
        messages,
        len(posts),
        min((post.at for post in posts), default=None),
        dict(Counter(post.alert.tool for post in posts)),
        len({post.alert.fingerprint for post in posts}),
        len(would),
        dict(Counter(one.answer for one in would)),
        dict(Counter(found for one in would if (found := _read_confidence(one)))),
        dict(Counter(one.why for one in would if one.answer is PreviewOutcome.SILENCE)),
        tuple(sorted((r for r in recurring if r.fired > 1), key=lambda r: (-r.fired, r.title))),
        unread,
        max(would, key=_build_sort_key, default=None),
    )


def _summarize_recurring(some: Sequence[PreviewedAnswer]) -> RecurringAlert:
    last = some[-1]
    alert, fired = last.opened.first.alert, sum(len(one.opened.life.spells) for one in some)
    return RecurringAlert(alert.title or alert.fingerprint, alert.service, fired, last.answer)


def _read_confidence(one: PreviewedAnswer) -> Confidence | None:
    best = one.brief.recommendation if one.brief and one.answer is PreviewOutcome.FIX else None
    return best.confidence if best else None


_RANK = (None, Confidence.LOW, Confidence.MEDIUM, Confidence.HIGH)
_SHOWS = (PreviewOutcome.SILENCE, PreviewOutcome.REACTION, PreviewOutcome.UNKNOWN, PreviewOutcome.FIX)


def _build_sort_key(one: PreviewedAnswer) -> tuple[int, int, datetime]:
    """Order by usefulness of the brief, then by time."""
    return _SHOWS.index(one.answer), _RANK.index(_read_confidence(one)), one.opened.life.opened_at
