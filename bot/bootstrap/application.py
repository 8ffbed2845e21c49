"""The running bot: settings to adapters to workflows to surfaces, and the order in which all that starts and stops.

Must not decide anything about alerts or incidents.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from aiohttp import web
from slack_sdk.web.async_client import AsyncWebClient

from bot import __version__
from bot.adapters.chart import MatplotlibCharts
from bot.bootstrap.config.file import Configuration, configured, names_in
from bot.bootstrap.jobs import Jobs, kept_for
from bot.bootstrap.system import RandomIds, SystemClock
from bot.bootstrap.wiring.assistant import NotedModel, conversing, open_noted
from bot.bootstrap.wiring.catch_up import stay_heard
from bot.bootstrap.wiring.channels import operators_time
from bot.bootstrap.wiring.corrections import telling
from bot.bootstrap.wiring.dependencies import slack_of, watching
from bot.bootstrap.wiring.deploys import reading_deploys, recorded_deploys, take_deploys
from bot.bootstrap.wiring.evidence import gathering
from bot.bootstrap.wiring.http_intake import take_alerts
from bot.bootstrap.wiring.listeners import Here, listening
from bot.bootstrap.wiring.memory import Memory, open_memory
from bot.bootstrap.wiring.model import model_name
from bot.bootstrap.wiring.nudge import nudging
from bot.bootstrap.wiring.shadow import admitting, begin_shadow, shadow_loops, showing, state_of
from bot.bootstrap.workers import Handle, InboxWorker, Loop, run_job
from bot.domain.alerts.alert import Alert, Reading
from bot.domain.catalog.vendors import Directory
from bot.observability import REGISTRY, count_masked, logger, spawn
from bot.parsers import read
from bot.ports import AddressUnavailable, ChatAuthRejected, StoreUnavailable
from bot.ports.chat import Identity
from bot.ports.clock import Clock, Ids
from bot.ports.evidence import LATER, Sources
from bot.ports.memory import RemoteBank
from bot.records.alert_json import stored_reading
from bot.settings import Settings
from bot.slack.app import HANDLERS, Listening, build_app
from bot.slack.client.chat import SlackChat, web_client
from bot.slack.client.history import SlackHistory
from bot.slack.client.people import SlackPeople
from bot.slack.client.policy_chat import AgreedChat
from bot.slack.client.threads import SlackThreads
from bot.slack.inbound.transport import HttpTransport, SocketTransport, Transport
from bot.slack.views.surfaces import SlackSurfaces
from bot.web.health import add_routes
from bot.workflows.alerts.answer import AnswerAlert
from bot.workflows.alerts.attach_message import AttachMessage
from bot.workflows.alerts.catch_up import StayHeard
from bot.workflows.alerts.http_intake import KIND as INTAKE
from bot.workflows.alerts.recurrence import AskAgain
from bot.workflows.alerts.storms import GroupStorms, TellStorms
from bot.workflows.channels.settings import AdmitAlert
from bot.workflows.delivery.deliver import CALL_DEADLINE_S, Deliver
from bot.workflows.delivery.make_files import MakeFiles
from bot.workflows.delivery.watch_outbox import WatchOwed
from bot.workflows.evidence.deploys import KIND as DEPLOY
from bot.workflows.evidence.gather import CompleteEvidence, GatherEvidence
from bot.workflows.operations.shadow import Admit
from bot.workflows.operations.status import ReportStatus
from bot.workflows.operations.watch_dependencies import WatchDependencies
from bot.workflows.operations.watch_load import WatchPressure
from bot.workflows.reports.digest import PostDigests
from bot.workflows.resolutions.correct import KIND as CORRECTED

# A stop may take so long for what is under way; orchestrators kill after 30 s.
GRACE_S = 10.0
MOST_BYTES = 2 * 1024 * 1024
DEADLINE_OF_LEASE = 0.7
Opening = Callable[[Settings, Clock, Ids], AbstractAsyncContextManager[Memory]]
log = logger("bot")


@dataclass(slots=True)
class Bot:
    """Everything that runs. `port` is where the bot's own HTTP server listens, `since` when it was put together."""

    settings: Settings
    memory: Memory
    identity: Identity
    worker: InboxWorker
    deliver: Deliver
    jobs: Jobs
    transport: Transport
    server: web.Application
    pressure: WatchPressure
    tell_storms: TellStorms
    stay_heard: StayHeard
    dependencies: WatchDependencies
    chat: AgreedChat
    port: int = 0
    since: datetime | None = None

    async def ready(self) -> tuple[bool, dict[str, str]]:
        """Whether what Slack sends can be kept: the store writable, and Slack connected."""
        store = await self.memory.health.status()
        connected = await self.transport.connected()
        details = {"store": store.problem or "writable", "slack": "connected" if connected else "not connected"}
        details |= {"since": self.since.isoformat()} if self.since else {}
        return store.writable and connected, details


