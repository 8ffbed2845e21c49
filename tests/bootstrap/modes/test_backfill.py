"""The past of a channel on a local Slack, read by the real parts: what the store holds then, and that Slack hears nothing."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import SecretStr

from bot.adapters.store import Store
from bot.adapters.store.database.tables import lives, notices, records, seen_posts
from bot.bootstrap.modes.backfill import open_backfill, open_backfill_report
from bot.bootstrap.modes.playground import read_manifest
from bot.bootstrap.system import RandomIds, SystemClock
from bot.bootstrap.wiring.memory import open_memory
from bot.cli.backfill import build_json, format_report
from bot.domain.access.visibility import Viewer
from bot.domain.alerts.suppression import RuleScope, SilenceRule
from bot.domain.incidents.lifecycle import IncidentState, Lifecycle
from bot.domain.operations.backfill import ReadSpan
from bot.domain.recall.query import OPERATOR
from bot.playground import LocalSlack
from bot.ports.alerts.backfill_progress import BackfillProgress
from bot.ports.delivery.inbox import InboxRow, ReceivedEvent
from bot.ports.errors import (
    ChatRejected,
    ChatUnavailable,
    IncidentNotFound,
    NotAllowedHere,
    StoreConflict,
    StoreUnavailable,
)
from bot.ports.posts import IncidentPost
from bot.ports.unit_of_work import Changes
from bot.settings import Settings
from bot.workflows.operations.backfill import TRIES, Backfill, PacedCaller
from bot.workflows.operations.backfill_report import BackfillReport
from bot.workflows.reports.digest import ComposeDigest
from tests.bootstrap.past import CLEARED, FIRING, Past
from tests.databases import fresh
from tests.fakes import FakeClock

WRITES = ("chat.", "reactions.", "views.", "files.", "conversations.join", "conversations.open")


@dataclass
class World:
    """A local Slack with a past, and the command on it."""

    slack: LocalSlack
    past: Past
    settings: Settings
    told: list[BackfillProgress] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[tuple[Backfill, Any]]:
        async with open_backfill(self.settings, 50_000, self._tell, self._waited) as (read, listed):
            yield read, listed

    def _waited(self, seconds: float, _problem: ChatUnavailable) -> None:
        self.waits.append(seconds)

    def _tell(self, progress: BackfillProgress, _whole: ReadSpan) -> None:
        self.told.append(progress)

    async def run(self, channel: str = "#alerts", days: int = 90) -> tuple[BackfillReport, dict[str, list[Any]]]:
        """What was found, and the store's rows."""
        since = self.past.ago(days=days)
        async with self.opened() as (read, listed):
            await read(await read.find_channel(channel), since)
            store = read.store
            found = await listed(channel, since, self.past.now)
            return found, await rows(store)  # type: ignore[arg-type]  # the store's part that has the database

    def written(self) -> list[str]:
        names = {entry["name"] for entry in self.slack.core.traffic.entries if entry["kind"] == "api"}
        return [name for name in sorted(names) if name.startswith(WRITES)]


async def rows(store: Store) -> dict[str, list[Any]]:
    """Everything that a backfill writes but its progress."""
    async with store.database.read() as connection:
        return {
            table.name: sorted(map(tuple, (await connection.execute(sa.select(*columns))).all()))
            for table, columns in (
                (lives, [lives.c.incident_id, lives.c.body]),
                (notices, [notices.c.key, notices.c.body]),
                (seen_posts, [seen_posts]),
                (records, [records.c.incident_id, records.c.body, records.c.visibility]),
            )
        }


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with await LocalSlack.start(manifest=read_manifest()) as slack:
        settings = Settings(
            _env_file=None,
            slack_bot_token=SecretStr(slack.bot_token),
            slack_api_url=slack.api_url,
            database_url=fresh(tmp_path / "bot.db"),
            embeddings="off",
        )
        yield World(slack, Past(slack, now=SystemClock().now()), settings)


