"""Status says since when something is as it is; the watch hears of probes and of sources, and counts nothing twice."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from bot.bootstrap.wiring.dependencies import ThrottledProbe, build_probes, build_slack_probe
from bot.bootstrap.wiring.memory import open_memory
from bot.domain.access.visibility import Viewer
from bot.domain.evidence.items import EvidenceKind, Observed, Unavailable
from bot.domain.recall.query import OPERATOR
from bot.observability import REGISTRY
from bot.ports.chat import Channel
from bot.ports.errors import EvidenceUnavailable, StoreUnavailable
from bot.settings import Settings
from bot.slack.views.home import render_status
from bot.workflows.evidence.metered import MeteredSource, name_outcome
from bot.workflows.operations.status import ReportStatus, StatusLine
from bot.workflows.operations.watch_dependencies import WatchDependencies
from tests.adapters.evidence.servers import ALERT, AT
from tests.databases import fresh
from tests.fakes import FakeClock, FakeIds
from tests.workflows.world import world


def value(name: str, **labels: str) -> float | None:
    return REGISTRY.get_sample_value(name, labels)


async def test_status_says_since_when_and_which_failure_was_the_latest(tmp_path: Path) -> None:
    clock, slack = FakeClock(), [True]
    sources: list[tuple[str, str | None]] = [("Evidence: loki", None)]
    settings = Settings(database_url=fresh(tmp_path / "s.db"))
    async with open_memory(settings, clock, FakeIds()) as memory:

        async def connected() -> bool:
            return slack[0]

        watch = WatchDependencies(clock, build_probes(memory, clock) | build_slack_probe(connected), lambda: sources)
        report = ReportStatus(
            health=memory.health, outbox=memory.outbox, index=memory.index, clock=clock, memory=memory.name, model="off", version="0.1",
            watched=watch.list_states, traces=memory.store.brief_timings, sources=("loki", "github"),
        )  # fmt: skip
        assert (await replace(report, sources=())())[1] == StatusLine("Evidence", None, "no source is configured")
        assert {line.name for line in await report()} == {
            "Evidence: loki",
            "Evidence: github",
            "Store",
            "Memory",
            "Outbox",
            "Inbox",
            "Last alerts",
            "Model",
            "Version",
        }
        await watch()
        clock.move(600)
        slack[0], sources[:] = False, [("Evidence: loki", "no answer within 3 s")]
        await watch()
        clock.move(120)
        lines = {line.name: line for line in await report()}
    assert lines["Slack"] == StatusLine("Slack", False, "down for 2 min: not connected; the bot tries again by itself")
    assert lines["Evidence: loki"].detail == "down for 2 min: no answer within 3 s"
    assert lines["Evidence: github"] == StatusLine("Evidence: github", None, "not asked since the start")
    assert lines["Store"].detail.endswith(", for 12 min")
    assert lines["Outbox"] == StatusLine("Outbox", True, "0 waiting, for 12 min")
    assert lines["Last alerts"] == StatusLine("Last alerts", None, "none in 30 days")
    assert value("precedent_dependency_up", dependency="Slack") == 0
    assert value("precedent_dependency_up", dependency="Store") == 1


async def test_a_probe_that_raises_is_a_problem_and_back_is_back() -> None:
    clock, problems = FakeClock(), [StoreUnavailable("The disk is full.")]

    async def probe() -> str | None:
        if problems:
            raise problems[0]
        return None

    watch = WatchDependencies(clock, {"Store": probe})
    await watch()
    problems.clear()
    clock.move(20)
    await watch()
    state = watch.list_states()["Store"]
    assert (state.problem, state.failed_with, state.since) == (None, "The disk is full.", clock.now())


async def test_the_last_alert_of_each_channel_that_the_viewer_may_see_and_the_trace(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.chat.channels["C2"] = Channel("C2", is_private=True)
        ts = await w.post(severity="critical")
        opened = w.clock.now()
        w.clock.advance(minutes=5)
        await w.post("C2", fingerprint="other", severity="critical")
        traces, since = w.memory.store.brief_timings, w.clock.now() - timedelta(days=1)
        assert [channel for channel, _ in await traces.list_last_alerts(OPERATOR, since, 5)] == ["C2", "C1"]
        assert [channel for channel, _ in await traces.list_last_alerts(Viewer(), since, 5)] == ["C1"]
        assert (
            await traces.list_last_alerts(OPERATOR, since, 1) == (await traces.list_last_alerts(OPERATOR, since, 5))[:1]
        )
        incident_id = await w.memory.incidents.find_incident("C1", ts) or ""
        waiting = await traces.read_timings(incident_id, "C1")
        await w.drain_outbox()
        told = await traces.read_timings(incident_id, "C1")
        assert (told.alerts, told.edited, (await traces.read_timings("INC-999", "C1")).alerts) == (1, None, 0)
        assert waiting.posted is not None
        assert waiting.posted.settled_at is None
        assert told.posted is not None
        assert told.posted.state == "sent"
        assert told.decided_at is not None
        assert abs(told.decided_at - opened) < timedelta(minutes=1)
        assert told.posted.settled_at is not None
        assert told.posted.settled_at >= told.decided_at


@pytest.mark.parametrize(
    ("found", "outcome"),
    [
        ((), ""),
        ((Observed(EvidenceKind.LOGS, "l", "l", "s", AT),), "observed"),
        ((Unavailable(EvidenceKind.LOGS, "l", "l", "s", "down"),), "unavailable"),
    ],
)
def test_outcomes(found: tuple[Observed | Unavailable, ...], outcome: str) -> None:
    assert name_outcome(found) == outcome


async def test_a_source_is_timed_by_its_outcome() -> None:
    class Fails:
        name, kind = "timed source", EvidenceKind.LOGS

        async def observe(self, *_: object) -> tuple[Observed, ...]:
            raise EvidenceUnavailable("down")

    with pytest.raises(EvidenceUnavailable):
        await MeteredSource(Fails()).observe(ALERT, AT)
    assert value("precedent_evidence_seconds_count", source="timed source", outcome="unavailable") == 1


def test_a_long_status_fits_into_slacks_sections() -> None:
    lines = [StatusLine(f"Evidence: source {n}", False, "y" * 400) for n in range(80)]
    blocks = render_status(lines).blocks
    assert len(blocks) == 8
    assert all(len(block["text"]["text"]) <= 3000 for block in blocks)
    channels = (("C0ALERTS", AT),)
    (shown,) = render_status([StatusLine("Last alerts", True, "", channels)]).blocks
    assert "*Last alerts* <#C0ALERTS> <!date^" in shown["text"]["text"]


async def test_a_source_that_is_given_up_is_timed_too() -> None:
    class Hangs:
        name, kind = "hanging source", EvidenceKind.LOGS

        async def observe(self, *_: object) -> tuple[Observed, ...]:
            await asyncio.sleep(60)
            return ()

    measured = MeteredSource(Hangs())
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await measured.observe(ALERT, AT)
    assert (measured.name, measured.kind) == ("hanging source", EvidenceKind.LOGS)
    assert value("precedent_evidence_seconds_count", source="hanging source", outcome="given_up") == 1


async def test_a_costly_probe_is_looked_at_once_a_minute_unless_it_failed() -> None:
    clock, looks, problem = FakeClock(), [0], ["down"]

    async def probe() -> str | None:
        looks[0] += 1
        return problem[0] if problem else None

    seldom = ThrottledProbe(probe, clock)
    assert [await seldom(), await seldom(), looks[0]] == ["down", "down", 2]
    problem.clear()
    assert [await seldom(), await seldom(), looks[0]] == [None, None, 3]
    clock.move(61)
    problem.append("again")
    assert [await seldom(), looks[0]] == ["again", 4]
