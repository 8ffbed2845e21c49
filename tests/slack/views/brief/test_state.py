"""The line that says how an incident stands, and the one that asks about another incident."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from bot.domain.brief.decide import SameOutage
from bot.domain.incidents.alert_history import AlertHistory
from bot.slack.views.brief.layout import MAX_BLOCKS, MAX_TEXT, render_brief
from bot.slack.views.markup import count_text
from tests.slack import cases


def shown(*, insufficient: bool = False, history: AlertHistory | None = None, **view: Any) -> str:
    brief = cases.insufficient() if insufficient else cases.high()
    return json.dumps(
        render_brief(replace(brief, incident=cases.view(**view), history=history)).blocks, ensure_ascii=False
    )


@pytest.mark.parametrize(
    ("view", "said"),
    [
        ({"no_data": True}, "*No data since*"),
        ({"no_data": True, "state": "resolved"}, "*Resolved*"),
        ({"firing": 1, "members": 3}, "2 of 3 cleared"),
        ({"flaps": 5, "flaps_minutes": 20}, "*flapping*: fired and cleared 5 times in 20 min"),
    ],
)
def test_the_state_line_says(view: dict[str, Any], said: str) -> None:
    assert said in shown(**view)
    assert said in shown(insufficient=True, **view)


@pytest.mark.parametrize(
    "view",
    [{"firing": 3, "members": 3}, {"firing": None, "members": 3}, {"firing": 1, "members": 3, "state": "resolved"}],
)
def test_a_group_that_fires_as_a_whole_or_is_over_is_not_called_cleared_in_part(view: dict[str, Any]) -> None:
    assert "cleared" not in shown(**view)


def test_the_history_stands_in_the_brief_that_has_no_answer_too() -> None:
    said = "14× in 30 days, 12 cleared with no recorded fix, median 6 min"
    for insufficient in (True, False):
        assert said in shown(insufficient=insufficient, history=AlertHistory(30, 14, 12, 6.2))


def test_the_question_about_another_incident_keeps_the_limits_and_escapes_what_it_shows() -> None:
    other = SameOutage("INC-80", "datadog", "<!channel> " + "x" * 300, "https://team.slack.example/archives/C1/p1")
    message = render_brief(replace(cases.high(), same_outage=other))
    assert len(message.blocks) <= MAX_BLOCKS
    assert count_text(message.blocks) <= MAX_TEXT
    said = json.dumps(message.blocks)
    assert "Same outage? <https://team.slack.example/archives/C1/p1|INC-80>" in said
    assert "<!channel>" not in said
    assert said.count("Not the same") == 1
