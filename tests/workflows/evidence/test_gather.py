"""Sources are asked beside memory: the brief waits for them until the deadline, is completed by one edit, and keeps what it
saw. One that hangs, fails or rests costs its own lines and nothing else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from bot.domain.alerts.alert import Alert
from bot.domain.delivery.kinds import Operation
from bot.domain.evidence.items import Evidence, EvidenceKind, Observed, Unavailable
from bot.domain.operations.load import LoadShedding
from bot.ports.delivery.inbox import InboxRow
from bot.ports.errors import EvidenceUnavailable, StoreConflict
from bot.ports.evidence import LATER, build_refresh_work
from bot.ports.unit_of_work import Changes
from bot.slack.views.surfaces import SlackSurfaces
from bot.workflows.evidence.complete import CompleteEvidence
from bot.workflows.evidence.gather import BUSY, GatherEvidence
from bot.workflows.resolutions.resolve import FixOutcome, Resolution
from tests.builders import an_alert
from tests.workflows.world import World, world


@dataclass
class Source:
    """Answers at once, or when it is let go; or fails."""

    name: str = "metrics"
    kind: EvidenceKind = EvidenceKind.METRIC
    value: float = 18.2
    problem: Exception | None = None
    free: asyncio.Event = field(default_factory=asyncio.Event)
    asked: int = 0

    async def observe(self, alert: Alert, at: datetime) -> Sequence[Evidence]:
        self.asked += 1
        await self.free.wait()
        if self.problem:
            raise self.problem
        return (
            Observed(self.kind, f"{self.name}_value", f"{self.name} value", self.name, at, self.value, "%", "5 min"),
        )


def source(name: str = "metrics", *, hangs: bool = False, **more) -> Source:
    made = Source(name, **more)
    if not hangs:
        made.free.set()
    return made


@dataclass
class EvidenceWorld:
    """A world with sources, and the row that completes."""

    world: World
    gather: GatherEvidence
    complete: CompleteEvidence
    rows: dict[str, InboxRow] = field(default_factory=dict)

    async def later(self) -> int:
        """Work off everything owed to briefs by their sources, as the worker does, until it is done; how many turns."""
        turns = 0
        while turns < 200:
            self.world.clock.advance(seconds=6)
            rows = await self.world.memory.inbox.claim(10)
            if not rows:
                return turns
            for row in rows:
                assert row.kind == LATER
                await self.complete(row)
            turns += 1
            await asyncio.sleep(0)
        raise AssertionError("never done")

    async def brief(self, channel: str = "C1", ts: str | None = None, **alert):
        ts = await self.world.post(channel, ts=ts, **alert)
        return await self.of(ts, channel)

    async def of(self, ts: str, channel: str = "C1"):
        incident_id = await self.world.memory.incidents.find_incident(channel, ts)
        (posted,) = await self.world.memory.incidents.list_briefs(incident_id or "")
        return posted.brief


async def looking(
    w: World, *sources: Source, deadline_s: float = 0.02, late_s: float = 5.0, load=lambda: LoadShedding.FULL
) -> EvidenceWorld:
    gather = GatherEvidence(providers=sources, clock=w.clock, deadline_s=deadline_s, late_s=late_s, load=load)
    w.answer = w.build_answer(sources=gather)
    return EvidenceWorld(
        w,
        gather,
        CompleteEvidence(store=w.memory.incidents, inbox=w.memory.inbox, surfaces=SlackSurfaces(), sources=gather),
    )


def reasons(brief) -> list[str]:
    return [item.reason for item in brief.evidence if isinstance(item, Unavailable)]


def values(brief) -> list[float | None]:
    return [item.value for item in brief.evidence if isinstance(item, Observed)]


async def test_a_quick_source_is_in_the_first_post_and_in_the_record(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        look = await looking(w, source())
        brief = await look.brief(severity="critical")
        assert values(brief) == [18.2]
        (post,) = await w.drain_outbox()
        assert "*NOW*" in json.dumps(post.entry.payload)
        assert await look.later() == 0
        record = await w.memory.incidents.read_record(brief.incident.incident_id)
        assert record.evidence == {"metrics_value": "18.2 %"}


async def test_a_slow_source_completes_the_brief_by_one_edit(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        quick, slow = source("deploys", kind=EvidenceKind.DEPLOY), source(hangs=True)
        look = await looking(w, quick, slow)
        brief = await look.brief(severity="critical")
        assert (values(brief), reasons(brief)) == ([18.2], ["no answer within 0.02 s, still asked"])
        (post,) = await w.drain_outbox()
        rows = await w.memory.inbox.claim(10)
        await look.complete(rows[0])  # it hangs on: the row is put back and holds nobody up
        assert await w.drain_outbox() == []
        slow.free.set()
        assert await look.later() > 0
        edits = await w.drain_outbox()
        assert [(e.entry.operation, e.entry.payload["target"]) for e in edits] == [("update", post.entry.delivery_id)]
        after = await look.of(str(post.entry.payload["thread_ts"]))
        assert (values(after), reasons(after)) == ([18.2, 18.2], [])
        assert (quick.asked, slow.asked) == (1, 1)
        record = await w.memory.incidents.read_record(after.incident.incident_id)
        assert set(record.evidence) == {"metrics_value", "deploys_value"}


async def test_after_a_restart_it_is_asked_again_and_completed_once(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        look = await looking(w, source(hangs=True))
        await look.brief(severity="critical")
        await w.drain_outbox()
        again = await looking(w, source(value=7))  # another process: it knows of no question that is under way
        await again.later()
        assert [e.entry.operation for e in await w.drain_outbox()] == ["update"]
        (life,) = await w.memory.incidents.list_open_lifecycles(await viewer(w))
        (posted,) = await w.memory.incidents.list_briefs(life.incident_id)
        assert values(posted.brief) == [7]


async def viewer(w: World):
    return (await w.chat.read_channel("C1")).viewer


async def test_what_fails_is_named_and_the_others_stand(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        down = source("loki", problem=EvidenceUnavailable("cannot be reached (connection refused)"))
        broken = source("argo", problem=KeyError("status"))
        look = await looking(w, down, broken, source())
        brief = await look.brief(severity="critical")
        assert values(brief) == [18.2]
        assert reasons(brief) == ["failed (KeyError)", "cannot be reached (connection refused)"]
        assert await look.later() == 0
        assert {s.name: s.problem for s in look.gather.list_states()} == {
            "loki": "cannot be reached (connection refused)",
            "argo": "it failed; the log says how",
            "metrics": None,
        }
        down.problem = None
        assert (await look.gather.ask(an_alert(), "x").wait_for_all()).evidence[0].source == "loki"
        assert look.gather.list_states()[0].problem is None


async def test_a_source_that_hung_rests_and_one_question_finds_out(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        hung = source(hangs=True)
        gather = GatherEvidence(providers=[hung], clock=w.clock, deadline_s=0.01, late_s=0.03)
        first = gather.ask(an_alert(), "1")
        assert [e.reason for e in (await first.collect()).evidence if isinstance(e, Unavailable)] == [
            "no answer within 0.01 s, still asked"
        ]
        assert [e.reason for e in (await first.wait_for_all()).evidence if isinstance(e, Unavailable)] == [
            "no answer within 0.03 s"
        ]
        resting = await gather.ask(an_alert(), "2").collect()
        assert [e.reason for e in resting.evidence if isinstance(e, Unavailable)] == [
            "no answer at 03:00:00 UTC, tried again every 30 s"
        ]
        assert hung.asked == 1
        w.clock.advance(seconds=30)
        hung.free.set()
        probe, beside = gather.ask(an_alert(), "3"), gather.ask(an_alert(), "4")
        assert (probe.is_done, beside.is_done, len(beside.resting)) == (False, True, 1)
        assert isinstance((await probe.wait_for_all()).evidence[0], Observed)
        assert isinstance((await gather.ask(an_alert(), "5").wait_for_all()).evidence[0], Observed)


async def test_a_source_that_fails_only_after_the_deadline_hung_too(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        late = source(hangs=True, problem=EvidenceUnavailable("no answer within 3 s"))
        gather = GatherEvidence(providers=[late], clock=w.clock, deadline_s=0.01, late_s=5)
        asking = gather.ask(an_alert(), "1")
        await asking.collect()
        late.free.set()
        assert (await asking.wait_for_all()).evidence[0].source == "metrics"
        assert len(gather.ask(an_alert(), "2").resting) == 1
        w.clock.advance(seconds=31)
        assert [
            e.reason for e in (await gather.ask(an_alert(), "3").wait_for_all()).evidence if isinstance(e, Unavailable)
        ] == ["no answer within 3 s"]
        assert gather.ask(an_alert(), "4").resting == ()


@pytest.mark.parametrize("load", [LoadShedding.NO_EXTRAS, LoadShedding.SUMMARY_ONLY])
async def test_while_many_wait_none_is_asked_and_the_brief_says_so(tmp_path: Path, load: LoadShedding) -> None:
    async with world(tmp_path) as w:
        one = source()
        look = await looking(w, one, load=lambda: load)
        brief = await look.brief(severity="critical")
        assert (one.asked, brief.evidence) == (0, ())
        assert [(m.what, m.reason) for m in brief.missing] == [("evidence", BUSY)]
        assert "not asked: many alerts at once" in json.dumps((await w.drain_outbox())[0].entry.payload)


async def test_what_is_owed_waits_while_many_wait(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        load = LoadShedding.FULL
        slow = source(hangs=True)
        look = await looking(w, slow, load=lambda: load)
        ts = await w.post(severity="critical")
        look.gather.forget(f"{await w.memory.incidents.find_incident('C1', ts)}/C1")  # as after a restart
        load = LoadShedding.NO_EXTRAS
        (row,) = await w.memory.inbox.claim(10)
        await look.complete(row)
        assert reasons(await look.of(ts)) == ["no answer within 0.02 s, still asked"]
        load = LoadShedding.FULL
        slow.free.set()
        await look.later()
        assert values(await look.of(ts)) == [18.2]


async def test_when_it_clears_now_says_what_is_so_after_and_the_record_what_was(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        one = source(value=100)
        look = await looking(w, one)
        ts = await w.post(severity="critical")
        await w.drain_outbox()
        one.value = 31
        w.clock.advance(minutes=20)
        await w.post(state="resolved")
        await look.later()
        brief = await look.of(ts)
        assert (brief.incident.state, values(brief)) == ("cleared", [31])
        edits = await w.drain_outbox()
        assert len(edits) == 1  # state and values go out as one
        assert "31 %" in json.dumps(edits[0].entry.payload, ensure_ascii=False)
        record = await w.memory.incidents.read_record(brief.incident.incident_id)
        assert record.evidence == {"metrics_value": "100 %"}
        one.value = 97
        w.clock.advance(minutes=20)
        await w.post()
        await look.later()
        again = await look.of(ts)
        assert (again.incident.state, again.incident.fired, values(again)) == ("open", 2, [97])


async def test_the_next_incident_compares_with_what_was_recorded(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        look = await looking(w, source(value=100))
        first = await look.brief(severity="critical", service="payments-api")
        resolution = Resolution(FixOutcome.RECOVERED, first.incident.incident_id, fix="Raise the pool")
        await w.resolve(resolution, "U1", "s1")
        w.clock.advance(hours=30)
        look = await looking(w, source(value=98))
        second = await look.brief(severity="critical", service="payments-api")
        assert second.then.incident_id == first.incident.incident_id
        rows = await w.drain_outbox()
        assert "metrics value: then 100 %, now 98 %" in json.dumps([r.entry.payload for r in rows], ensure_ascii=False)


async def test_what_is_owed_to_an_incident_that_is_gone_is_done(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        look = await looking(w, source())
        await look.brief(severity="critical")
        gone = build_refresh_work("INC-404", "C1/1")
        assert await w.memory.inbox.receive(gone[0])
        assert await look.later() == 1
        assert [e for e in await w.drain_outbox() if e.entry.operation == Operation.UPDATE] == []


@dataclass
class EditedMeanwhile:
    """The store in which somebody corrects the record right after it was read, once."""

    inner: Any
    edits: int = 1

    async def find_records(self, incident_ids: Sequence[str]) -> Any:
        found = await self.inner.find_records(incident_ids)
        if self.edits and found:
            self.edits -= 1
            await self.inner.commit(Changes(records=tuple(replace(r, lesson="ask first") for r in found.values())))
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


async def test_who_corrects_the_record_while_sources_are_written_down_loses_nothing(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        slow = source(hangs=True)
        look = await looking(w, slow)
        brief = await look.brief(severity="critical")
        look.complete = replace(look.complete, store=EditedMeanwhile(w.memory.incidents))
        slow.free.set()
        with pytest.raises(StoreConflict):
            await look.later()
        w.clock.advance(minutes=5)
        await look.later()
        record = await w.memory.incidents.read_record(brief.incident.incident_id)
        assert (record.lesson, set(record.evidence)) == ("ask first", {"metrics_value"})