def ninety_days(past: Past) -> None:
    """Six outages of one alert, one of them flapping; three of another tool that never tells of an end; an edit that ends
    an alert; talk; noise; and what goes on today."""
    roots = {}
    for days in (80, 62, 41, 20, 12, 3):
        at = past.ago(days=days)
        roots[days] = past.tool(FIRING, at)
        past.tool(CLEARED, at + timedelta(minutes=25))
    for n in range(4):
        past.tool(FIRING, past.ago(days=20) + timedelta(minutes=30 + 10 * n))
        past.tool(CLEARED, past.ago(days=20) + timedelta(minutes=35 + 10 * n))
    for n, user in enumerate(("alice", "bob", "alice", "bob", "alice")):
        past.person(f"trying {n}", past.ago(days=41) + timedelta(minutes=n + 1), roots[41], user=user)
    past.person("again", past.ago(days=12) + timedelta(minutes=1), roots[12])
    for days in (70, 40, 10):
        past.tool("sentry/issue_new", past.ago(days=days))
    ended = past.tool("pagerduty/triggered", past.ago(days=30))
    past.tool("pagerduty/escalated_thread", past.ago(days=30) + timedelta(minutes=5), ended)
    past.edited(ended, "pagerduty/resolved", past.ago(days=30) + timedelta(hours=1))
    for days in (51, 50):
        past.tool("chatter/github_pr_bot", past.ago(days=days))
    past.person("is prod down?", past.ago(days=49))
    deleted = past.tool(FIRING, past.ago(days=48))
    past.slack.core.workspace.channel("alerts").messages.pop(deleted)
    bot = past.slack.core.workspace.bot
    past.tool(FIRING, past.ago(days=47), user=bot.user_id, bot_id=bot.bot_id, app_id=bot.app_id)
    past.tool("datadog/triggered", past.ago(hours=2))
    past.tool("opsgenie/new_alert", past.ago(hours=9))
    past.tool("opsgenie/closed", past.ago(hours=8))
    past.tool("grafana/firing", past.ago(days=91))
    past.sort()


async def test_ninety_days_of_several_tools(world: World) -> None:
    ninety_days(world.past)
    await world.slack.limit(1, "conversations.history")
    found, first = await world.run()
    assert world.written() == []
    assert world.waits == [1.0]
    tally = found.progress.tally
    assert dict(tally.alerts) == {"alertmanager": 20, "sentry": 3, "pagerduty": 2, "opsgenie": 2, "datadog": 1}
    assert (dict(tally.unread), tally.own, tally.by_people) == ({"GitHub": 2}, 1, 7)
    assert [(f.tool, f.incidents, f.fired) for f in found.families[:2]] == [("alertmanager", 6, 10), ("sentry", 3, 3)]
    (talked,) = found.worth
    assert (talked.talk.people, talked.talk.messages, talked.fired, talked.more) == (2, 5, 10, 1)
    assert talked.url == f"{world.slack.core.url}/archives/C0ALERTS/p{talked.ts.replace('.', '')}"
    async with world.opened() as (read, _):
        store, now = read.store, world.past.now
        every = {
            life.fingerprint.partition(":")[0]: life
            for life in await store.list_lifecycles(now - timedelta(days=99), now, OPERATOR)
        }
        states = {tool: life.state.value for tool, life in every.items()}
        assert states == {
            "alertmanager": "past",
            "sentry": "past",
            "pagerduty": "past",
            "opsgenie": "cleared",
            "datadog": "open",
        }
        assert {life.state for life in await store.list_open_lifecycles(OPERATOR)} == {
            IncidentState.OPEN,
            IncidentState.CLEARED,
        }
        assert (every["pagerduty"].cleared_at, every["pagerduty"].fired) == (
            world.past.ago(days=30) + timedelta(hours=1),
            2,
        )
        alert = every["alertmanager"]
        history = await store.read_alert_history(alert.fingerprint, "public", now, 30, None)
        assert (history.times, history.unrecorded) == (7, 7)
        assert await store.list_briefs(alert.incident_id) == ()
    async with open_memory(world.settings, SystemClock(), RandomIds()) as memory:
        digest = ComposeDigest(memory.incidents, memory.store.feedback)
        month = await digest(now - timedelta(days=30), now, Viewer(), "30 days")
        assert (month.families[0].title, month.families[0].times) == ("PaymentGatewayErrorRateHigh", 3)
        assert (month.open, month.incidents_before, month.briefs) == (1, 2, 0)
        assert await memory.store.nudges.list_unasked(now - timedelta(days=30)) == ()
    shown = "\n".join(format_report(found, 20))
    assert "GitHub 2" in shown
    assert "2 people wrote 5 messages" in shown
    assert "Record resolution" in shown
    assert build_json(found, 20)["worth_recording"][0]["people"] == 2
    before = len(world.slack.core.traffic.calls("conversations.history"))
    again, second = await world.run()
    assert (second, again.progress.tally) == (first, tally)
    assert len(world.slack.core.traffic.calls("conversations.history")) <= before + 1
    further, third = await world.run(days=92)
    assert further.progress.tally.alerts["grafana"] == 1
    assert [row for row in third["lives"] if row not in first["lives"]] == [
        row for row in third["lives"] if "grafana" in row[1]
    ]
    async with open_backfill_report(world.settings) as listed:
        assert (await listed("alerts", world.past.ago(days=90), world.past.now)).worth == found.worth
        with pytest.raises(IncidentNotFound, match="precedent backfill '#random'"):
            await listed("#random", world.past.ago(days=90), world.past.now)


