"""What the bot would have said to the last alerts of a channel: which incidents they made, and which got a brief.

Pure values and rules. Must not look anything up, store or render.
"""

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
    """One alert post of a channel. `source` is the app that posted it; `edited_at` when its tool changed it last."""

    alert: Alert
    ts: str
    at: datetime
    source: str
    edited_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PreviewedIncident:
    """An incident that these posts would have opened, and the post that opened it."""

    life: Lifecycle
    first: SeenPost


class PreviewOutcome(StrEnum):
    """What the bot would have done about an incident: a brief with a known fix, a brief that says that nothing is known,
    a reaction alone, or nothing."""

    FIX = "fix"
    UNKNOWN = "unknown"
    REACTION = "reaction"
    SILENCE = "silence"


@dataclass(frozen=True, slots=True)
class PreviewedAnswer:
    """What would have become of one incident. `brief` is None where there is none; `why` says why it is silent."""

    opened: PreviewedIncident
    answer: PreviewOutcome
    brief: Brief | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class RecurringAlert:
    """An alert that came back: how often it fired, and what it would have got last."""

    title: str
    service: str | None
    fired: int
    answer: PreviewOutcome


@dataclass(frozen=True, slots=True)
class Preview:
    """What would have been said. `messages` were looked at for `alerts` posts; `since` is the oldest of them."""

    messages: int = 0
    alerts: int = 0
    since: datetime | None = None
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
    """The incidents that these posts would have opened, oldest first."""
    told: dict[str, list[Notification]] = {}
    first: dict[str, SeenPost] = {}
    for post in posts:
        first.setdefault(post.ts, post)
        told.setdefault(post.alert.fingerprint, []).extend(_list_notifications(post, visibility, channel))
    chapters = (chapter for notices in told.values() for chapter in reconstruct(notices, ()).chapters)
    found = (PreviewedIncident(chapter.life, first[chapter.first_notification.ts]) for chapter in chapters)
    return tuple(sorted(found, key=lambda one: (one.life.opened_at, one.first.ts)))


def _list_notifications(post: SeenPost, visibility: str, channel: str) -> Iterable[Notification]:
    """What a post said; one that was edited until it told the end began as the alert."""
    says = build_notification(post.alert, post.at, visibility, channel, post.ts, post.ts)
    if post.alert.state in ENDS and post.edited_at and post.edited_at > post.at:
        yield replace(says, state=AlertState.FIRING, firing=None, cleared=None, past=True)
        yield replace(says, key=f"{says.key}/edit", at=post.edited_at, past=True)
    else:
        yield replace(says, past=True)


def restore_firing(post: SeenPost) -> Alert:
    """The alert as it was when its post opened an incident."""
    return replace(post.alert, state=AlertState.FIRING) if post.alert.state in ENDS else post.alert


def build_answer(one: PreviewedIncident, admission: SuppressionDecision, brief: Brief | None) -> PreviewedAnswer:
    """What would have become of it; `brief` is what would have been said if anything was."""
    if brief is None or admission.outcome is not Disposition.ANSWER:
        return PreviewedAnswer(one, PreviewOutcome.SILENCE, why=admission.reason)
    if brief.insufficient_memory is None:
        return PreviewedAnswer(one, PreviewOutcome.FIX, brief)
    is_mild = one.first.alert.severity in MILD
    return PreviewedAnswer(one, PreviewOutcome.REACTION if is_mild else PreviewOutcome.UNKNOWN, brief)


def build_preview(
    messages: int, posts: Sequence[SeenPost], unread: Mapping[str, int], would: Sequence[PreviewedAnswer]
) -> Preview:
    """All of it added up."""
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
    """The most useful brief, the latest of these."""
    return _SHOWS.index(one.answer), _RANK.index(_read_confidence(one)), one.opened.life.opened_at
