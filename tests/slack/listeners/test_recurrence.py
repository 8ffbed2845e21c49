"""The alert that fires again soon after its fix was seen to work: asked once in the old thread, answered once."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from bot.domain.resolutions.recurrence import RecurrenceAnswer
from bot.ports.errors import IncidentNotFound
from bot.slack import ids
from bot.slack.listeners.brief_actions import ANSWERED_BEFORE, answer_recurrence
from tests.slack.conftest import Desk, SteppingClock, pressed, wait

NAME = "unknown-ledger-drift"


async def recorded(office: Desk, outcome: str = "recovered", channel: str = "C0ALERTS") -> str:
    """An alert whose fix was recorded; its ts."""
    ts = await office.alert(NAME, channel)
    await office.slack.click(channel, office.brief(ts, channel)["ts"], ids.RECORD, user="alice")
    await office.slack.wait_until(lambda: office.slack.view("alice"))
    await office.slack.submit_view({"outcome": outcome, "fix": "Flush the ledger cache"}, user="alice")
    await office.work()
    return ts


def thread(office: Desk, ts: str) -> str:
    return json.dumps(office.slack.replies("C0ALERTS", ts), ensure_ascii=False)


def question(office: Desk, ts: str) -> dict[str, Any]:
    return next(m for m in office.slack.replies("C0ALERTS", ts) if "fired again" in m["text"])


async def status(office: Desk) -> str:
    return (await office.memory.incidents.read_record("INC-1")).attempts[-1].status.value


async def until(office: Desk, done: Callable[[str], bool]) -> str:
    for _ in range(100):  # a button is acknowledged before it is recorded
        if done(found := await status(office)):
            break
        await wait()
    await office.work()
    return found


async def test_it_is_asked_once_in_its_thread_and_counts_as_partly_meanwhile(office: Desk) -> None:
    ts = await recorded(office)
    assert await status(office) == "VERIFIED"
    for _ in range(2):  # once more: a repeat of the new incident
        await office.alert(NAME)
    assert await status(office) == "PARTIAL"
    assert thread(office, ts).count("Did the fix work?") == 1
    assert "Flush the ledger cache" in json.dumps(question(office, ts)["blocks"])


@pytest.mark.parametrize(
    ("answer", "expected", "said"),
    [("partly", "PARTIAL", "Partly"), ("failed", "FAILED", "Did not work"), ("unrelated", "VERIFIED", "Unrelated")],
)
async def test_the_first_answer_stands_and_takes_the_questions_place(
    office: Desk, answer: str, expected: str, said: str
) -> None:
    ts = await recorded(office)
    await office.alert(NAME)
    asked = question(office, ts)["ts"]
    assert (await office.slack.click("alerts", asked, f"{ids.AGAIN}.{answer}", user="alice")).acked
    for _ in range(100):
        await office.work()
        if f"*{said}*, says" in thread(office, ts):
            break
        await wait()
    assert await status(office) == expected
    assert "Did the fix work?" not in thread(office, ts)
    it, told = pressed({"i": "INC-1", "n": 1, "a": RecurrenceAnswer.FAILED.value})
    await answer_recurrence(office.deps, it)
    assert told[0]["text"] == ANSWERED_BEFORE
    assert await status(office) == expected


async def test_the_brief_of_the_alert_stays_and_the_next_one_knows_the_answer(office: Desk) -> None:
    ts = await recorded(office)
    again = await office.alert(NAME)
    before = json.dumps(office.brief(again))
    assert "MEDIUM" in before
    await office.slack.click("alerts", question(office, ts)["ts"], f"{ids.AGAIN}.failed", user="alice")
    assert await until(office, lambda found: found == "FAILED") == "FAILED"
    assert json.dumps(office.brief(again)) == before
    asked = await office.alert(NAME, "C0SECRET")
    told = json.dumps(office.slack.replies("C0SECRET", asked)[0])
    assert "DID NOT WORK" in told
    assert "MEDIUM" not in told


@pytest.mark.parametrize("outcome", ["partly", "no"])
async def test_a_fix_that_nobody_saw_work_is_not_asked_about(office: Desk, outcome: str) -> None:
    ts = await recorded(office, outcome)
    before = await status(office)
    await office.alert(NAME)
    assert await status(office) == before
    assert "fired again" not in thread(office, ts)


async def test_an_hour_later_nothing_is_asked(office: Desk) -> None:
    ts = await recorded(office)
    clock = office.deps.clock
    assert isinstance(clock, SteppingClock)
    clock.at += timedelta(hours=2)
    await office.alert(NAME)
    assert await status(office) == "VERIFIED"
    assert "fired again" not in thread(office, ts)


async def test_a_forged_button_changes_nothing(office: Desk) -> None:
    await recorded(office)
    for said in (
        {"i": "INC-1", "n": 1, "a": "did not work"},
        {"i": "INC-1", "n": "1", "a": "partly"},
        {"i": "INC-1", "n": 1, "a": "x"},
    ):
        it, told = pressed(said)
        await answer_recurrence(office.deps, it)
        assert told[0]["text"] == ANSWERED_BEFORE
    with pytest.raises(IncidentNotFound):
        await answer_recurrence(office.deps, pressed({"i": "INC-99", "n": 1, "a": "partly"})[0])
    assert await status(office) == "VERIFIED"