async def test_broken_off_anywhere_it_goes_on_and_ends_the_same(world: World, tmp_path: Path) -> None:
    ninety_days(world.past)
    _, whole = await world.run()
    world.settings = world.settings.model_copy(update={"database_url": fresh(tmp_path / "other.db")})
    for left in (3, 11, 14):
        async with world.opened() as (read, _):
            answer = read.answer

            async def breaks(row: Any, counted: list[int] = [left], answer: Any = answer) -> bool:  # noqa: B006  # a counter of this turn
                counted[0] -= 1
                if counted[0] < 0:
                    raise ConnectionResetError
                done: bool = await answer(row)
                return done

            object.__setattr__(read, "answer", breaks)
            with pytest.raises(ConnectionResetError):
                await read(await read.find_channel("#alerts"), world.past.ago(days=90))
    found, broken = await world.run()
    assert {name: len(some) for name, some in broken.items()} == {name: len(some) for name, some in whole.items()}
    assert _told(broken) == _told(whole)
    assert dict(found.progress.tally.alerts)["alertmanager"] == 20


def _told(kept: dict[str, list[Any]]) -> list[tuple[Any, ...]]:
    """The lives but for what counts how often they were written."""
    told = [json.loads(body) for _, body in kept["lives"]]
    return sorted((t["fingerprint"], t["opened_at"], t["state"], t["fired"], str(t["cleared_at"])) for t in told)


async def test_private_channels_keep_their_past_and_shared_ones_are_not_read(world: World) -> None:
    secret = Past(world.slack, "sec-incidents", world.past.now)
    secret.tool(FIRING, secret.ago(days=5))
    workspace = world.slack.core.workspace
    workspace.channel("sec-incidents").members.append(workspace.bot_user)
    found, kept = await world.run("#sec-incidents")
    assert found.incidents == 1
    assert {row[2] for row in kept["records"]} == {"private:C0SECRET"}
    async with world.opened() as (read, _):
        assert await read.store.list_lifecycles(secret.ago(days=9), secret.now, Viewer()) == ()
        workspace.channel("partners").is_ext_shared = True
        workspace.channel("partners").members.append(workspace.bot_user)
        with pytest.raises(NotAllowedHere, match="another organisation"):
            await read(await read.find_channel("C0PARTNERS"), secret.ago(days=9))
        with pytest.raises(ChatRejected, match="Invite it"):
            await read.find_channel("#nowhere")


async def test_a_post_whose_taking_was_broken_off_gets_its_end(world: World) -> None:
    past = world.past
    ended = past.tool("pagerduty/triggered", past.ago(days=30))
    past.edited(ended, "pagerduty/resolved", past.ago(days=30) + timedelta(hours=1))
    past.sort()
    async with world.opened() as (read, _):
        answer, taken = read.answer, []

        async def breaks(row: InboxRow) -> bool:
            taken.append(row)
            if len(taken) == 2:
                raise StoreUnavailable("The database is down.")
            return await answer(row)

        object.__setattr__(read, "answer", breaks)
        with pytest.raises(StoreUnavailable):
            await read(await read.find_channel("alerts"), past.ago(days=90))
        (life,) = await read.store.list_lifecycles(past.ago(days=90), past.now, OPERATOR)
        assert life.cleared_at is None
        object.__setattr__(read, "answer", answer)
        await read(await read.find_channel("alerts"), past.ago(days=90))
        (life,) = await read.store.list_lifecycles(past.ago(days=90), past.now, OPERATOR)
        assert life.cleared_at is not None