def client_of(settings: Settings) -> AsyncWebClient:
    """The Web API client; raises ChatAuthRejected where there is no token."""
    if settings.slack_bot_token is None:
        raise ChatAuthRejected(
            "SLACK_BOT_TOKEN is not set: install the app from manifest.yml and put its xoxb- token into .env. "
            "`precedent doctor` names all that is missing."
        )
    return web_client(settings.slack_bot_token.get_secret_value(), with_slash(settings.slack_api_url))


def secret_of(settings: Settings) -> str | None:
    """The signing secret."""
    return settings.slack_signing_secret.get_secret_value() if settings.slack_signing_secret else None


def with_slash(url: str) -> str:
    """Slack's client needs the final slash."""
    return url if url.endswith("/") else f"{url}/"


async def assemble(
    settings: Settings, memory: Memory, clock: Clock, client: AsyncWebClient, model: NotedModel | None = None
) -> Bot:
    """Build everything, start nothing. Raises ChatAuthRejected, ChatUnavailable where Slack does not know the token,
    ConfigurationRejected for a wrong configuration file."""
    slack = SlackChat(client, clock)
    identity = await slack.identity()
    chat = AgreedChat(slack, memory.channels)
    people = SlackPeople(slack, clock, identity.team_id, settings.steward_group, settings.verifier_group)
    surfaces = SlackSurfaces()
    configuration = configured(settings.precedent_config)
    names = names_in(configuration)
    reading = _reader(configuration, identity, names)
    pressure = WatchPressure(memory.store.inbox)
    admit = AdmitAlert(memory.channels, operators_time(settings))
    told = recorded_deploys(settings, configuration, memory)
    sources = gathering(settings, configuration, clock, pressure.load, told)
    watch = watching(memory, clock, sources, model)
    brief = _answer(memory, chat, surfaces, clock, admitting(settings, chat, admit), pressure, sources)
    answer = AskAgain(memory.incidents, chat, surfaces, stored_reading, brief, owes_bank=memory.bank is not None)
    deliver = _deliver(settings, memory, chat, clock, SlackThreads(slack))
    status = _status(settings, memory, clock, deliver, watch, sources.names, state_of(settings, chat))
    talks = conversing(settings, memory, clock, chat, SlackThreads(slack), model, pressure.load)
    here = Here(identity, people, chat, surfaces, SlackHistory(slack))
    deps = listening(settings, memory, clock, here, reading, status, talks, names)
    app = build_app(client, secret_of(settings), deps)
    server = web.Application(client_max_size=MOST_BYTES)
    handlers: dict[str, Handle] = {kind: partial(_handle, work, deps) for kind, work in HANDLERS.items()}
    handlers |= {"message": answer, DEPLOY: take_deploys(server, settings, memory, clock, names)}
    handlers |= {INTAKE: take_alerts(server, settings, memory, chat, clock, names, answer, admit)}
    handlers |= _other_work(memory, chat, surfaces, clock, sources)
    connections: list[datetime] = []
    transport = transport_for(settings, app, server, lambda: connections.append(clock.now()))
    watch.probes |= slack_of(transport.connected)
    bot = Bot(
        settings,
        memory,
        identity,
        InboxWorker(memory.inbox, handlers, settings.workers),
        deliver,
        _jobs(settings, memory, people, chat, surfaces, clock),
        transport,
        server,
        pressure,
        TellStorms(memory.store.storms, surfaces, clock),
        stay_heard(slack, memory.store, clock, identity, reading, transport.connected, connections),
        watch,
        chat,
        since=clock.now(),
    )
    add_routes(server, bot.ready, REGISTRY)
    return bot


