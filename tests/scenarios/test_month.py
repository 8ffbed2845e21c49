"""A month through the real store, index and use cases: what a responder would have been told, against what was true.

`pytest -s tests/scenarios/test_month.py` prints the table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from bot.bootstrap.memory import Memory, open_memory
from bot.cli.show import message_text
from bot.domain.alert import Alert
from bot.domain.brief import Brief
from bot.domain.brief_json import brief_json
from bot.domain.incident import Boundary, FailedCheck
from bot.domain.query import OPERATOR
from bot.domain.same_fix import same_fix
from bot.domain.words import content_words
from bot.ports.store import Changes, Received
from bot.settings import Settings
from bot.slack.messages import SlackSurfaces
from bot.workflows.brief import AnswerAlert, PreviewBrief
from bot.workflows.resolve import Outcome, Resolution, Resolve
from tests.builders import alert_from
from tests.databases import fresh
from tests.scenarios.month import Occurrence, occurrences
from tests.workflows.world import START, Counting, ToldChat, ToldClock, ts_of

GOLDEN = (0, 13, 26, 27, 41, 44, 50, 53, 59)
BETWEEN, WORKED_ON = timedelta(hours=12), timedelta(minutes=70)


def reader(event: Mapping[str, Any]) -> Alert:
    return alert_from(event["alert"])


@dataclass
class Told:
    """What was said over the month, and how often that was true."""

    briefs: dict[int, Brief] = field(default_factory=dict)
    fixes: Counter[tuple[str, str]] = field(default_factory=Counter)
    skips: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    restored: list[bool] = field(default_factory=list)

    def take(self, one: Occurrence, brief: Brief) -> None:
        """Judge one brief by the truth."""
        self.briefs[one.number] = brief
        best = brief.recommendation
        if best is None:
            self.fixes["-", "abstained"] += 1
        else:
            right = any(same_fix(best.fix, fix) for fix in one.family.true_fix(one.n))
            self.fixes[best.confidence.value, "right" if right else "wrong"] += 1
            if not right:
                self.wrong.append(f"alert {one.number} ({one.alert['title']}): {best.confidence.value} {best.fix!r}")
        for skip in brief.skip:
            guilty = content_words(skip.check) <= content_words(one.family.cause)
            self.skips["wrong" if guilty else "right"] += 1

    def table(self) -> str:
        rows = [
            f"{level:<7}{self.fixes[level, 'right']:>6}{self.fixes[level, 'wrong']:>7}"
            for level in ("HIGH", "MEDIUM", "LOW")
        ]
        return "\n".join(
            [
                "told   right  wrong",
                *rows,
                f"abstained {self.fixes['-', 'abstained']} of {sum(self.fixes.values())}",
                f"SKIP right {self.skips['right']}, wrong {self.skips['wrong']}",
                *self.wrong,
            ]
        )


class Month:
    """The people and their bot."""

    def __init__(self, memory: Memory, clock: ToldClock) -> None:
        self.memory, self.clock, surfaces = memory, clock, SlackSurfaces()
        self.answer = AnswerAlert(memory.incidents, memory.recall, memory.index, ToldChat(), surfaces, clock, reader)
        self.preview = PreviewBrief(memory.recall, memory.index)
        self.resolve = Resolve(memory.incidents, surfaces, clock)
        self.told = Told()

    async def goes_by(self, months: Sequence[Occurrence]) -> Told:
        for one in months:
            self.clock.at = START + one.number * BETWEEN
            incident_id = await self.fires(one)
            self.clock.at += WORKED_ON
            await self.people(one, incident_id)
        return self.told

    async def fires(self, one: Occurrence) -> str:
        ts = ts_of(self.clock.at)
        body = {"event": {"channel": "C1", "ts": ts, "alert": one.alert}}
        assert await self.memory.inbox.receive(Received(f"Ev{one.number}", f"T1/{one.number}", "message", body))
        (row,) = await self.memory.inbox.take(1)
        await self.answer(row)
        incident_id = await self.memory.incidents.incident_at("C1", ts)
        assert incident_id
        (posted,) = await self.memory.incidents.briefs(incident_id)
        self.told.take(one, posted.brief)
        return incident_id

    async def people(self, one: Occurrence, incident_id: str) -> None:
        """What people record of it."""
        true, decoy = one.wording, one.family.decoy
        acts: dict[str, list[tuple[Outcome, str]]] = {
            "right": [(Outcome.RECOVERED, true)],
            "decoy first": [(Outcome.NO, decoy), (Outcome.RECOVERED, true)],
            "partly": [(Outcome.PARTLY, true)],
            "mistaken": [(Outcome.RECOVERED, decoy)],
            "mistaken then failed": [(Outcome.NO, decoy), (Outcome.RECOVERED, true)],
            "retracted": [(Outcome.RECOVERED, decoy)],
            "only failed": [(Outcome.NO, decoy)],
            "unsure": [(Outcome.NOT_SURE, true)],
            "nothing": [],
        }
        alert = alert_from(one.alert)
        before = brief_json(await self.preview(alert, OPERATOR, self.clock.at)) if one.act == "retracted" else None
        for step, (outcome, fix) in enumerate(acts[one.act]):
            said = Resolution(
                outcome,
                incident_id,
                fix=fix,
                root_cause=one.family.cause if outcome is Outcome.RECOVERED and fix == true else None,
                boundary=Boundary(one.family.boundary),
                failed_checks=tuple(FailedCheck(c, m) for c, m in one.family.checks),
            )
            await self.resolve(said, "U1", f"{one.number}/{step}")
        if before is not None:
            assert brief_json(await self.preview(alert, OPERATOR, self.clock.at)) != before
            await self.memory.incidents.commit(Changes(retracted=(incident_id,)))
            after = brief_json(await self.preview(alert, OPERATOR, self.clock.at))
            self.told.restored.append(after == before)


@pytest.fixture
async def month(tmp_path: Path) -> Told:
    clock = ToldClock()
    settings = Settings(database_url=fresh(tmp_path / "month.db"), embeddings="off")
    async with open_memory(settings, clock, Counting()) as memory:
        return await Month(memory, clock).goes_by(list(occurrences()))


async def test_a_month(month: Told, snapshot: SnapshotAssertion) -> None:
    print(f"\n{month.table()}")  # for `pytest -s`
    assert sum(month.fixes.values()) == 60
    assert month.fixes["HIGH", "wrong"] == 0, month.table()
    assert month.restored == [True]
    assert month.table() == snapshot(name="table")
    for number in GOLDEN:
        message = SlackSurfaces().brief(month.briefs[number])
        assert message_text({"blocks": message.blocks}) == snapshot(name=f"alert {number:02}")
