"""Whatever a brief holds, its message stays within Slack's limits and the phone's two screens."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.domain.alerts.alert import Alert, AlertState, Severity, Symptom
from bot.domain.brief.boundary import BoundaryCall
from bot.domain.brief.checks import PostponedCheck, SkippedCheck
from bot.domain.brief.contradictions import Contradiction
from bot.domain.brief.decide import Brief, InsufficientMemory, RootCause, SourceLine
from bot.domain.brief.recommendation import Confidence, FailedFix, Recommendation
from bot.domain.brief.then_and_now import PastSnapshot
from bot.domain.evidence.items import ComparisonValue, EvidenceKind, Observed, Unavailable
from bot.domain.incidents.alert_history import AlertHistory
from bot.domain.incidents.lifecycle import IncidentState
from bot.domain.incidents.opening import IncidentView
from bot.domain.incidents.record import Boundary
from bot.domain.recall.ranking import MissingPart
from bot.playground import validate_message
from bot.slack.views.brief.layout import render_brief, render_recalled, render_superseded
from bot.slack.views.markup import count_text

TEXT = st.one_of(
    st.text(max_size=40),
    st.sampled_from(["", "<!channel>" * 30, "&" * 3000, "word " * 700, "*`_~" * 200, "\u202e" * 50, "a\nb\n" * 300]),
)
MAYBE = st.none() | TEXT
TIME = st.datetimes(min_value=datetime(2000, 1, 1), max_value=datetime(2100, 1, 1), timezones=st.just(UTC))
IDS = st.lists(TEXT, max_size=5).map(tuple)
COUNT = st.integers(0, 10_000)
URLS = st.sampled_from([None, "https://x.example/a", "https://x.example/" + "a" * 900, "javascript:1", "https://<x|y>"])


def many(what: st.SearchStrategy[object], most: int = 7) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(what, max_size=most).map(tuple)


ALERTS = st.builds(
    Alert,
    tool=TEXT,
    state=st.sampled_from(AlertState),
    fingerprint=TEXT,
    title=MAYBE,
    severity=st.none() | st.sampled_from(Severity),
    service=MAYBE,
    environment=MAYBE,
    region=MAYBE,
    symptoms=many(st.builds(Symptom, kind=st.just("error"), code=MAYBE, text=MAYBE)),
    links=st.dictionaries(TEXT, URLS.map(lambda u: u or ""), max_size=4),
    text=TEXT,
)
RATED = st.builds(
    Recommendation, TEXT, COUNT, COUNT, COUNT, COUNT, st.sampled_from(Confidence), TEXT, st.none() | TIME, IDS
)
SOURCES = many(
    st.builds(
        SourceLine, TEXT, TEXT, st.sampled_from(Boundary), st.just("strong"), st.floats(0, 1), st.none() | TIME, IDS,
        URLS, MAYBE,
    )
)  # fmt: skip
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
SIGNALS = st.sampled_from(["error_ratio", "p95", "pool"])
KINDS = st.sampled_from(EvidenceKind)
EVIDENCE = st.builds(
    Observed, KINDS, SIGNALS, TEXT, TEXT, TIME, st.none() | NUMBER, TEXT, MAYBE, many(st.builds(ComparisonValue, TEXT, NUMBER), 6),
    MAYBE, st.none() | COUNT, st.none() | TIME, st.none() | TIME, URLS, st.booleans(),
) | st.builds(Unavailable, KINDS, SIGNALS, TEXT, TEXT, TEXT)  # fmt: skip
BRIEFS = st.builds(
    Brief,
    verdict=TEXT,
    alert=ALERTS,
    incident=st.none()
    | st.builds(
        IncidentView, TEXT, st.sampled_from(["open", "cleared", "resolved", "dismissed", "?"]), COUNT, TIME,
        st.none() | TIME, MAYBE,
    ),
    memory_mode=st.sampled_from(["on", "on", "on", "off"]),
    insufficient_memory=st.none() | st.builds(InsufficientMemory, TEXT, MAYBE, IDS, MAYBE),
    boundary=st.builds(BoundaryCall, st.sampled_from(Boundary), st.dictionaries(TEXT, COUNT, max_size=4), MAYBE),
    root_cause=st.none() | st.builds(RootCause, TEXT, st.booleans(), TEXT),
    steps=many(TEXT, 9),
    step_warnings=many(TEXT),
    recommendation=st.none() | RATED,
    alternatives=many(RATED, 5),
    did_not_work=many(st.builds(FailedFix, TEXT, COUNT, IDS), 5),
    skip=many(
        st.builds(
            SkippedCheck, TEXT, COUNT, COUNT, st.none() | st.floats(0, 1e6), st.none() | st.tuples(st.floats(0, 1e6), st.floats(0, 1e6))
        )
    ),
    later=many(st.builds(PostponedCheck, TEXT, TEXT, IDS)),
    sources=SOURCES,
    possible=SOURCES,
    missing=many(st.builds(MissingPart, TEXT, TEXT, MAYBE), 4),
    history=st.none() | st.builds(AlertHistory, COUNT, COUNT, COUNT, st.none() | st.floats(0, 1e6)),
    evidence=many(EVIDENCE, 12),
    evidence_at=st.none() | TIME,
    contradictions=many(st.builds(Contradiction, TEXT, TEXT, TEXT, TEXT), 4),
    then=st.none() | st.builds(PastSnapshot, TEXT, st.dictionaries(SIGNALS, TEXT, max_size=4)),
    now=st.none() | TIME,
)  # fmt: skip


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(BRIEFS, TEXT, st.integers(1, 10))
def test_any_brief_fits(brief: Brief, asked: str, limit: int) -> None:
    for message in (render_brief(brief), render_superseded(brief), render_recalled(brief, asked, limit)):
        assert len(message.blocks) <= 12
        assert count_text(message.blocks) <= 2000
        assert 1 <= len(message.text) <= 140
        assert validate_message({"text": message.text, "blocks": [dict(b) for b in message.blocks]}) == []


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(BRIEFS)
def test_the_same_brief_gives_the_same_bytes(brief: Brief) -> None:
    assert render_brief(brief) == render_brief(replace(brief))


def test_the_fullest_brief_fits() -> None:
    """Everything at its longest at once, which random briefs seldom are."""
    long, at = "&" * 3000, datetime(2026, 1, 1, tzinfo=UTC)
    rated = Recommendation(long, 9, 9, 9, 9, Confidence.LOW, long, at, (long,) * 5)
    line = SourceLine(
        long, long, Boundary.INTERNAL, "strong", 1, at, (long,) * 4, "https://x.example/" + "&" * 900, long
    )
    compared = tuple(ComparisonValue(f"{n}{long}", 1e300) for n in range(6))
    seen = Observed(EvidenceKind.DEPLOY, "", long, long, at, 1e300, long, long, compared, long, 9, at, at, "https://x.example/" + "&" * 250, True)  # fmt: skip
    unseen = Unavailable(EvidenceKind.LOGS, long, long, long, long)
    brief = Brief(
        long,
        Alert("t", AlertState.FIRING, "f", severity=Severity.CRITICAL, environment=long, region=long),
        IncidentView(long[:200], IncidentState.OPEN, 99_999, at, at, long),
        boundary=BoundaryCall(Boundary.INTERNAL, {c * 50: 9 for c in "abcd"}, long),
        root_cause=RootCause(long, verified=False, incident_id=long),
        steps=(long,) * 9,
        step_warnings=(long,) * 9,
        recommendation=rated,
        alternatives=(rated,) * 9,
        did_not_work=(FailedFix(long, 9, (long,) * 9),) * 9,
        skip=(SkippedCheck(long, 9, 9, 9, (1, 9)),) * 9,
        later=(PostponedCheck(long, long),) * 9,
        sources=(line,) * 9,
        possible=(line,) * 9,
        missing=(MissingPart(long, long, long),) * 9,
        history=AlertHistory(30, 9_999, 9_999, 9_999),
        evidence=(*(replace(seen, signal=f"s{n}") for n in range(9)), *(unseen,) * 9),
        evidence_at=at,
        contradictions=(Contradiction(long, long, long, long),) * 9,
        then=PastSnapshot(long, {f"s{n}": long for n in range(9)}),
        now=at,
    )
    for message in (render_brief(brief), render_superseded(brief), render_recalled(brief, long, 10)):
        assert (len(message.blocks) <= 12, count_text(message.blocks) <= 2000) == (True, True)
        assert len(message.text) <= 140
