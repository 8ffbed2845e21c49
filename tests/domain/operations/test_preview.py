"""What the last alerts of a channel would have opened, and what each would have got."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.domain.alerts.alert import Alert, AlertState, Severity
from bot.domain.alerts.suppression import ANSWERED, Disposition, SuppressionDecision
from bot.domain.brief.decide import Brief, decide
from bot.domain.brief.recommendation import Confidence
from bot.domain.incidents.record import Attempt, Boundary, Incident, VerificationStatus
from bot.domain.operations.preview import (
    Preview,
    PreviewOutcome,
    SeenPost,
    build_answer,
    build_preview,
    find_openings,
    restore_firing,
)
from bot.domain.recall.ranking import Precedent, Recalled, Tier

START = datetime(2026, 11, 1, tzinfo=UTC)


def seen(hours: float, name: str = "a", state: AlertState = AlertState.FIRING, **facts: Any) -> SeenPost:
    at = START + timedelta(hours=hours)
    alert = Alert(
        "grafana", state, f"grafana:{name}", title=f"Alert {name}", severity=facts.pop("severity", Severity.HIGH)
    )
    return SeenPost(replace(alert, **facts), f"{at.timestamp():.6f}", at, "B1")


def brief(one: SeenPost, precedent: bool = False) -> Brief:
    attempt = Attempt("restart it", VerificationStatus.VERIFIED, at=START - timedelta(days=3))
    known = Incident(
        "INC-1", "it", boundary=Boundary.INTERNAL, attempts=(attempt,), started_at=START - timedelta(days=3)
    )
    recalled = Recalled((Precedent(known, 0.9, Tier.STRONG, ("the same alert",)),)) if precedent else Recalled()
    return decide(one.alert, recalled, (), one.at)


def test_posts_make_incidents_as_they_would_have() -> None:
    ended = replace(seen(50, "b", AlertState.RESOLVED), edited_at=START + timedelta(hours=51))
    posts = [
        seen(0),
        seen(1),
        seen(2, state=AlertState.RESOLVED),
        seen(3),
        seen(40),
        seen(45, "c", AlertState.RESOLVED),
        ended,
    ]
    first, second, third = find_openings(posts, "public", "C1")
    assert (first.life.fired, len(first.life.spells), first.first) == (3, 2, posts[0])
    assert (second.first, second.life.cleared_at) == (posts[4], None)
    assert (third.first, third.life.cleared_at) == (ended, START + timedelta(hours=51))
    assert restore_firing(ended).state is AlertState.FIRING
    assert restore_firing(posts[0]) == posts[0].alert
    (alone,) = find_openings([replace(ended, edited_at=None), seen(60, "b")], "public", "C1")
    assert alone.life.opened_at == START + timedelta(hours=60)


def test_each_incident_is_answered_as_agreed_and_as_memory_knows() -> None:
    posts = [
        seen(0),
        seen(0.5, state=AlertState.RESOLVED),
        seen(30),
        seen(1, "mild", severity=Severity.WARNING),
        seen(2, "new"),
        seen(3, "muted"),
    ]
    one, mild, new, muted, again = find_openings(posts, "public", "C1")
    silent = SuppressionDecision(Disposition.COUNT_ONLY, "muted by U1")
    would = [
        build_answer(one, ANSWERED, brief(one.first, precedent=True)),
        build_answer(mild, ANSWERED, brief(mild.first)),
        build_answer(new, ANSWERED, brief(new.first)),
        build_answer(muted, silent, None),
        build_answer(again, ANSWERED, brief(again.first, precedent=True)),
    ]
    assert [w.answer for w in would] == [
        PreviewOutcome.FIX,
        PreviewOutcome.REACTION,
        PreviewOutcome.UNKNOWN,
        PreviewOutcome.SILENCE,
        PreviewOutcome.FIX,
    ]
    found = build_preview(9, posts, {"GitHub": 3}, would)
    assert (found.messages, found.alerts, found.since, found.families, found.incidents) == (9, 6, START, 4, 5)
    assert found.answers == {
        PreviewOutcome.FIX: 2,
        PreviewOutcome.REACTION: 1,
        PreviewOutcome.UNKNOWN: 1,
        PreviewOutcome.SILENCE: 1,
    }
    assert found.confidence == {Confidence.MEDIUM: 2}
    assert found.silent == {"muted by U1": 1}
    assert [(r.title, r.fired, r.answer) for r in found.recurring] == [("Alert a", 2, PreviewOutcome.FIX)]
    assert found.example is would[4]
    assert build_preview(3, [], {}, []) == Preview(messages=3)