def _answer(
    memory: Memory,
    chat: AgreedChat,
    surfaces: SlackSurfaces,
    clock: Clock,
    admit: Admit,
    pressure: WatchPressure,
    sources: Sources,
) -> AnswerAlert:
    group, store = GroupStorms(memory.store.storms, pressure.load), memory.incidents
    read = stored_reading
    return AnswerAlert(store, memory.recall, memory.index, chat, surfaces, clock, read, admit, group, sources)


def _deliver(settings: Settings, memory: Memory, chat: AgreedChat, clock: Clock, threads: SlackThreads) -> Deliver:
    deadline_s = min(CALL_DEADLINE_S, settings.lease_s * DEADLINE_OF_LEASE)
    files = MakeFiles(MatplotlibCharts(), memory.incidents, threads, chat)
    return Deliver(
        memory.outbox,
        chat,
        clock,
        memory.bank,
        memory.incidents,
        deadline_s=deadline_s,
        files=files,
        in_shadow=showing(settings, chat),
    )


def _jobs(
    settings: Settings, memory: Memory, people: SlackPeople, chat: AgreedChat, surfaces: SlackSurfaces, clock: Clock
) -> Jobs:
    when, zone = operators_time(settings), ZoneInfo(settings.timezone)
    incidents, said = memory.incidents, memory.store.said
    digests = PostDigests(incidents, said, memory.channels, memory.claims, chat, surfaces, clock, when)
    nudges = nudging(settings, memory, people, chat, surfaces, clock)
    return Jobs(digests, memory.inbox, memory.store.retention, clock, zone, kept_for(settings), nudges)


def _other_work(
    memory: Memory, chat: AgreedChat, surfaces: SlackSurfaces, clock: Clock, sources: GatherEvidence
) -> dict[str, Handle]:
    return {
        "reference": AttachMessage(memory.incidents, chat),
        CORRECTED: telling(memory, surfaces, clock, chat),
        LATER: CompleteEvidence(memory.incidents, memory.inbox, surfaces, sources),
    }


def _status(
    settings: Settings,
    memory: Memory,
    clock: Clock,
    deliver: Deliver,
    watch: WatchDependencies,
    sources: tuple[str, ...],
    shadow: Callable[[], Awaitable[tuple[bool, str]]] | None,
) -> ReportStatus:
    return ReportStatus(
        memory.health,
        memory.outbox,
        memory.index,
        clock,
        memory.name,
        model_name(settings),
        __version__,
        bank=memory.remote,
        events=memory.store.inbox_desk,
        paused=deliver.paused,
        watched=watch.states,
        traces=memory.store.traces,
        sources=sources,
        shadow=shadow,
    )


def _reader(
    configuration: Configuration, identity: Identity, names: Directory
) -> Callable[[Mapping[str, Any]], Reading]:
    own = frozenset({identity.bot_id, identity.user_id})
    return reading_deploys(partial(_read, own, names), frozenset(configuration.deploy_posts.channels), names)


def _read(own: frozenset[str], names: Directory, event: Mapping[str, Any]) -> Reading:
    reading = read(event, own_bot_ids=own, names=names)
    if isinstance(reading, Alert):
        count_masked(reading.text)
    return reading


async def _handle(work: Any, listening: Listening, row: Any) -> None:
    await work(row, listening)


def transport_for(
    settings: Settings, app: Any, server: web.Application, on_connected: Callable[[], None] = lambda: None
) -> Transport:
    """Socket Mode with an app token, else signed HTTP; raises ChatAuthRejected where neither is possible."""
    if settings.slack_app_token:
        url = with_slash(settings.slack_api_url)
        return SocketTransport(app, settings.slack_app_token.get_secret_value(), url, on_connected)
    if not settings.slack_signing_secret:  # nor is an empty one: every request would be refused
        raise ChatAuthRejected(
            "Neither SLACK_APP_TOKEN (Socket Mode) nor SLACK_SIGNING_SECRET (HTTP) is set: put one of them into .env."
        )
    secret = settings.slack_signing_secret.get_secret_value()
    return HttpTransport(app, server, secret, on_connected=on_connected)


