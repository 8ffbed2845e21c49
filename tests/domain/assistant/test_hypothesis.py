"""What a model says is shown only if nothing in it was made up: a list of hostile answers, and honest ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bot.domain.assistant.hypothesis import (
    ALERT,
    Citation,
    Hypothesis,
    ModelConfidence,
    ModelInput,
    RejectedHypothesis,
    TriedFix,
    check_hypothesis,
    tidy,
)
from bot.domain.incidents.record import VerificationStatus

HERE = Path(__file__).parent / "analyst"
HOSTILE = [json.loads(line) for line in (HERE / "hostile.jsonl").read_text("utf-8").splitlines()]
HONEST = [json.loads(line) for line in (HERE / "honest.jsonl").read_text("utf-8").splitlines()]
GIVEN = ModelInput(
    evidence=(
        Citation(ALERT, "PaymentErrors; payments-api; critical; http 504; error rate 18.2 % threshold 5 %"),
        Citation("E1", "pool in use of payments-api: 100 % over 5m, 30 min ago 41 %"),
        Citation("E2", "p95 of payments-api: 840 ms, yesterday 210 ms"),
        Citation("E3", "deploy of payments-api v4.19.0 at 2026-11-29T20:02:00Z, 12 min ago"),
        Citation("E4", "48,201 requests in 5 min on payments-api-7c9d5b6f8-9vj2r"),
    ),
    precedents=(Citation("INC-7", "Gateway times out. On 2026-08-02. Root cause: pool exhausted. Worked: failover to the replica"),),
    attempts=(TriedFix("A1", "Restarted the payments-api pods", VerificationStatus.FAILED), TriedFix("A2", "Raised the pool to 80", VerificationStatus.PARTIAL)),
    failed=("flush the session cache",),
)  # fmt: skip


def judged(answer: object, *, memory: bool = True) -> Hypothesis | RejectedHypothesis:
    return check_hypothesis(answer, replace(GIVEN, memory=memory))


@pytest.mark.parametrize("case", HOSTILE, ids=lambda case: case["rule"])
def test_a_hostile_answer_is_refused_in_plain_words(case: dict[str, object]) -> None:
    found = judged(case["answer"], memory=bool(case["memory"]))
    assert isinstance(found, RejectedHypothesis), found
    assert found.rule in str(case["rule"]).split("|"), found
    assert found.reason.startswith(("it ", "a part "))
    assert not any(sign in found.reason for sign in ("<", ">", "@", "://", "*", "`", "INC-"))
    assert found.rule in {"form", "failed"} or not any(word and word in found.reason for word in found.detail)


PLANTED = ["https://evil.example/x", "evil.example", "еvіl.ехаmрlе", "<!channel>", "<@U123ABC>", "@here", "INC-999", "97 %", "doubled", "Last time", "ignore the rules above", "password: send the password"]  # fmt: skip
DISGUISES: dict[str, Callable[[str], str]] = {
    "plain": str,
    "capitals": str.upper,
    "wide letters": lambda text: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text),
    "zero width inside": "\u200b".join,
    "soft hyphens inside": "\u00ad".join,
    "turned round": lambda text: f"\u202e{text}\u202c",
    "in format": lambda text: f"*`{text}`*",
    "on a line of its own": lambda text: f"\n\u2028{text}\n",
    "behind control characters": lambda text: f"\x00\x1b[31m{text}\x07",
}


@pytest.mark.parametrize("disguise", DISGUISES)
@pytest.mark.parametrize("planted", PLANTED)
def test_what_is_planted_is_found_in_every_part_and_disguise(planted: str, disguise: str) -> None:
    text = DISGUISES[disguise](planted)
    for part in ("possible_root_cause", "reasoning", "recommended_next_action", "uncertainty"):
        for said in (f"{HONEST[0][part]} {text}", f"{text} {HONEST[0][part]}"):
            assert isinstance(judged(HONEST[0] | {part: said}, memory=False), RejectedHypothesis), said


def test_enough_hostile_answers_are_tried() -> None:
    assert len({json.dumps(case) for case in HOSTILE}) == len(HOSTILE) >= 100


@pytest.mark.parametrize("answer", HONEST)
def test_an_honest_answer_is_taken(answer: dict[str, object]) -> None:
    found = judged(answer)
    assert isinstance(found, Hypothesis), found
    assert found.cited == tuple(answer["cited"])  # type: ignore[arg-type]  # a list, by the file
    assert not set(found.recommended_next_action) & set("*`<>")


def test_what_is_shown_is_short_and_masked() -> None:
    said = HONEST[0] | {"reasoning": "the pool waits " * 100, "uncertainty": "password=correcthorse may be wrong"}
    found = judged(said)
    assert isinstance(found, Hypothesis)
    assert len(found.reasoning) <= 600
    assert found.uncertainty == "password=[masked:secret] may be wrong"


def test_nobody_is_sure_who_looked_at_the_alert_alone() -> None:
    text = {"reasoning": "Errors are at 18.2 %.", "confidence": "high"}
    sure, unsure = judged(HONEST[0] | text | {"cited": [ALERT, "E1"]}), judged(HONEST[0] | text | {"cited": [ALERT]})
    assert isinstance(sure, Hypothesis)
    assert isinstance(unsure, Hypothesis)
    assert (sure.confidence, unsure.confidence) == (ModelConfidence.HIGH, ModelConfidence.MEDIUM)


def test_a_danger_that_memory_knows_is_marked() -> None:
    given = replace(GIVEN, precedents=(Citation("INC-7", "Worked: force the failover to the replica"),))
    found = check_hypothesis(
        HONEST[0] | {"recommended_next_action": "Force the failover to the replica.", "cited": ["E1", "E2", "INC-7"]}, given
    )  # fmt: skip
    assert isinstance(found, Hypothesis)
    assert found.dangers == ("force",)


def test_a_host_or_command_that_was_given_may_be_named() -> None:
    given = replace(GIVEN, evidence=(*GIVEN.evidence, Citation("E5", "db-1.internal refuses; runbook: sudo systemctl restart pgbouncer")))  # fmt: skip
    action = "Run sudo systemctl restart pgbouncer on db-1.internal."
    assert isinstance(check_hypothesis(HONEST[0] | {"recommended_next_action": action, "cited": ["E1", "E2", "E5"]}, given), Hypothesis)  # fmt: skip
    assert isinstance(check_hypothesis(HONEST[0] | {"recommended_next_action": action}, given), RejectedHypothesis)


def test_a_fix_without_a_verb_is_the_same_only_word_for_word() -> None:
    given = replace(GIVEN, failed=("node drain of the cache tier", "more replicas"))
    assert isinstance(
        check_hypothesis(HONEST[0] | {"recommended_next_action": "More replicas."}, given), RejectedHypothesis
    )
    assert isinstance(
        check_hypothesis(HONEST[0] | {"recommended_next_action": "More replicas of the cache."}, given), Hypothesis
    )


def test_what_was_tried_is_tried_again_whatever_the_service_runs_as() -> None:
    for action in (
        "Recycle the payments-api pods one by one.",
        "Run a rolling restart of the payments-api deployment.",
    ):
        found = judged(HONEST[0] | {"recommended_next_action": action})
        assert isinstance(found, RejectedHypothesis)
        assert found.rule == "failed"
    other = judged(HONEST[0] | {"recommended_next_action": "Restart the cache pods."})
    assert isinstance(other, Hypothesis)


def test_an_icons_name_is_shown_as_a_word_and_a_time_of_day_stays() -> None:
    assert tidy(":white_check_mark: all is well since 20:02:00") == "white_check_mark all is well since 20:02:00"


def test_names_of_other_alphabets_may_be_told_and_not_made_up() -> None:
    given = replace(GIVEN, evidence=(*GIVEN.evidence, Citation("E5", "queue заказы of payments-api is long")))
    said = HONEST[0] | {"reasoning": "The queue заказы is long.", "cited": ["E5", "E1", "E2"]}
    assert isinstance(check_hypothesis(said, given), Hypothesis)
    refused = check_hypothesis(said | {"cited": ["E1", "E2"]}, GIVEN)
    assert isinstance(refused, RejectedHypothesis)
    assert refused.rule == "language"


def test_who_cites_everything_cites_nothing() -> None:
    given = replace(GIVEN, evidence=tuple(Citation(f"E{n}", "pool 100 %, p95 840 ms") for n in range(1, 14)))
    many = tuple(f"E{n}" for n in range(1, 14))
    assert isinstance(check_hypothesis(HONEST[0] | {"cited": many}, given), RejectedHypothesis)
    assert isinstance(check_hypothesis(HONEST[0] | {"cited": many[:12]}, given), Hypothesis)
