"""The Slack side of the bot at work on a local Slack: the real store, workflows and outbox; only the clock is told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import web
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient
from structlog.testing import capture_logs

from bot.bootstrap.wiring.alerts import build_answer_alert
from bot.bootstrap.wiring.assistant import build_converse
from bot.bootstrap.wiring.channels import read_digest_time
from bot.bootstrap.wiring.foundation import Foundation, build_foundation
from bot.bootstrap.wiring.listeners import build_use_cases
from bot.bootstrap.wiring.memory import Memory, open_memory
from bot.bootstrap.wiring.resolutions import build_refresh_briefs
from bot.parsers import read
from bot.playground import LocalSlack
from bot.ports.delivery.inbox import ReceivedEvent
from bot.ports.errors import StoreUnavailable
from bot.records.alert_json import read_stored_alert
from bot.settings import Settings
from bot.slack.app import HANDLERS, UseCases, build_app
from bot.slack.client.chat import SlackChat, build_web_client
from bot.slack.inbound.transport import HttpTransport, SocketTransport
from bot.slack.listeners.interaction import Interaction
from bot.slack.payload import encode
from bot.workflows.alerts.answer import AnswerAlert
from bot.workflows.alerts.attach_message import AttachMessage
from bot.workflows.alerts.recurrence import AskAboutRecurrence
from bot.workflows.channels.settings import AdmitAlert
from bot.workflows.delivery.deliver import Deliver
from bot.workflows.operations.status import ReportStatus
from bot.workflows.recall.preview_brief import PreviewBrief
from bot.workflows.resolutions.transfer import ImportProgress, ImportRecords
from tests.databases import fresh

ROOT = Path(__file__).parent.parent.parent
MANIFEST = yaml.safe_load((ROOT / "manifest.yml").read_text(encoding="utf-8"))


class SteppingClock:
    """Goes on a little at each look, so that Slack's pacing is not waited for; Slack tells the same time."""

    def __init__(self) -> None:
        self.at = datetime.now(tz=UTC)

    def now(self) -> datetime:
        self.at += timedelta(seconds=0.3)
        return self.at

    def stamp(self) -> float:
        """The time in seconds since 1970, without going on."""
        return self.at.timestamp()


class Counting:
    last = 0

    def new(self) -> str:
        self.last += 1
        return f"id{self.last}"


@dataclass
class BrokenInbox:
    """An inbox whose store is down for the next deliveries."""

    inner: Any
    down: int = 0
    kept: list[ReceivedEvent] = field(default_factory=list)

    async def receive(self, received: ReceivedEvent) -> bool:
        if self.down:
            self.down -= 1
            raise StoreUnavailable("The database does not answer.")
        self.kept.append(received)
        return bool(await self.inner.receive(received))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


@dataclass
class Desk:
    """Everything a test touches."""

    slack: LocalSlack
    base: Foundation
    memory: Memory
    deps: UseCases
    inbox: BrokenInbox
    app: AsyncApp
    answer: AnswerAlert
    deliver: Deliver

    @property
    def chat(self) -> SlackChat:
        return self.base.chat

    async def work(self) -> None:
        """Work off everything that came in, and deliver everything that is owed."""
        await self.slack.idle(20)
        for _ in range(100):
            rows = await self.inbox.claim(20)
            for row in rows:
                handler = HANDLERS.get(row.kind)
                attach = AttachMessage(self.memory.incidents, self.chat)
                tell = build_refresh_briefs(self.memory, self.deps.surfaces, self.deps.clock, self.chat)
                alone: Any = {"reference": attach, "corrected": tell}.get(row.kind, self.answer)
                await (handler(row, self.deps) if handler else alone(row))
            while await self.deliver.drain_once() == 0:
                pass
            if not rows and not any("pending" in k and v for k, v in (await self.memory.outbox.count_rows()).items()):
                return
        raise AssertionError("the work does not end")

    async def alert(self, name: str = "payment-gateway-504", channel: str = "C0ALERTS") -> str:
        """Post a sample alert and work it off; its ts."""
        posted = await self.slack.post_alert(channel, json.loads((ROOT / "seeds/alerts" / f"{name}.json").read_text()))
        await self.work()
        return str(posted["ts"])

    def brief(self, ts: str, channel: str = "C0ALERTS") -> dict[str, Any]:
        """The bot's first reply in a thread."""
        return dict(self.slack.replies(channel, ts)[0])

    async def whisper(self, user: str = "alice") -> str:
        """The text of the one new ephemeral message to a user."""
        found = await self.slack.wait_until(lambda: self.slack.ephemerals(user))
        return json.dumps(found[-1], ensure_ascii=False)

    async def seed(self) -> None:
        """The sample records."""
        lines = (ROOT / "seeds/incidents.jsonl").read_text(encoding="utf-8").splitlines()
        async for _ in ImportRecords(self.memory.incidents)("seeds", lines, ImportProgress()):
            pass


