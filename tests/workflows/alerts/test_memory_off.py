"""A brief for which memory is off: nothing in it may suggest that anybody looked at what happened before."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.alerts.alert import Alert, AlertState, Severity, Symptom
from bot.domain.brief.as_json import build_brief_json
from bot.domain.brief.decide import Brief, add_lifecycle, decide
from bot.domain.incidents.alert_history import AlertHistory
from bot.domain.incidents.opening import IncidentView
from bot.domain.recall.query import OPERATOR, build_query
from bot.domain.recall.ranking import MissingPart, Recalled, rank
from bot.parsers import read
from bot.parsers.shape import build_shape
from bot.slack.views.surfaces import SlackSurfaces
from bot.workflows.recall.preview_brief import PreviewBrief
from tests.builders import NOW, candidate, seed_incidents
from tests.parsers.cases_support import NAMES, event

SUGGESTS = re.compile(
    r"\bpast\b|memory says|memory of \d|\(memory|\bINC-|first time|\bsimilar|\bprecedent|\bnearest|\bin memory|no answer|"
    r"\brecall|\bhistory|\blast time|\bknown to work|\bworked \d|recorded fix|nothing close|INSUFFICIENT|"
    r"\b\d+ of \d+\b|\d+× in|\bHIGH\b|\bMEDIUM\b|\bLOW\b|\bBOUNDARY\b|\bROOT CAUSE\b|\bSOURCES?\b|\bSKIP\b|DID NOT WORK"
)
FULL = Recalled(
    rank(
        build_query(Alert("t", AlertState.FIRING, "f")),
        [candidate(i, 0.9, 0.9, 0.9) for i in seed_incidents().values()],
    ),
    12,
    (MissingPart("memory", "not reachable"),),
)
# no word that could be made of these letters suggests anything
words = st.text(alphabet="bcdfgjklqvwxz 0123456789-._/%é中", min_size=0, max_size=60)
maybe = st.none() | words
alerts = st.builds(
    Alert,
    st.sampled_from(("grafana", "datadog", "generic")),
    st.sampled_from(AlertState),
    words,
    title=maybe,
    severity=st.none() | st.sampled_from(Severity),
    service=maybe,
    environment=maybe,
    region=maybe,
    vendor=maybe,
    symptoms=st.lists(st.builds(Symptom, st.sampled_from(("metric", "error")), name=maybe, code=maybe), max_size=3).map(
        tuple
    ),
    labels=st.dictionaries(words, words, max_size=3),
    text=words,
)
incidents = st.none() | st.builds(
    IncidentView, st.just("N-1"), st.sampled_from(("open", "cleared", "resolved")), st.integers(1, 99), st.just(NOW)
)
histories = st.none() | st.builds(
    AlertHistory, st.just(30), st.integers(0, 50), st.integers(0, 50), st.none() | st.floats(0, 99)
)


def off(alert: Alert, incident: IncidentView | None = None, **more: Any) -> Brief:
    return decide(alert, more.pop("recalled", Recalled()), (), NOW, incident=incident, memory_mode="off", **more)


def values(found: Any) -> list[str]:
    """Everything that is said in JSON values; keys are names, not claims."""
    if isinstance(found, dict):
        return [text for value in found.values() for text in values(value)]
    if isinstance(found, list | tuple):
        return [text for value in found for text in values(value)]
    return [] if found is None else [str(found)]


def suggested(brief: Brief, own: str = "") -> list[str]:
    """Words that suggest history, in all that is shown of a brief, but for the alert's own."""
    message = SlackSurfaces().render_brief(brief)
    facts = {k: v for k, v in build_brief_json(brief, build_shape).items() if k not in {"alert", "incident"}}
    said = [brief.verdict, message.text, *values([b for b in message.blocks if b["type"] != "actions"]), *values(facts)]
    return [found[0] for text in said for found in SUGGESTS.finditer(text) if found[0] not in own]


def claims_nothing(brief: Brief) -> None:
    found = build_brief_json(brief)
    assert found["memory_mode"] == "off"
    for name in ("root_cause", "recommendation"):
        assert found[name] is None
    for name in (
        "steps",
        "step_warnings",
        "alternatives",
        "did_not_work",
        "skip",
        "later",
        "sources",
        "possible",
        "missing",
    ):
        assert found[name] == []
    assert found["boundary"] == {"value": "unknown", "votes": {}, "told_apart_by": None}
    assert found["insufficient_memory"]["reason"] == "memory is off for this brief"
    assert found["insufficient_memory"]["nearest"] is None
    assert brief.history is None


@settings(max_examples=150, deadline=None)
@given(alerts, incidents, histories)
def test_nothing_suggests_history_and_memory_changes_nothing(
    alert: Alert, incident: IncidentView | None, history: AlertHistory | None
) -> None:
    brief = off(alert, incident)
    claims_nothing(brief)
    assert suggested(brief) == []
    assert off(alert, incident, recalled=FULL, history=history) == brief
    if incident:
        claims_nothing(add_lifecycle(brief, incident))
        assert suggested(add_lifecycle(brief, incident)) == []


@pytest.mark.parametrize("name", NAMES)
def test_nothing_suggests_history_for_any_tool(name: str) -> None:
    said = read(event(name))
    if isinstance(said, Alert):
        brief = off(said, recalled=FULL, history=AlertHistory(30, 14, 12, 8.5))
        claims_nothing(brief)
        assert suggested(brief, json.dumps(event(name), ensure_ascii=False)) == []


def test_the_words_are_found_where_memory_is_on() -> None:
    """The net has no hole: the same brief with memory has many of them."""
    alert = Alert("grafana", AlertState.FIRING, "f", title="PaymentGatewayErrorRateHigh", service="payments-api")
    assert suggested(decide(alert, FULL, (), NOW, history=AlertHistory(30, 0, 0, None)))
    assert suggested(decide(alert, Recalled(), (), NOW))


async def test_memory_is_not_even_asked() -> None:
    class Unasked:
        def __getattr__(self, name: str) -> Any:
            raise AssertionError(f"{name} was asked")

    preview = PreviewBrief(Unasked(), Unasked())
    brief = await preview(Alert("grafana", AlertState.FIRING, "f", title="x"), OPERATOR, NOW, use_memory=False)
    claims_nothing(brief)
