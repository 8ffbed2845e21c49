"""What recording costs a person: taps and characters from the brief to "recorded", in the three commonest cases."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from bot.slack import ids
from tests.slack.conftest import Desk, wait

# Alerts that memory does not know, and that it knows.
LEDGER, GATEWAY = "unknown-ledger-drift", "payment-gateway-504"


@dataclass
class Thumb:
    """A person's hand on a phone, which counts. A select costs two taps: open it, choose."""

    desk: Desk
    brief_ts: str
    taps: int = 0
    characters: int = 0

    async def press(self, action_id: str) -> None:
        """Press a button under the brief, and confirm where it asks for that."""
        message = self.desk.slack.message("C0ALERTS", self.brief_ts)
        buttons = [e for b in message["blocks"] if b["type"] == "actions" for e in b["elements"]]
        pressed = next(e for e in buttons if e["action_id"] == action_id)
        self.taps += 2 if "confirm" in pressed else 1
        assert (await self.desk.slack.click("C0ALERTS", self.brief_ts, action_id, user="alice")).acked

    async def choose(self, block: str, value: str | None = None) -> None:
        """Choose in a select of the modal: the first option, if none is named."""
        self.taps += 2
        view = self.desk.slack.view("alice") or {}
        found = next(b for b in view["blocks"] if b["block_id"] == block)
        await self.desk.slack.fill({block: value or found["element"]["options"][0]["value"]}, user="alice")

    async def write(self, block: str, text: str) -> None:
        """Type into an input of the modal."""
        self.taps += 1
        self.characters += len(text)
        await self.desk.slack.fill({block: text}, user="alice")

    async def submit(self) -> None:
        """Press "Record"."""
        self.taps += 1
        assert (await self.desk.slack.submit_view(user="alice")).errors == {}


async def this_fixed_it(thumb: Thumb) -> None:
    await thumb.press(ids.FIXED)


async def a_known_fix(thumb: Thumb) -> None:
    await thumb.press(ids.RECORD)
    await thumb.desk.slack.wait_until(lambda: thumb.desk.slack.view("alice"))
    await thumb.choose(ids.OUTCOME, "recovered")
    await thumb.choose(ids.KNOWN_FIX)
    await thumb.submit()


async def a_new_fix(thumb: Thumb) -> None:
    await thumb.press(ids.RECORD)
    await thumb.desk.slack.wait_until(lambda: thumb.desk.slack.view("alice"))
    await thumb.choose(ids.OUTCOME, "recovered")
    await thumb.write(ids.FIX, "flush ledger cache\nrestart the worker")
    await thumb.submit()


@pytest.mark.parametrize(
    ("alert", "record", "taps", "characters"),
    [(GATEWAY, this_fixed_it, 2, 0), (GATEWAY, a_known_fix, 6, 0), (LEDGER, a_new_fix, 5, 37)],
)
async def test_recording_costs_a_few_taps(
    office: Desk,
    alert: str,
    record: Callable[[Thumb], Any],
    taps: int,
    characters: int,
) -> None:
    await office.seed()
    ts = await office.alert(alert)
    thumb = Thumb(office, office.brief(ts)["ts"])
    await record(thumb)
    for _ in range(100):  # a button is acknowledged before it is recorded
        await office.work()
        if "recorded by <@U0ALICE>" in json.dumps(office.slack.replies("C0ALERTS", ts)[-1]["blocks"]):
            break
        await wait()
    incident_id = await office.memory.incidents.find_incident("C0ALERTS", ts) or ""
    assert [a.status for a in (await office.memory.incidents.read_record(incident_id)).attempts] == ["VERIFIED"]
    assert thumb.taps <= taps
    assert thumb.characters <= characters
