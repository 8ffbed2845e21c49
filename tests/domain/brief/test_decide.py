"""The brief as a whole: what it says with and without memory, that it is the same for the same input, that it is bounded."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.alerts.alert import AlertState
from bot.domain.brief.as_json import build_alert_json, build_brief_json, format_time
from bot.domain.brief.decide import (
    LISTED_LIMIT,
    Brief,
    InsufficientMemory,
    RootCause,
    add_lifecycle,
    decide,
    is_same_advice,
)
from bot.domain.incidents.alert_history import AlertHistory
from bot.domain.incidents.lifecycle import IncidentState
from bot.domain.incidents.opening import IncidentView
from bot.domain.incidents.record import Announcement, Boundary, FailedCheck, Runbook, Source
from bot.domain.recall.query import build_query
from bot.domain.recall.ranking import MissingPart, Precedent, Recalled, rank
from tests.builders import NOW, an_alert, an_incident, candidate, on_day, precedent, precedents, seed_incidents, tried

DOWN = (MissingPart("memory", "no answer in 3 s", "11:58"),)


def recall(*found: Precedent, known: int = 9, missing: tuple[MissingPart, ...] = ()) -> Recalled:
    return Recalled(tuple(found), known, missing)


def brief(*found: Precedent, alert=None, **more: Any) -> Brief:
    return decide(alert or an_alert(), recall(*found), (), NOW, **more)


def worked(incident_id: str = "INC-1", day: int = 1, **more: Any):
    usual = {
        "started_at": on_day(day),
        "boundary": Boundary.VENDOR,
        "root_cause": " razorpay was slow ",
        "attempts": (tried("Open the breaker; route to stripe", by="meera"),),
        "failed_checks": (FailedCheck("DB pool", 10),),
    }
    return an_incident(incident_id, **{**usual, **more})


def test_strong_precedents_fill_the_brief() -> None:
    found = brief(*precedents(worked("INC-2", 2), worked("INC-1", 1)), history=AlertHistory(30, 14, 12))
    assert found.insufficient_memory is None
    assert found.boundary.value is Boundary.VENDOR
    assert found.root_cause == RootCause("razorpay was slow", verified=True, incident_id="INC-2")
    assert found.steps == ("Open the breaker", "route to stripe")
    assert found.recommendation is not None
    assert (found.recommendation.successes, found.outages) == (2, 2)
    assert [s.check for s in found.skip] == ["DB pool"]
    assert [s.incident_id for s in found.sources] == ["INC-2", "INC-1"]
    assert (found.possible, found.history, found.now) == ((), AlertHistory(30, 14, 12), NOW)
    assert found.verdict.startswith("payments-api: memory says vendor razorpay, 2 of 2; Open the breaker worked 2 of 2")


def test_a_source_says_when_who_and_where() -> None:
    linked = worked(
        source=Source(url="https://chat.example/1"),
        attempts=(tried("x", by="a"), tried("y", by="b"), tried("z", "FAILED", by="c")),
    )
    announced = worked(
        "INC-2", source=Source(), alerts=(Announcement(), Announcement(url="https://tool.example")), attempts=()
    )
    first, second = brief(*precedents(linked, announced)).sources
    assert (first.url, first.fixed_by, first.date, first.tier) == ("https://chat.example/1", "b", on_day(1), "strong")
    assert (second.url, second.fixed_by) == ("https://tool.example", None)


def test_the_cause_of_a_verified_record_goes_before_a_better_ranked_one() -> None:
    guess = worked("INC-2", root_cause="perhaps DNS", attempts=(tried("x", "FAILED"),))
    silent = worked("INC-3", root_cause=None)
    assert brief(*precedents(guess, silent, worked())).root_cause == RootCause("razorpay was slow", True, "INC-1")
    assert brief(*precedents(silent, guess)).root_cause == RootCause("perhaps DNS", False, "INC-2")
    assert brief(*precedents(silent)).root_cause is None


def test_possible_precedents_are_listed_and_never_counted() -> None:
    listed = precedent(worked("INC-9", root_cause="x", boundary=Boundary.INTERNAL), 0.3)
    found = brief(*precedents(worked()), listed)
    assert [s.incident_id for s in found.possible] == ["INC-9"]
    assert found.boundary.votes == {"vendor": 1}
    assert found.recommendation is not None
    assert found.recommendation.outages == 1
    alone = brief(listed)
    assert (alone.root_cause, alone.steps, alone.recommendation, alone.skip, alone.sources) == (None, (), None, (), ())
    assert alone.boundary.value is Boundary.UNKNOWN


def test_what_is_not_shown_leaves_no_trace() -> None:
    assert brief(precedent(worked(), 0.1)) == brief()


def why_not(found: Brief) -> InsufficientMemory:
    assert found.insufficient_memory is not None
    return found.insufficient_memory


def differing(*pairs: tuple[str, str]) -> Precedent:
    return replace(precedent(worked("INC-7"), 0.4), differs=pairs)


REASONS = [
    (recall(known=0), "nothing in memory yet", None),
    (recall(known=1), "nothing close among 1 past incident", None),
    (recall(known=40, missing=DOWN), "nothing close among 40 past incidents", None),
    (recall(known=0, missing=DOWN), "memory unreachable (no answer in 3 s)", None),
    (recall(known=0, missing=(MissingPart("model", "no key"),)), "nothing in memory yet", None),
    (recall(differing()), "nearest INC-7 is alike only in part", "INC-7 (captures time out) is alike only in part"),
    (
        recall(differing(("region", "eu-west-1"), ("vendor", "stripe"))),
        "nearest INC-7 differs in region, vendor",
        "INC-7 (captures time out) differs in region (eu-west-1, now ap-south-1), vendor (stripe, now razorpay)",
    ),
]


@pytest.mark.parametrize(("recalled", "reason", "nearest"), REASONS)
def test_without_a_strong_precedent_the_brief_says_why_and_what_to_collect(recalled, reason: str, nearest) -> None:
    found = decide(an_alert(links={"Runbook": "https://runbooks.example/1"}), recalled, (), NOW)
    why = found.insufficient_memory
    assert why is not None
    assert (why.reason, why.runbook) == (reason, "https://runbooks.example/1")
    assert why.nearest == nearest
    assert why.collect[0].startswith("razorpay: its status page")
    assert found.root_cause is None
    assert found.recommendation is None
    assert found.missing == recalled.missing
    assert found.verdict.startswith("payments-api: no answer from memory, ")


def test_a_difference_from_something_the_alert_does_not_say_is_told_without_it() -> None:
    found = decide(an_alert(vendor=None), recall(differing(("vendor", "stripe"))), (), NOW)
    assert why_not(found).nearest == "INC-7 (captures time out) differs in vendor (stripe)"


@pytest.mark.parametrize(
    ("links", "runbook"),
    [
        ({"dashboard": "d", "runbook_url": "r"}, "r"),
        ({"Playbook": "p", "dashboard": "d"}, "p"),
        ({"grafana dashboard": "d", "source": "s"}, "d"),
        ({"source": "s"}, None),
    ],
)
def test_the_alerts_own_runbook_else_its_dashboard(links, runbook) -> None:
    assert why_not(decide(an_alert(links=links), recall(), (), NOW)).runbook == runbook


def test_with_memory_off_nothing_of_history_is_used_or_hinted_at() -> None:
    strong = precedents(worked())
    off = brief(*strong, memory_mode="off", history=AlertHistory(30, 14, 12))
    assert off == brief(memory_mode="off")
    assert off.verdict == "payments-api: PaymentGatewayErrorRateHigh firing (critical)"
    assert (off.history, off.sources, off.possible, off.missing) == (None, (), (), ())
    said = json.dumps(build_brief_json(off)).casefold()
    for word in ("inc-", "past", "similar", "worked", "insufficient memory", "recall"):
        assert word not in said, word
    assert why_not(off).reason == "memory is off for this brief"
    assert decide(an_alert(), Recalled((), 0, DOWN), (), NOW, memory_mode="off").missing == ()


def test_no_fix_known_to_work_says_so() -> None:
    found = brief(*precedents(worked(attempts=(tried("restart", "FAILED"),))))
    assert (found.steps, found.recommendation, found.step_warnings) == ((), None, ())
    assert [d.fix for d in found.did_not_work] == ["restart"]
    assert found.verdict.endswith("no fix known to work")


def test_steps_are_warned_of_by_the_incident_they_come_from() -> None:
    other = worked("INC-2", region="eu-west-1", attempts=(tried("call them", "FAILED"),))
    past = worked("INC-1", region="us-east-1", attempts=(tried("delete the proxy in us-east-1 or eu-west-1"),))
    assert brief(*precedents(other, past)).step_warnings == (
        "written for us-east-1; this alert is ap-south-1",
        "step 1 is destructive (delete): make sure before you run it",
    )


def view(state: str = "open", fired: int = 1) -> IncidentView:
    return IncidentView("INC-50", IncidentState(state), fired, NOW)


def test_going_on_changes_state_and_verdict_and_never_the_steps() -> None:
    first = brief(*precedents(worked()), incident=view())
    later = add_lifecycle(first, view("cleared", 3))
    assert later.verdict.startswith("payments-api: cleared: memory says vendor")
    assert replace(later, incident=first.incident, verdict=first.verdict) == first
    assert add_lifecycle(later, view()) == first


def test_whether_the_advice_is_the_same() -> None:
    one, none = brief(*precedents(worked())), brief()
    assert is_same_advice(one, add_lifecycle(one, view("cleared")))
    assert is_same_advice(none, none)
    assert not is_same_advice(one, none)
    assert not is_same_advice(none, one)
    assert not is_same_advice(one, brief(*precedents(worked(), worked("INC-2", 2))))
    assert not is_same_advice(one, brief(*precedents(worked(attempts=(tried("other"),)))))


@settings(max_examples=25, derandomize=True, deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_same_input_in_another_order_gives_the_same_bytes(random) -> None:
    seeds = list(seed_incidents().values())
    expected = None
    for _ in range(2):
        random.shuffle(seeds)
        found = list(rank(build_query(an_alert()), [candidate(i, 0.2, 0.4, 0.2) for i in seeds], known=len(seeds)))
        random.shuffle(found)
        said = json.dumps(build_brief_json(decide(an_alert(), recall(*found, known=len(seeds)), (), NOW)))
        assert expected in (None, said)
        expected = said


LONG = st.text(min_size=1, max_size=40).map(lambda t: t * 60)


@settings(max_examples=30, derandomize=True, deadline=None)
@given(LONG, st.sampled_from([0.9, 0.3]))
def test_no_record_makes_a_brief_too_long(text: str, probability: float) -> None:
    many = [
        worked(
            f"INC-{n}",
            1 + n % 28,
            title=text,
            root_cause=text,
            region=text,
            attempts=(tried(text), tried(f"{n} {text}", "FAILED"), tried(f"{text} {n}"), tried(f"p {n}", "PARTIAL")),
            failed_checks=tuple(FailedCheck(f"{n} {m} {text}") for m in range(9)),
            runbooks=(Runbook("x", text),),
        )
        for n in range(30)
    ]
    found = brief(*(precedent(i, probability) for i in many), alert=an_alert(region="x", service=text))
    told = replace(found, sources=found.sources[:LISTED_LIMIT], alert=an_alert())
    assert len(json.dumps(build_brief_json(told), ensure_ascii=False)) < 80_000
    assert len(found.verdict) <= 140
    assert len(found.skip) + len(found.later) <= 5
    assert all(len(line.title) <= 150 for line in (*found.sources, *found.possible))
    assert len(found.steps) <= 20
    assert all(len(step) <= 500 for step in found.steps)


KEYS_TOLD = """
verdict alert incident memory_mode insufficient_memory boundary root_cause steps step_warnings recommendation
alternatives did_not_work skip later evidence contradictions sources possible missing
"""
KEYS = KEYS_TOLD.split()


def test_the_json_of_a_full_brief() -> None:
    found = brief(
        *precedents(
            worked("INC-1", alerts=(Announcement("fp-1"),)),
            worked(
                "INC-2",
                2,
                attempts=(tried("restart", "FAILED"), tried("wait", "PARTIAL")),
                failed_checks=(FailedCheck("slow razorpay"),),
                boundary=Boundary.INTERNAL,
            ),
        ),
        precedent(worked("INC-3", 3), 0.25),
        incident=view(),
    )
    said = build_brief_json(found)
    assert list(said) == KEYS
    assert said["incident"] == {
        "incident_id": "INC-50",
        "state": "open",
        "fired": 1,
        "opened_at": "2026-11-29T12:00:00Z",
    }
    assert said["boundary"]["value"] == "vendor"
    assert said["boundary"]["votes"] == {"internal": 1, "vendor": 1}
    assert said["root_cause"] == {"text": "razorpay was slow", "verified": True, "incident_id": "INC-1"}
    assert said["recommendation"] == {
        "fix": "Open the breaker; route to stripe",
        "successes": 1,
        "partial": 0,
        "failures": 0,
        "outages": 2,
        "confidence": "MEDIUM",
        "explanation": "tried in 1 of 2 similar outages, worked 1 of 1: INC-1",
        "last_worked": "2026-11-01T10:00:00Z",
        "incidents": ["INC-1"],
    }
    assert [a["fix"] for a in said["alternatives"]] == ["wait"]
    assert said["did_not_work"] == [{"fix": "restart", "failures": 1, "incidents": ["INC-2"]}]
    assert said["skip"] == [
        {
            "check": "DB pool",
            "minutes_median": 10.0,
            "minutes_range": [10, 10],
            "minutes_known": 1,
            "count": 1,
            "of": 2,
            "incidents": ["INC-1"],
        }
    ]
    assert said["later"] == [
        {"check": "slow razorpay", "reason": "it was the cause in INC-1, INC-3", "incidents": ["INC-1", "INC-3"]}
    ]
    assert (said["evidence"], said["contradictions"], said["missing"]) == ([], [], [])
    assert said["possible"] == [
        {
            "incident_id": "INC-3",
            "title": "captures time out",
            "date": "2026-11-03T10:00:00Z",
            "boundary": "vendor",
            "tier": "possible",
            "probability": 0.25,
            "why": [],
            "url": None,
        }
    ]
    assert said["insufficient_memory"] is None
    json.dumps(said)


def test_the_json_of_a_brief_without_memory_and_with_another_shape_of_the_alert() -> None:
    silent = decide(an_alert(severity=None), Recalled((), 0, DOWN), (), NOW)
    said = build_brief_json(silent, lambda alert: {"title": alert.title})
    assert list(said) == KEYS
    assert said["alert"] == {"title": "PaymentGatewayErrorRateHigh"}
    assert (said["incident"], said["root_cause"], said["recommendation"]) == (None, None, None)
    assert said["insufficient_memory"]["reason"] == "memory unreachable (no answer in 3 s)"
    assert said["missing"] == [{"what": "memory", "reason": "no answer in 3 s", "since": "11:58"}]
    assert build_brief_json(silent)["alert"]["severity"] is None
    undated = brief(*precedents(worked(started_at=None, failed_checks=(FailedCheck("DNS"),))))
    assert build_brief_json(undated)["skip"][0]["minutes_range"] is None
    assert build_brief_json(undated)["sources"][0]["date"] is None


def test_the_shape_of_an_alert() -> None:
    shape = build_alert_json(an_alert(links={"b": "2", "a": "1"}))
    assert shape["severity"] == "critical"
    assert shape["state"] == "firing"
    assert list(shape["links"]) == ["a", "b"]


def test_times_are_told_in_utc() -> None:
    assert format_time(NOW.astimezone(tz=None) + timedelta(microseconds=5)) == "2026-11-29T12:00:00Z"
    assert format_time(None) is None


def test_a_brief_for_a_post_that_is_not_firing_says_so() -> None:
    alert = an_alert(state=AlertState.NO_DATA)
    assert decide(alert, recall(), (), NOW, memory_mode="off").verdict.endswith("no data (critical)")