def replaced(desk: Desk, **parts: Any) -> AsyncApp:
    """The app with other parts behind it."""
    return build_app(desk.app.client, desk.slack.signing_secret, replace(desk.deps, **parts))


async def open_desk(slack: LocalSlack, memory: Memory, clock: SteppingClock, settings: Settings) -> Desk:
    """The desk on a local Slack, wired as the application wires it."""
    client = build_web_client(slack.bot_token, slack.api_url)
    base = await build_foundation(settings=settings, memory=memory, clock=clock, client=client)
    us, chat, surfaces = base.identity, base.chat, base.surfaces
    status = ReportStatus(
        health=memory.health,
        outbox=memory.outbox,
        index=memory.index,
        clock=clock,
        memory="embedded",
        model="off",
        version="0.1",
    )
    reader = partial(read, own_bot_ids=frozenset({us.bot_id, us.user_id}))
    talks = build_converse(base, model=None)
    inbox = BrokenInbox(memory.inbox)
    deps = replace(build_use_cases(base, read=reader, status=status, converse=talks), inbox=inbox)
    admit = AdmitAlert(memory.channels, read_digest_time(settings))
    answer = build_answer_alert(
        store=memory.incidents,
        preview=PreviewBrief(memory.recall, memory.index),
        chat=chat,
        surfaces=surfaces,
        clock=clock,
        read=read_stored_alert,
        admit=admit,
        recurrence=AskAboutRecurrence(store=memory.incidents, chat=chat, surfaces=surfaces, read=read_stored_alert),
    )
    app = build_app(client, slack.signing_secret, deps)
    deliver = Deliver(outbox=memory.outbox, chat=chat, clock=clock, bank=None, records=memory.incidents)
    return Desk(slack, base, memory, deps, inbox, app, answer, deliver)


@asynccontextmanager
async def listening(slack: LocalSlack, app: AsyncApp, *, http: bool = False) -> AsyncIterator[None]:
    """The app connected by Socket Mode or by signed HTTP."""
    if not http:
        transport = SocketTransport(app, slack.app_token, slack.api_url)
        await transport.start()
        await slack.wait_connected()
        try:
            yield
        finally:
            await transport.stop()
            await slack.wait_until(lambda: not slack.connected)
        return
    server = web.Application(client_max_size=2 * 1024 * 1024)
    inward = HttpTransport(app, server, slack.signing_secret)
    runner = web.AppRunner(server)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    await inward.start()
    slack.use_http(f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events")
    try:
        yield
    finally:
        slack.use_http(None)
        await runner.cleanup()


@pytest.fixture
def logged() -> Iterator[list[Any]]:
    """What was logged, instead of the log."""
    with capture_logs() as lines:
        yield lines


@pytest.fixture
async def unconnected(tmp_path: Path, logged: list[Any]) -> AsyncIterator[Desk]:
    """The desk with nothing connected yet."""
    clock = SteppingClock()
    settings = Settings(database_url=fresh(tmp_path / "desk.db"))
    retries = (0.02, 0.02, 0.02)
    async with (
        await LocalSlack.start(manifest=MANIFEST, ack_timeout_s=3, retry_delays_s=retries, now=clock.stamp) as slack,
        open_memory(settings, clock, Counting()) as memory,
    ):
        yield await open_desk(slack, memory, clock, settings)


@pytest.fixture(params=["socket", "http"])
async def desk(unconnected: Desk, request: pytest.FixtureRequest) -> AsyncIterator[Desk]:
    """The desk connected, once by each transport."""
    async with listening(unconnected.slack, unconnected.app, http=request.param == "http"):
        yield unconnected


@pytest.fixture
async def office(unconnected: Desk) -> AsyncIterator[Desk]:
    """The desk connected by Socket Mode."""
    async with listening(unconnected.slack, unconnected.app):
        yield unconnected


def pressed(
    value: Mapping[str, object], user: str = "U0BOB", action_id: str = "", **body: object
) -> tuple[Interaction, list[dict[str, Any]]]:
    """A press of a button with this value in the alerts channel, and what it is answered with."""
    answers: list[dict[str, Any]] = []

    async def respond(**answer: Any) -> None:
        answers.append(answer)

    known = {"channel": {"id": "C0ALERTS"}, "user": {"id": user}}
    client = AsyncWebClient()
    return Interaction(known | body, client, respond, {"action_id": action_id, "value": encode(value)}), answers


wait = partial(asyncio.sleep, 0.05)
