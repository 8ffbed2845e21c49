"""What must hold for any memory: failures never raise, successes never lower, what is retracted leaves no trace, and
nothing is counted more often than it happened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.brief.as_json import build_brief_json
from bot.domain.brief.decide import Brief, decide
from bot.domain.brief.recommendation import Confidence, Recommendation, build_fix_record
from bot.domain.fixes.identity import is_same_fix
from bot.domain.incidents.outages import map_outages
from bot.domain.incidents.record import Boundary, FailedCheck, Incident, VerificationStatus
from bot.domain.recall.ranking import Recalled
from tests.builders import NOW, an_alert, an_incident, on_day, precedents, tried

# Wordings of four fixes: some are the same in other words, some only look it.
WORDINGS = (
    "Restart the cache nodes", "restarted cache nodes.", "Do not restart the cache nodes", "Raise the pool to 100",
    "increase pool to 100", "Lower the pool to 100", "Raise the pool to 200",
)  # fmt: skip
ASKED = WORDINGS[0]
TRUST = {None: 0, Confidence.LOW: 1, Confidence.MEDIUM: 2, Confidence.HIGH: 3}
ATTEMPT = st.builds(
    lambda fix, status, runbook: tried(fix, status.value, runbook_id=runbook),
    st.sampled_from(WORDINGS),
    st.sampled_from(list(VerificationStatus)),
    st.sampled_from([None, None, None, "RB-1"]),
)
INCIDENT = st.builds(
    lambda n, hours, service, boundary, region, attempts, checks: an_incident(
        f"I{n}",
        service=service,
        boundary=boundary,
        region=region,
        started_at=on_day(1) + timedelta(hours=hours) if hours >= 0 else None,
        attempts=tuple(attempts),
        failed_checks=tuple(FailedCheck(c, float(m)) for c, m in checks),
    ),
    st.integers(0, 10_000),
    # few times and services, so that incidents often are one outage
    st.sampled_from([-1, 0, 0, 24, 24, 72, 200]),
    st.sampled_from([None, "api", "api", "web"]),
    st.sampled_from(list(Boundary)),
    st.sampled_from([None, "eu-west-1", "ap-south-1"]),
    st.lists(ATTEMPT, max_size=3),
    st.lists(st.tuples(st.sampled_from(["DB pool", "db pools", "DNS"]), st.integers(0, 60)), max_size=2),
)
MEMORY = st.lists(INCIDENT, max_size=6, unique_by=lambda i: i.incident_id)
# Two fixes only, each with successes and failures: close rivals.
CLOSE = st.lists(
    st.builds(
        lambda n, day, fixes: an_incident(
            f"I{n}", service=f"s{n}", started_at=on_day(day), attempts=tuple(tried(f, s) for f, s in fixes)
        ),
        st.integers(0, 10_000),
        st.integers(1, 6),
        st.lists(
            st.tuples(st.sampled_from([ASKED, WORDINGS[3]]), st.sampled_from(["VERIFIED", "VERIFIED", "FAILED"])),
            min_size=1,
            max_size=2,
        ),
    ),
    min_size=2,
    max_size=6,
    unique_by=lambda i: i.incident_id,
)
EXAMPLES = settings(max_examples=120, derandomize=True, deadline=None)


def rated(records: Sequence[Incident]) -> list[Recommendation]:
    """All fixes that worked or may have, best first."""
    found = build_fix_record(precedents(*records), NOW)
    return [r for r in (found.recommendation, *found.alternatives) if r]


def trust_in(records: Sequence[Incident]) -> int:
    found = [r for r in rated(records) if is_same_fix(r.fix, ASKED) and r.successes]
    return TRUST[found[0].confidence] if found else 0


def place_of(records: Sequence[Incident]) -> int:
    """How many rivals stand before the asked fix; more than any if it is not listed."""
    return next((n for n, r in enumerate(rated(records)) if is_same_fix(r.fix, ASKED)), 99)


def without_runbooks(records: Sequence[Incident]) -> list[Incident]:
    """A runbook may carry several wordings; here each fix is told by its words."""
    return [replace(i, attempts=tuple(replace(a, runbook_id=None) for a in i.attempts)) for i in records]


def brief_of(records: Sequence[Incident], region: str | None = "eu-west-1") -> Brief:
    alert = an_alert(service=None, vendor=None, region=region)
    return decide(alert, Recalled(precedents(*records), len(records)), (), NOW)


@EXAMPLES
@given(MEMORY | CLOSE, INCIDENT, st.sampled_from([ASKED, "restarted cache nodes."]))
def test_a_failure_more_never_raises_a_fixs_confidence(memory: list[Incident], new: Incident, wording: str) -> None:
    records = without_runbooks(memory)
    failed = replace(new, incident_id="NEW", attempts=(tried(wording, "FAILED"),))
    assert trust_in([*records, failed]) <= trust_in(records)


@EXAMPLES
@given(MEMORY | CLOSE, st.sampled_from([ASKED, "restarted cache nodes."]))
def test_a_success_more_never_lowers_a_fixs_place(memory: list[Incident], wording: str) -> None:
    records = without_runbooks(memory)
    # An outage of its own, of today, so that nothing else about the memory changes.
    worked = an_incident("NEW", service="other", started_at=NOW - timedelta(hours=2), attempts=(tried(wording),))
    before, after = place_of(records), place_of([*records, worked])
    assert after <= before
    assert after < 99 or any(a.status is VerificationStatus.FAILED for i in records for a in i.attempts)


@EXAMPLES
@given(MEMORY, INCIDENT, st.integers(0, 6))
def test_retracting_restores_the_earlier_brief_byte_for_byte(memory: list[Incident], new: Incident, place: int) -> None:
    before = brief_of(memory)
    grown = list(memory)
    grown.insert(min(place, len(grown)), replace(new, incident_id="NEW"))
    brief_of(grown)
    after = brief_of([i for i in grown if i.incident_id != "NEW"])
    assert after == before
    assert repr(build_brief_json(after)) == repr(build_brief_json(before))


@EXAMPLES
@given(MEMORY, st.sampled_from([None, "eu-west-1", "ap-south-1"]))
def test_nothing_is_counted_more_often_than_there_were_outages(memory: list[Incident], region: str | None) -> None:
    brief, outages = brief_of(memory, region), len(set(map_outages(memory).values()))
    assert brief.outages == outages
    assert sum(brief.boundary.votes.values()) <= outages
    for found in (brief.recommendation, *brief.alternatives):
        if found:
            assert found.outages == outages
            assert found.successes + found.partial + found.failures <= outages
    for failed in brief.did_not_work:
        assert failed.failures <= outages
    for skip in brief.skip:
        assert skip.count <= skip.of == outages
        assert skip.minutes_known <= skip.count


@EXAMPLES
@given(MEMORY, st.sampled_from([None, "eu-west-1", "ap-south-1"]))
def test_a_fix_against_the_boundary_is_never_silent(memory: list[Incident], region: str | None) -> None:
    brief = brief_of(memory, region)
    best = brief.recommendation
    if best and brief.boundary.value.value in {"vendor", "internal"}:
        against = not set(best.worked_in) & {brief.boundary.value.value, "mixed", "unknown"}
        assert brief.verdict.startswith("Mixed") or not against
