"""Whatever a model says, nothing of it has power in a message, and what is shown is labelled."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bot.domain.assistant.hypothesis import (
    ALERT,
    Citation,
    Hypothesis,
    ModelConfidence,
    ModelInput,
    RejectedHypothesis,
    check_hypothesis,
)
from bot.ports.language_model import ModelCall, ModelExchange
from bot.slack.views.hypothesis import LABEL, build_hypotheses_view, render_hypotheses, render_hypothesis, render_sent
from bot.workflows.assistant.analyze import NOT_SHOWN, Analysis
from tests.fakes import START
from tests.slack import cases
from tests.slack.views.hostile_support import HOSTILE, INVISIBLE, OURS

ANSWERS = [
    json.loads(line)["answer"]
    for line in (Path(__file__).parent.parent.parent / "domain" / "assistant" / "analyst" / "hostile.jsonl")
    .read_text("utf-8")
    .splitlines()
]
GIVEN = ModelInput((Citation(ALERT, "payments-api fires"), Citation("E1", "pool 100 %"), Citation("E2", "p95 840 ms")))
# What an obeying or inventing model would have wanted to see in the thread.
PLANTED = re.compile(
    r"evil|INC-9|INC-8|U123|subteam|<!|@here|@channel|97|850|48,201|password|curl|rm -rf|https?:", re.I
)


def messages(analysis: Analysis) -> list[tuple[str, str]]:
    message = render_hypothesis(analysis)
    return [
        ("mrkdwn", message.text),
        *cases.texts(message.blocks),
        *cases.texts(build_hypotheses_view(render_hypotheses(analysis, analysis))),
    ]


def shown(answer: object, *, memory: bool = True) -> Analysis:
    found = check_hypothesis(answer, GIVEN)
    if isinstance(found, RejectedHypothesis):
        return Analysis(memory, reason=NOT_SHOWN.format(found.reason), model="m")
    return Analysis(memory, found, model="m")


def test_nothing_that_a_hostile_model_says_gets_into_a_message() -> None:
    assert len(ANSWERS) >= 60
    for answer in ANSWERS:
        for _, said in messages(shown(answer)):
            assert not PLANTED.search(said), (answer, said)
            assert "<" not in said
            assert ">" not in said


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hypothesis_of_any_text_is_inert_and_labelled(text: str) -> None:
    found = Hypothesis(text, text, text, text, ModelConfidence.LOW, (text,), ("delete",))
    payload = {"messages": [{"role": "user", "content": text}]}
    sent = ModelExchange(text, "public", START, text, True, text, text, payload, (ModelCall(text, text, text, 0.1),), 5)
    told = render_sent([sent, sent, sent, sent])
    surfaces = [*messages(Analysis(True, found, model=text)), ("mrkdwn", told.text), *cases.texts(told.blocks)]
    for kind, said in surfaces:
        rest = OURS.sub("", said) if kind == "mrkdwn" else said
        assert "<" not in rest, said
        assert ">" not in rest, said
        assert not INVISIBLE.search(said), repr(said)
        assert len(said) <= 3000
    assert render_hypothesis(Analysis(True, found)).text.startswith(LABEL)
    assert LABEL in cases.shown(render_hypothesis(Analysis(True, found)).blocks)


def test_the_message_says_how_sure_who_says_it_and_what_it_rests_on() -> None:
    brief = cases.high()
    source = brief.sources[0]
    found = Hypothesis("The pool is full", "It waits", "Force a failover", "", ModelConfidence.MEDIUM, (source.incident_id, "E1"), ("force",))  # fmt: skip
    message = render_hypothesis(Analysis(True, found, model="big"), brief)
    told = cases.shown(message.blocks)
    assert told.splitlines()[0] == f"*{LABEL}*"
    assert ":warning: force: make sure before you do it" in told
    assert "medium confidence · big · with memory · from " in told
    assert f"|{source.incident_id}>, E1" in told
    assert "What may be wrong" not in told
    without = render_hypothesis(Analysis(False, reason="No model is set up."))
    assert without.text == "No hypothesis: No model is set up."


def test_a_long_payload_is_shown_in_parts_and_its_rest_counted() -> None:
    sent = ModelExchange("INC-9", "public", START, "U1", False, "m", "shown", {"content": "x" * 50_000}, (), 5)
    blocks = render_sent([sent]).blocks
    assert len(blocks) == 14
    assert "6 more parts" in cases.shown(blocks[-1])
    assert render_sent([]).blocks == ()
