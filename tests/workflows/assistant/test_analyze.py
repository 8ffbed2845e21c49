"""A model is asked only where it may be, what it says is shown only if it holds, and what it was sent is kept."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from bot.bootstrap.wiring.assistant import build_ask_analyst, build_show_model_payloads, format_model_name, open_model
from bot.domain.access.visibility import Viewer
from bot.domain.alerts.channel_settings import ChannelSettings
from bot.domain.assistant.hypothesis import Citation, ModelConfidence, TriedFix
from bot.domain.assistant.prompt import Prompt
from bot.domain.brief.decide import Brief, SourceLine
from bot.domain.evidence.items import EvidenceKind, Observed
from bot.domain.incidents.lifecycle import IncidentState
from bot.domain.incidents.opening import IncidentView
from bot.domain.incidents.record import Boundary, VerificationStatus
from bot.domain.recall.query import OPERATOR
from bot.ports.chat import Channel
from bot.ports.errors import IncidentNotFound, ModelUnavailable
from bot.ports.language_model import ModelAnswer, ModelCall
from bot.ports.unit_of_work import Changes
from bot.settings import Settings
from bot.workflows.assistant.analyze import NOT_HERE, OFF, AskAnalyst
from tests.adapters.model.server import answered, model_server
from tests.workflows.world import START, World, read_event, world

SAID = {
    "possible_root_cause": "The pool of payments-api is exhausted.", "reasoning": "It is at 100 %.", "recommended_next_action": "Look at the queries.",
    "uncertainty": "It may be the cache.", "confidence": "medium", "cited": ["E1"],
}  # fmt: skip
EVIDENCE = [Citation("E1", "pool in use 100 %")]
TRIED = [TriedFix("A1", "restart payments-api", VerificationStatus.FAILED)]
ALERTED = read_event({"alert": {"service": "payments-api", "severity": "critical"}})
BRIEF = Brief("payments-api fires", ALERTED, IncidentView("INC-9", IncidentState.OPEN, 1, START))  # type: ignore[arg-type]  # an alert, as told
REMEMBERS = replace(BRIEF, sources=(SourceLine("INC-7", "Gateway times out", Boundary.VENDOR, "strong", 0.9),))
PUBLIC = Channel("C1")


@dataclass
class ScriptedModel:
    """Answers what it is told to; or is not there."""

    content: Mapping[str, Any] | None = None
    tokens: int = 100
    asked: list[Prompt] = field(default_factory=list)

    async def ask(self, prompt: Prompt, schema: Mapping[str, Any], deadline_s: float) -> ModelAnswer:
        self.asked.append(prompt)
        sent, calls = {"user": prompt.user}, (ModelCall("m", "strict", "answered", 0.1),)
        if self.content is None:
            raise ModelUnavailable("No model answered.", (ModelCall("m", "strict", "too slow", 9.0),), sent)
        return ModelAnswer(self.content, "m", calls, sent, self.tokens, 0)


@pytest.fixture
async def w(tmp_path: Path) -> AsyncIterator[World]:
    async with world(tmp_path) as made:
        yield made


def analyst(w: World, model: ScriptedModel | None, tokens: int = 1000) -> AskAnalyst:
    return AskAnalyst(
        model=model, ledger=w.memory.store.model_ledger, channels=w.memory.channels, clock=w.clock, daily_tokens=tokens
    )


async def test_what_holds_is_shown_and_what_was_sent_is_kept(w: World) -> None:
    found = await analyst(w, ScriptedModel(SAID))(BRIEF, PUBLIC, "U1", EVIDENCE, TRIED)
    assert found.hypothesis is not None
    assert (found.hypothesis.confidence, found.hypothesis.cited, found.reason) == (
        ModelConfidence.MEDIUM,
        ("E1",),
        None,
    )
    (kept,) = await build_show_model_payloads(w.memory)("INC-9", Viewer())
    assert (kept.by, kept.outcome, kept.tokens, kept.memory, kept.model) == ("U1", "shown", 100, True, "m")
    assert "restart payments-api (FAILED)" in kept.payload["user"]
    assert await w.memory.incidents.list_records(OPERATOR) == ()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"cited": ["INC-999"]}, "it cited what it was not given"),
        ({"reasoning": "It is at 97 %."}, "it gave figures that are not in what it cites"),
        ({"recommended_next_action": "Restart payments-api."}, "it proposed what failed already (restart payments-api)"),
        ({"reasoning": "Last time it was the vendor."}, "it spoke of past incidents, and it was given none"),
    ],
)  # fmt: skip
async def test_what_does_not_hold_is_not_shown_and_it_is_said_why(w: World, change: dict[str, Any], why: str) -> None:
    found = await analyst(w, ScriptedModel(SAID | change))(BRIEF, PUBLIC, "U1", EVIDENCE, TRIED)
    assert (found.hypothesis, found.reason) == (None, f"The model's answer is not shown: {why}.")
    assert (await build_show_model_payloads(w.memory)("INC-9", Viewer()))[0].outcome == found.reason


async def test_what_the_brief_shows_now_is_the_evidence(w: World) -> None:
    model = ScriptedModel(SAID)
    seen = Observed(EvidenceKind.METRIC, "pool_in_use", "pool in use", "prometheus", START, 100.0, "%")
    found = await analyst(w, model)(replace(BRIEF, evidence=(seen,)), PUBLIC, "U1")
    assert found.hypothesis is not None
    assert "pool in use: 100 %" in model.asked[0].user


async def test_compared_asks_once_with_memory_and_once_without(w: World) -> None:
    model = ScriptedModel(SAID | {"reasoning": "INC-7 was alike.", "cited": ["INC-7", "E1"]})
    with_memory, without = await analyst(w, model).compare(REMEMBERS, PUBLIC, "U1", EVIDENCE)
    assert with_memory.hypothesis is not None
    assert without.hypothesis is None
    assert sorted("INC-7" in prompt.user for prompt in model.asked) == [False, True]
    assert {one.memory for one in await w.memory.store.model_ledger.list_exchanges("INC-9")} == {True, False}


async def test_nobody_is_asked_without_a_model_or_after_the_days_tokens(w: World) -> None:
    assert (await analyst(w, None)(BRIEF, PUBLIC, "U1")).reason == OFF
    model = ScriptedModel(SAID)
    ask = analyst(w, model, tokens=150)
    for _ in range(2):
        assert (await ask(BRIEF, PUBLIC, "U1", EVIDENCE)).hypothesis
    refused = await ask(BRIEF, PUBLIC, "U1", EVIDENCE)
    assert refused.reason == "Today's 150 tokens are used up; the model is asked again from 00:00 UTC on."
    assert len(model.asked) == 2
    w.clock.advance(days=1)
    assert (await ask(BRIEF, PUBLIC, "U1", EVIDENCE)).hypothesis


@pytest.mark.parametrize(
    ("channel", "model", "asked"),
    [
        (PUBLIC, None, True),
        (PUBLIC, False, False),
        (Channel("G1", is_private=True), None, False),
        (Channel("G1", is_private=True), True, True),
        (Channel("C2", is_shared=True, is_allowed=True), None, False),
        (Channel("C2", is_shared=True, is_allowed=True), True, True),
        (Channel("C2", is_shared=True), True, False),
    ],
)
async def test_a_private_or_shared_channel_needs_a_steward(
    w: World, channel: Channel, model: bool | None, asked: bool
) -> None:
    await w.memory.channels.save_settings(channel.id, ChannelSettings(model=model), (), Changes())
    told = ScriptedModel(SAID)
    found = await analyst(w, told)(BRIEF, channel, "U1", EVIDENCE)
    assert len(told.asked) == asked
    assert found.reason == (None if asked else NOT_HERE)


async def test_what_went_out_in_vain_is_kept_and_counted_too(w: World) -> None:
    found = await analyst(w, ScriptedModel(None))(replace(BRIEF, incident=None), PUBLIC, "U1", EVIDENCE)
    assert (found.hypothesis, found.reason) == (None, "No model answered.")
    (kept,) = await w.memory.store.model_ledger.list_exchanges("-")
    assert kept.outcome == "No model answered."
    assert kept.tokens > 100
    silent = ScriptedModel(SAID, tokens=0)
    await analyst(w, silent)(BRIEF, PUBLIC, "U1", EVIDENCE)
    assert (await w.memory.store.model_ledger.list_exchanges("INC-9"))[0].tokens > 20


async def test_what_was_sent_from_a_private_channel_is_seen_there_alone(w: World) -> None:
    room = Channel("G1", is_private=True)
    await w.memory.channels.save_settings("G1", ChannelSettings(model=True), (), Changes())
    await analyst(w, ScriptedModel(SAID))(BRIEF, room, "U1", EVIDENCE)
    show = build_show_model_payloads(w.memory)
    assert len(await show("INC-9", room.viewer)) == 1
    with pytest.raises(IncidentNotFound, match="Nothing about INC-9 was sent"):
        await show("INC-9", Viewer())


async def test_a_model_that_cannot_be_reached_is_said_so_and_nothing_breaks(w: World) -> None:
    class Gone:
        async def ask(self, prompt: Prompt, schema: Mapping[str, Any], deadline_s: float) -> ModelAnswer:
            raise ModelUnavailable("The models are not asked for 30 s more (rate limit).")

    found = await AskAnalyst(
        model=Gone(), ledger=w.memory.store.model_ledger, channels=w.memory.channels, clock=w.clock, daily_tokens=10
    )(BRIEF, PUBLIC, "U1")
    assert found.reason == "The models are not asked for 30 s more (rate limit)."
    assert await w.memory.store.model_ledger.list_exchanges("INC-9") == ()


async def test_from_the_settings_to_a_server_and_back(w: World) -> None:
    async with model_server({"openai/gpt-oss-120b": [answered(json.dumps(SAID))]}) as server:
        settings = Settings(groq_api_key=SecretStr("k"), groq_base_url=server.url)
        async with open_model(settings) as model:
            found = await build_ask_analyst(settings=settings, memory=w.memory, model=model, clock=w.clock)(
                BRIEF, PUBLIC, "U1", EVIDENCE
            )
    assert found.hypothesis is not None
    (kept,) = await build_show_model_payloads(w.memory)("INC-9", Viewer())
    assert kept.payload == server.asked[0]
    assert kept.tokens == 120
    assert format_model_name(settings) == "openai/gpt-oss-120b, openai/gpt-oss-20b"


@pytest.mark.parametrize("given", [{}, {"groq_api_key": "k", "llm": "off"}, {"groq_api_key": "k", "groq_models": " ,"}, {"groq_api_key": ""}])  # fmt: skip
async def test_without_a_key_or_with_llm_off_there_is_no_model(given: dict[str, Any]) -> None:
    async with open_model(Settings(_env_file=None, **given)) as model:
        assert model is None
