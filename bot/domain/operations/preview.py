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
from bot.domain.alerts.notification import Notice, notice_of
from bot.domain.alerts.suppression import Admission, Outcome
from bot.domain.brief.decide import Brief
from bot.domain.brief.recommendation import Confidence
from bot.domain.incidents.lifecycle import Life
from bot.domain.incidents.reconstruction import replay

ENDS = frozenset({AlertState.RESOLVED, AlertState.ACKNOWLEDGED})


@dataclass(frozen=True, slots=True)
class Seen:
    """One alert post of a channel. `source` is the app that posted it; `edited_at` when its tool changed it last."""

    alert: Alert
    ts: str
    at: datetime
    source: str
    edited_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Opened:
    """An incident that these posts would have opened, and the post that opened it."""

    life: Life
    first: Seen


class Answer(StrEnum):
    """What the bot would have done about an incident: a brief with a known fix, a brief that says that nothing is known,
    a reaction alone, or nothing."""

    FIX = "fix"
    UNKNOWN = "unknown"
    REACTION = "reaction"
    SILENCE = "silence"


@dataclass(frozen=True, slots=True)
class Would:
    """What would have become of one incident. `brief` is None where there is none; `why` says why it is silent."""

    opened: Opened
    answer: Answer
    brief: Brief | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Recurring:
    """An alert that came back: how often it fired, and what it would have got last."""

    title: str
    service: str | None
    fired: int
    answer: Answer


@dataclass(frozen=True, slots=True)
class Preview:
    """What would have been said. `messages` were looked at for `alerts` posts; `since` is the oldest of them."""

    messages: int = 0
    alerts: int = 0
    since: datetime | None = None
    tools: Mapping[str, int] = field(default_factory=dict)
    families: int = 0
    incidents: int = 0
    answers: Mapping[Answer, int] = field(default_factory=dict)
    confidence: Mapping[Confidence, int] = field(default_factory=dict)
    silent: Mapping[str, int] = field(default_factory=dict)
    recurring: tuple[Recurring, ...] = ()
    unread: Mapping[str, int] = field(default_factory=dict)
    example: Would | None = None


def opened(posts: Sequence[Seen], visibility: str, channel: str) -> tuple[Opened, ...]:
    """The incidents that these posts would have opened, oldest first."""
    told: dict[str, list[Notice]] = {}
    first: dict[str, Seen] = {}
    for post in posts:
        first.setdefault(post.ts, post)
        told.setdefault(post.alert.fingerprint, []).extend(_notices(post, visibility, channel))
    chapters = (chapter for notices in told.values() for chapter in replay(notices, ()).chapters)
    found = (Opened(chapter.life, first[chapter.opening.ts]) for chapter in chapters)
    return tuple(sorted(found, key=lambda one: (one.life.opened_at, one.first.ts)))


def _notices(post: Seen, visibility: str, channel: str) -> Iterable[Notice]:
    """What a post said; one that was edited until it told the end began as the alert."""
    says = notice_of(post.alert, post.at, visibility, channel, post.ts, post.ts)
    if post.alert.state in ENDS and post.edited_at and post.edited_at > post.at:
        yield replace(says, state=AlertState.FIRING, firing=None, cleared=None, past=True)
        yield replace(says, key=f"{says.key}/edit", at=post.edited_at, past=True)
    else:
        yield replace(says, past=True)


def firing(post: Seen) -> Alert:
    """The alert as it was when its post opened an incident."""
    return replace(post.alert, state=AlertState.FIRING) if post.alert.state in ENDS else post.alert


def answered(one: Opened, admission: Admission, brief: Brief | None) -> Would:
    """What would have become of it; `brief` is what would have been said if anything was."""
    if brief is None or admission.outcome is not Outcome.ANSWER:
        return Would(one, Answer.SILENCE, why=admission.reason)
    if brief.insufficient_memory is None:
        return Would(one, Answer.FIX, brief)
    is_mild = one.first.alert.severity in MILD
    return Would(one, Answer.REACTION if is_mild else Answer.UNKNOWN, brief)


def preview(messages: int, posts: Sequence[Seen], unread: Mapping[str, int], would: Sequence[Would]) -> Preview:
    """All of it added up."""
    fired: dict[str, list[Would]] = {}
    for one in would:
        fired.setdefault(one.opened.life.fingerprint, []).append(one)
    recurring = [_recurring(some) for some in fired.values()]
    return Preview(
        messages,
        len(posts),
        min((post.at for post in posts), default=None),
        dict(Counter(post.alert.tool for post in posts)),
        len({post.alert.fingerprint for post in posts}),
        len(would),
        dict(Counter(one.answer for one in would)),
        dict(Counter(found for one in would if (found := _confidence(one)))),
        dict(Counter(one.why for one in would if one.answer is Answer.SILENCE)),
        tuple(sorted((r for r in recurring if r.fired > 1), key=lambda r: (-r.fired, r.title))),
        unread,
        max(would, key=_shows_most, default=None),
    )


def _recurring(some: Sequence[Would]) -> Recurring:
    last = some[-1]
    alert, fired = last.opened.first.alert, sum(len(one.opened.life.spells) for one in some)
    return Recurring(alert.title or alert.fingerprint, alert.service, fired, last.answer)


def _confidence(one: Would) -> Confidence | None:
    best = one.brief.recommendation if one.brief and one.answer is Answer.FIX else None
    return best.confidence if best else None


_RANK = (None, Confidence.LOW, Confidence.MEDIUM, Confidence.HIGH)
_SHOWS = (Answer.SILENCE, Answer.REACTION, Answer.UNKNOWN, Answer.FIX)


def _shows_most(one: Would) -> tuple[int, int, datetime]:
    """The most useful brief, the latest of these."""
    return _SHOWS.index(one.answer), _RANK.index(_confidence(one)), one.opened.life.opened_at
