"""The differences between briefs before and now: their kind, their parts, and the order in which they are told."""

from __future__ import annotations

from typing import Any

import pytest

from bot.domain.operations.replay_diff import BriefDifference, ChangeKind, compare_replays, find_differences

BEST = {"fix": "Fail over", "successes": 3, "partial": 0, "failures": 0, "outages": 3, "confidence": "HIGH"}
BRIEF: dict[str, Any] = {
    "verdict": "pay: vendor, Fail over worked 3 of 3 (HIGH)",
    "insufficient_memory": None,
    "recommendation": {**BEST, "explanation": "worked 3 of 3"},
    "boundary": {"value": "vendor", "told_apart_by": None},
    "root_cause": {"text": "Slow release", "verified": True, "incident_id": "INC-1"},
    "steps": ["Fail over", "Watch"],
    "step_warnings": [],
    "sources": [{"incident_id": "INC-1"}, {"incident_id": "INC-2"}],
    "possible": [],
    "alternatives": [],
    "did_not_work": [],
    "skip": [{"check": "DB pool", "count": 3, "of": 3}],
    "later": [],
    "contradictions": [],
}
SILENT = BRIEF | {
    "verdict": "pay: no answer from memory",
    "insufficient_memory": {"reason": "nothing close", "nearest": None, "collect": ["p95"]},
    "recommendation": None,
    "sources": [],
}


def best(**changes: Any) -> dict[str, Any]:
    return {"recommendation": BRIEF["recommendation"] | changes}


@pytest.mark.parametrize(
    ("changes", "kind", "parts"),
    [
        ({}, None, []),
        (best(fix="Restart") | {"steps": ["Restart"], "verdict": "x"}, ChangeKind.FIX, ["fix", "steps", "verdict"]),
        ({"steps": ["Fail over"]}, ChangeKind.STEPS, ["steps"]),
        (best(confidence="LOW"), ChangeKind.CONFIDENCE, ["confidence"]),
        ({"boundary": {"value": "internal"}}, ChangeKind.FAULT, ["fault"]),
        ({"sources": [{"incident_id": "INC-2"}, {"incident_id": "INC-1"}]}, ChangeKind.LEAD, ["leads"]),
        ({"root_cause": None}, ChangeKind.CAUSE, ["root cause", "verified"]),
        ({"step_warnings": ["drops"]}, ChangeKind.WARNINGS, ["warnings"]),
        (best(outages=4), ChangeKind.LISTED, ["counts"]),
        ({"skip": None}, ChangeKind.LISTED, ["skip"]),
        (best(explanation="otherwise"), ChangeKind.WORDING, ["explained"]),
        # the same fix, written otherwise
        (best(fix="1. fail  over."), ChangeKind.WORDING, ["fix"]),
        ({"steps": ["fail over", "watch."]}, ChangeKind.WORDING, ["steps"]),
        # what only one of the two versions knows is no difference
        ({"then_and_now": {"x": 1}}, None, []),
    ],
)
def test_kinds(changes: dict[str, Any], kind: ChangeKind | None, parts: list[str]) -> None:
    found = find_differences(BRIEF, BRIEF | changes)
    assert (found[0], [one.part for one in found[1]]) == (kind, parts)
    assert find_differences(BRIEF | changes, BRIEF)[0] == kind


def test_an_older_version_that_does_not_know_a_part() -> None:
    older = {name: value for name, value in BRIEF.items() if name not in {"contradictions", "boundary"}}
    assert (
        find_differences(older, BRIEF | {"boundary": {"value": "internal"}, "contradictions": [{"lead": "x"}]})[0]
        is None
    )


def test_answers_no_longer_and_answers_now_say_only_what_tells_enough() -> None:
    kind, parts = find_differences(BRIEF, SILENT)
    assert kind is ChangeKind.SILENT
    assert parts == (
        BriefDifference("verdict", BRIEF["verdict"], SILENT["verdict"]),
        BriefDifference("fix", "Fail over", "–"),
        BriefDifference("confidence", "HIGH", "–"),
        BriefDifference("leads", "INC-1", "–"),
    )
    assert find_differences(SILENT, BRIEF)[0] is ChangeKind.ANSWERS
    reworded = SILENT | {"insufficient_memory": {"reason": "nothing near", "nearest": None, "collect": ["p95"]}}
    assert find_differences(SILENT, reworded)[0] is ChangeKind.WORDING


def line(incident_id: str, brief: dict[str, Any], seen: str | None = None) -> dict[str, Any]:
    about = {"incident_id": incident_id, "channel": "C1", "service": "pay", "title": None, "at": "2026-11-01T08:00:00Z"}
    return about | {"evidence_at": seen, "brief": brief}


def test_worst_first_and_what_cannot_be_compared_is_counted() -> None:
    low = BRIEF | best(confidence="LOW", fix="Wait")
    medium = BRIEF | best(confidence="MEDIUM", fix="Wait")
    before = [
        line("INC-1", BRIEF),
        line("INC-2", BRIEF | best(explanation="x")),
        line("INC-3", low),
        line("INC-4", BRIEF),
        line("INC-5", BRIEF),
        line("INC-6", medium),
        line("INC-7", BRIEF),
        line("INC-8", BRIEF, "2026-11-01T08:00:02Z"),
    ]
    now = [
        line("INC-1", BRIEF),
        line("INC-2", BRIEF),
        line("INC-3", low | best(confidence="LOW", fix="Restart")),
        line("INC-4", SILENT),
        line("INC-6", medium | best(confidence="MEDIUM", fix="Restart")),
        line("INC-7", BRIEF | {"steps": []}),
        line("INC-8", SILENT, "2026-11-01T09:00:00Z"),
        line("INC-9", BRIEF),
    ]
    found = compare_replays(before, now)
    assert [(c.about["incident_id"], c.kind) for c in found.changes] == [
        ("INC-4", ChangeKind.SILENT),
        ("INC-6", ChangeKind.FIX),
        ("INC-3", ChangeKind.FIX),
        ("INC-7", ChangeKind.STEPS),
        ("INC-2", ChangeKind.WORDING),
    ]
    assert (found.compared, found.gone, found.added, found.moved) == (6, 1, 1, 1)
    assert dict(found.count_by_kind) == {
        ChangeKind.SILENT: 1,
        ChangeKind.FIX: 2,
        ChangeKind.STEPS: 1,
        ChangeKind.WORDING: 1,
    }