@asynccontextmanager
async def running(settings: Settings, clock: Clock | None = None, opening: Opening = open_memory) -> AsyncIterator[Bot]:
    """The bot at work. Start: store, workers, own server, Slack, jobs. Stop: Slack first, so that nothing new comes;
    then what runs may finish within ten seconds; what does not is given back, and taken up again at the next start."""
    clock = clock or SystemClock()
    async with opening(settings, clock, RandomIds()) as memory, open_noted(settings) as model:
        bot = await assemble(settings, memory, clock, client_of(settings), model)
        await begin_shadow(settings, memory, bot.chat)
        runner = web.AppRunner(bot.server, access_log=None, shutdown_timeout=GRACE_S / 2)
        await runner.setup()
        site = web.TCPSite(runner, settings.host, settings.port)
        try:
            await listen(site, settings.host, settings.port)
        except AddressUnavailable:
            await bot.transport.stop()
            await runner.cleanup()
            raise
        bot.port = runner.addresses[0][1]
        loops = loops_of(bot, clock)
        inbox = spawn(bot.worker.run(), "inbox")
        for loop in loops:
            loop.start()
        schedule = bot.jobs.schedule()
        try:
            await bot.transport.start()
            schedule.start()
            for name, job in (("digest", bot.jobs.digest), ("nudge", bot.jobs.nudge)):
                spawn(run_job(f"{name}-catch-up", job), f"{name}-catch-up")
            if memory.remote:
                spawn(run_job("look-at-bank", partial(_look_at_bank, memory.remote)), "look-at-bank")
            log.info("the bot is at work", port=bot.port, mode=type(bot.transport).__name__, memory=memory.name)
            yield bot
        finally:
            schedule.stop()
            await bot.transport.stop()
            until = asyncio.get_running_loop().time() + GRACE_S
            await asyncio.gather(bot.worker.stop(GRACE_S), *(loop.stop(GRACE_S) for loop in loops))
            await _release(bot.deliver, max(0.0, until - asyncio.get_running_loop().time()))
            inbox.cancel()
            await runner.cleanup()


async def listen(site: web.TCPSite, host: str, port: int) -> None:
    """Begin to listen; raises AddressUnavailable in plain words."""
    try:
        await site.start()
    except OSError as taken:
        raise AddressUnavailable(
            f"Cannot listen on {host} port {port} ({taken.strerror or taken}): end what listens there, or set PORT."
        ) from taken


def loops_of(bot: Bot, clock: Clock) -> list[Loop]:
    """What runs all the time: each destination drains for itself, so that a slow one holds up no other."""
    drains = [Loop(f"deliver-{d.value}", partial(bot.deliver.drain, d)) for d in bot.deliver.destinations()]
    watch = Loop("watch", WatchOwed(bot.memory.outbox, bot.memory.store.inbox_desk, clock))
    looks = [Loop("pressure", bot.pressure), Loop("storms", bot.tell_storms), Loop("catch-up", bot.stay_heard)]
    looks.append(Loop("dependencies", bot.dependencies))
    looks += shadow_loops(bot.settings, bot.memory, bot.chat, clock)
    return [*drains, *looks, watch, Loop("embeddings", bot.memory.fill_vectors)]


async def _release(deliver: Deliver, grace_s: float) -> None:
    try:
        held = await deliver.release(grace_s)
    except StoreUnavailable as problem:
        log.error("what was being delivered comes back when its lease ends", problem=str(problem))
    else:
        log.info("stopped", deliveries_given_back=held)


async def _look_at_bank(bank: RemoteBank) -> None:
    """Once at the start: the version is checked and a missing bank is made, before the first alert needs it."""
    status = await bank.status()
    if status.problem:
        log.warning("the memory bank cannot be used; the local index answers", problem=status.problem)
    else:
        log.info("the memory bank is there", bank=status.bank, version=status.version)