async def test_the_list_of_one_channel_names_nothing_of_another(world: World) -> None:
    secret = Past(world.slack, "sec-incidents", world.past.now)
    world.past.tool(FIRING, world.past.ago(days=6))
    secret.tool("opsgenie/new_alert", secret.ago(days=5))
    workspace = world.slack.core.workspace
    workspace.channel("sec-incidents").members.append(workspace.bot_user)
    ours, _ = await world.run("#alerts")
    theirs, _ = await world.run("#sec-incidents")
    async with world.opened() as (_, listed):
        again = await listed("#alerts", secret.ago(days=90), secret.now)
    assert (ours.incidents, theirs.incidents, again.incidents) == (1, 1, 1)
    assert again.families == ours.families
    assert {one.incident_id for one in again.worth}.isdisjoint({one.incident_id for one in theirs.worth})


async def test_what_was_purged_is_not_read_back(world: World) -> None:
    past = world.past
    gone, kept = past.tool(FIRING, past.ago(days=30)), past.tool(FIRING, past.ago(days=20))
    past.sort()
    async with open_memory(world.settings, SystemClock(), RandomIds()) as memory:
        await memory.incidents.commit(Changes(posts=(IncidentPost("C0ALERTS", gone, "INC-9"),)))
        assert await memory.store.purging.purge("INC-9", (), Changes())
    found, rows = await world.run("alerts")
    assert (found.incidents, len(rows["records"])) == (1, 1)
    assert {row[1] for row in rows["seen_posts"]} == {kept}


async def test_what_the_listening_bot_has_is_left_to_it(world: World) -> None:
    past = world.past
    past.tool(FIRING, past.ago(days=3))
    told = past.tool("opsgenie/new_alert", past.ago(days=2))
    noisy = past.tool("sentry/issue_new", past.ago(days=1))
    past.tool("datadog/triggered", past.ago(minutes=2))
    past.sort()
    sentry = past.slack.message("alerts", noisy)["bot_id"]
    async with open_memory(world.settings, SystemClock(), RandomIds()) as memory:
        key = f"message/{world.slack.team_id}/C0ALERTS/{told}"
        await memory.inbox.receive(ReceivedEvent("Ev1", key, "message"))
        rule = SilenceRule("C0ALERTS", sentry, "sentry", "any", "U1", past.ago(hours=1), RuleScope.SOURCE)
        await memory.channels.add_rule(rule, Changes())
    async with world.opened() as (read, _):
        store, now = read.store, SystemClock().now()
        await read.heard.advance(now)
        answer = read.answer

        async def taken_by_another_first(row: InboxRow, once: list[int] = [1]) -> bool:  # noqa: B006  # a counter of this test
            if once:
                once.pop()
                raise StoreConflict("Somebody else was faster.")
            return await answer(row)

        object.__setattr__(read, "answer", taken_by_another_first)
        progress = await read(await read.find_channel("alerts"), past.ago(days=9))
        assert (progress.tally.live, progress.tally.ignored, sum(progress.tally.alerts.values())) == (1, 1, 3)
        (life,) = await store.list_lifecycles(past.ago(days=9), now, OPERATOR)
        assert isinstance(life, Lifecycle)
        assert life.fingerprint.startswith("alertmanager")


async def test_patience_waits_as_slack_asks_and_keeps_its_pace() -> None:
    clock, waits = FakeClock(), []
    begun = clock.now()

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        clock.move(seconds)

    patiently = PacedCaller(clock=clock, a_minute=50, on_wait=lambda *_: None, sleep=sleep)

    async def asked() -> datetime:
        return clock.now()

    for _ in range(51):
        last = await patiently("history", asked)
    assert round((last - begun).total_seconds()) == 60
    assert await patiently("replies", asked) == last
    told: list[float] = []
    asks = PacedCaller(clock=clock, a_minute=5_000, on_wait=lambda seconds, _: told.append(seconds), sleep=sleep)
    answers = [ChatUnavailable("Slack asks to wait.", 30.0), *(ChatUnavailable("Slack is away."),) * 9]

    async def answers_at_last() -> str:
        if answers:
            raise answers.pop(0)
        return "here"

    assert await asks("history", answers_at_last) == "here"
    assert told == [30.0, *(5.0,) * 9]

    async def never() -> str:
        raise ChatUnavailable("Slack is away.")

    with pytest.raises(ChatUnavailable):
        await asks("history", never)
    assert len(told) == 10 + TRIES - 1
