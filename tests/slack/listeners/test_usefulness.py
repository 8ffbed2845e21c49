"""`/precedent report`: what the asker may see, the wrong ones first."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.domain.reports.usefulness import Ratio, UsefulnessReport, WrongHigh
from bot.playground import validate_message
from bot.ports.errors import RecordRejected
from bot.slack.listeners.reports import read_days
from bot.slack.views.usefulness import render_report
from tests.slack import cases
from tests.slack.conftest import Desk, wait

WRONG = WrongHigh("INC-4", "<!channel> Problem", "Fail over", cases.NOW, "Roll *back*", "https://slack.example/4")
FOUND = UsefulnessReport(
    cases.NOW - timedelta(days=30), cases.NOW, 9, 7, 5, Ratio(4, 5), Ratio(3, 5), Ratio(2, 3), 4, 6, 1, (WRONG,),
    Ratio(5, 8), 12.0, 21,
)  # fmt: skip


def test_the_wrong_ones_stand_on_top() -> None:
    message = render_report(FOUND, "the last 30 days")
    text = cases.shown(message.blocks)
    assert validate_message({"text": message.text, "blocks": [dict(b) for b in message.blocks]}) == []
    assert "*HIGH and wrong: 1 of 6*; 1 were never recorded" in text
    assert (
        "<https://slack.example/4|INC-4> 2026-11-29 &lt;!channel&gt; Problem: Fail over was not it; what worked: Roll ∗back∗"
        in text
    )
    assert "used in 3 of 5 (60 %) worked outages (one was shown in 4)" in text
    assert "2 of 3 (67 %) that somebody judged; 4 not judged" in text
    assert "5 of 8 (62 %) incidents that are over, 12 min after the alert cleared (median)" in text
    assert "21 posted, 3 for each outage" in text
    assert text.index("HIGH and wrong") < text.index("Acted on")


def test_little_to_tell() -> None:
    many = replace(FOUND, wrong_high=(WRONG,) * 7, minutes_to_record=None, high_untold=0)
    assert "+2 more" in cases.shown(render_report(many, "x").blocks)
    assert "median" not in cases.shown(render_report(many, "x").blocks)
    assert "No fix was recommended with HIGH" in cases.shown(render_report(replace(FOUND, high=0), "x").blocks)
    assert "No incident began" in cases.shown(render_report(replace(FOUND, incidents=0), "x").blocks)
    bare = replace(FOUND, wrong_high=(replace(WRONG, instead=None),), outages=0, acted_on=Ratio(0, 0))
    assert "was not it\n" in cases.shown(render_report(bare, "x").blocks) + "\n"


async def test_a_story_of_one_incident_seen_from_where_it_may_be(office: Desk) -> None:
    desk = office
    await desk.seed()
    ts = await desk.alert()
    await desk.slack.click("C0ALERTS", desk.brief(ts)["ts"], "precedent.fixed", user="alice")
    for _ in range(50):  # the listener goes on after its acknowledgement
        await desk.work()
        if len(desk.slack.replies("C0ALERTS", ts)) > 1:
            break
        await wait()
    await desk.slack.slash("C0ALERTS", "precedent", "report 7d", user="alice")
    said = await desk.whisper()
    assert "1 incident in 1 outage" in said
    assert "used in 1 of 1 (100 %) worked outages" in said
    assert "1 of 1 (100 %) that somebody judged" in said
    assert "HIGH and wrong: 0 of 1" in said
    assert "2 posted" in said
    await desk.slack.slash("C0ALERTS", "precedent", "report soon", user="bob")
    assert "Say for how long" in await desk.whisper("bob")


@pytest.mark.parametrize("said", ["0d", "366d", "12h", "53w", "x"])
def test_how_long_is_said_in_days_or_weeks(said: str) -> None:
    with pytest.raises(RecordRejected, match="/precedent report 30d"):
        read_days(said, "/precedent report 30d")
    assert [read_days(good, "") for good in ("7d", "2W", "365d")] == [7, 14, 365]
