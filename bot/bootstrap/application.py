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
from bot.bootstrap.config.file import Configuration, build_directory, read_optional_configuration
from bot.bootstrap.jobs import ScheduledJobs, read_retention_periods
from bot.bootstrap.system import RandomIds, SystemClock
from bot.bootstrap.wiring.assistant import MonitoredModel, build_converse, open_monitored_model
from bot.bootstrap.wiring.catch_up import build_stay_connected
from bot.bootstrap.wiring.channels import read_digest_time
from bot.bootstrap.wiring.corrections import build_refresh_briefs
from bot.bootstrap.wiring.dependencies import build_slack_probe, build_watch_dependencies
from bot.bootstrap.wiring.deploys import add_deploy_intake, build_recorded_deploys, wrap_reader
from bot.bootstrap.wiring.evidence import build_gather_evidence
from bot.bootstrap.wiring.http_intake import add_alert_intake
from bot.bootstrap.wiring.listeners import WorkspaceAccess, build_use_cases
from bot.bootstrap.wiring.memory import Memory, open_memory
from bot.bootstrap.wiring.model import format_model_name
from bot.bootstrap.wiring.nudge import build_post_nudges
from bot.bootstrap.wiring.shadow import (
    begin_shadow,
    build_shadow_loops,
    build_shadow_state,
    build_show_in_shadow,
    wrap_admit,
)
from bot.bootstrap.workers import Handle, InboxWorker, Loop, run_job
from bot.domain.alerts.alert import Alert, Reading
from bot.domain.catalog.vendors import Directory
from bot.observability import REGISTRY, count_masked, get_logger, spawn
from bot.parsers import read
from bot.ports.chat import BotIdentity
from bot.ports.clock import Clock, Ids
from bot.ports.errors import AddressUnavailable, ChatAuthRejected, StoreUnavailable
from bot.ports.evidence import LATER, EvidenceSources
from bot.ports.memory import RemoteBank
from bot.records.alert_json import read_stored_alert
from bot.settings import Settings
from bot.slack.app import HANDLERS, UseCases, build_app
from bot.slack.client.chat import SlackChat, build_web_client
from bot.slack.client.history import SlackHistory
from bot.slack.client.people import SlackPeople
from bot.slack.client.policy_chat import PolicyChat
from bot.slack.client.threads import SlackThreads
from bot.slack.inbound.transport import HttpTransport, SocketTransport, Transport
from bot.slack.views.surfaces import SlackSurfaces
from bot.web.health import add_routes
from bot.workflows.alerts.answer import AnswerAlert
from bot.workflows.alerts.attach_message import AttachMessage
from bot.workflows.alerts.catch_up import WatchConnection
from bot.workflows.alerts.http_intake import KIND as INTAKE
from bot.workflows.alerts.recurrence import AskAboutRecurrence
from bot.workflows.alerts.storms import GroupStorms, PostStormSummaries
from bot.workflows.channels.settings import AdmitAlert
from bot.workflows.delivery.deliver import CALL_DEADLINE_S, Deliver
from bot.workflows.delivery.make_files import MakeFiles
from bot.workflows.delivery.watch_outbox import WatchOutbox
from bot.workflows.evidence.deploys import KIND as DEPLOY
from bot.workflows.evidence.gather import CompleteEvidence, GatherEvidence
from bot.workflows.operations.shadow import Admit
from bot.workflows.operations.status import ReportStatus
from bot.workflows.operations.watch_dependencies import WatchDependencies
from bot.workflows.operations.watch_load import WatchLoad
from bot.workflows.reports.digest import PostDigests
from bot.workflows.resolutions.correct import KIND as CORRECTED

# A stop may take so long for what is under way; orchestrators kill after 30 s.
STOP_GRACE_S = 10.0
MAX_REQUEST_BYTES = 2 * 1024 * 1024
LEASE_SHARE_FOR_CALL = 0.7
OpenMemory = Callable[[Settings, Clock, Ids], AbstractAsyncContextManager[Memory]]
log = get_logger("bot")


@dataclass(slots=True)
class Application:
    """Everything that runs. `port` is where the bot's own HTTP server listens, `since` when it was put together."""

    settings: Settings
    memory: Memory
    identity: BotIdentity
    worker: InboxWorker
    deliver: Deliver
    jobs: ScheduledJobs
    transport: Transport
    server: web.Application
    pressure: WatchLoad
    tell_storms: PostStormSummaries
    stay_heard: WatchConnection
    dependencies: WatchDependencies
    chat: PolicyChat
    port: int = 0
    since: datetime | None = None

    async def check_ready(self) -> tuple[bool, dict[str, str]]:
        """Whether what Slack sends can be kept: the store writable, and Slack connected."""
        store = await self.memory.health.read_status()
        connected = await self.transport.is_connected()
        details = {"store": store.problem or "writable", "slack": "connected" if connected else "not connected"}
        details |= {"since": self.since.isoformat()} if self.since else {}
        return store.writable and connected, details


def build_slack_client(settings: Settings) -> AsyncWebClient:
    """The Web API client; raises ChatAuthRejected where there is no token."""
    if settings.slack_bot_token is None:
        raise ChatAuthRejected(
            "SLACK_BOT_TOKEN is not set: install the app from manifest.yml and put its xoxb- token into .env. "
            "`precedent doctor` names all that is missing."
        )
    return build_web_client(settings.slack_bot_token.get_secret_value(), add_final_slash(settings.slack_api_url))


def read_signing_secret(settings: Settings) -> str | None:
    """The signing secret."""
    return settings.slack_signing_secret.get_secret_value() if settings.slack_signing_secret else None


def add_final_slash(url: str) -> str:
    """Slack's client needs the final slash."""
    return url if url.endswith("/") else f"{url}/"


async def build_application(
    settings: Settings, memory: Memory, clock: Clock, client: AsyncWebClient, model: MonitoredModel | None = None
) -> Application:
    """Build everything, start nothing. Raises ChatAuthRejected, ChatUnavailable where Slack does not know the token,
    ConfigurationRejected for a wrong configuration file."""
    slack = SlackChat(client, clock)
    identity = await slack.fetch_identity()
    chat = PolicyChat(slack, memory.channels)
    people = SlackPeople(slack, clock, identity.team_id, settings.steward_group, settings.verifier_group)
    surfaces = SlackSurfaces()
    configuration = read_optional_configuration(settings.precedent_config)
    names = build_directory(configuration)
    reading = _build_reader(configuration, identity, names)
    pressure = WatchLoad(memory.store.inbox)
    admit = AdmitAlert(memory.channels, read_digest_time(settings))
    told = build_recorded_deploys(settings, configuration, memory)
    sources = build_gather_evidence(settings, configuration, clock, pressure.read_load, told)
    watch = build_watch_dependencies(memory, clock, sources, model)
    brief = _build_answer_alert(memory, chat, surfaces, clock, wrap_admit(settings, chat, admit), pressure, sources)
    answer = AskAboutRecurrence(memory.incidents, chat, surfaces, read_stored_alert, brief)
    deliver = _build_deliver(settings, memory, chat, clock, SlackThreads(slack))
    status = _build_status(settings, memory, clock, deliver, watch, sources.names, build_shadow_state(settings, chat))
    talks = build_converse(settings, memory, clock, chat, SlackThreads(slack), model, pressure.read_load)
    here = WorkspaceAccess(identity, people, chat, surfaces, SlackHistory(slack))
    deps = build_use_cases(settings, memory, clock, here, reading, status, talks, names)
    app = build_app(client, read_signing_secret(settings), deps)
    server = web.Application(client_max_size=MAX_REQUEST_BYTES)
    handlers: dict[str, Handle] = {kind: partial(_handle, work, deps) for kind, work in HANDLERS.items()}
    handlers |= {"message": answer, DEPLOY: add_deploy_intake(server, settings, memory, clock, names)}
    handlers |= {INTAKE: add_alert_intake(server, settings, memory, chat, clock, names, answer, admit)}
    handlers |= _build_background_handlers(memory, chat, surfaces, clock, sources)
    connections: list[datetime] = []
    transport = build_transport(settings, app, server, lambda: connections.append(clock.now()))
    watch.probes |= build_slack_probe(transport.is_connected)
    bot = Application(
        settings,
        memory,
        identity,
        InboxWorker(memory.inbox, handlers, settings.workers),
        deliver,
        _build_jobs(settings, memory, people, chat, surfaces, clock),
        transport,
        server,
        pressure,
        PostStormSummaries(memory.store.storms, surfaces, clock),
        build_stay_connected(slack, memory.store, clock, identity, reading, transport.is_connected, connections),
        watch,
        chat,
        since=clock.now(),
    )
    add_routes(server, bot.check_ready, REGISTRY)
    return bot


def _build_answer_alert(
    memory: Memory,
    chat: PolicyChat,
    surfaces: SlackSurfaces,
    clock: Clock,
    admit: Admit,
    pressure: WatchLoad,
    sources: EvidenceSources,
) -> AnswerAlert:
    group, store = GroupStorms(memory.store.storms, pressure.read_load), memory.incidents
    read = read_stored_alert
    return AnswerAlert(store, memory.recall, memory.index, chat, surfaces, clock, read, admit, group, sources)


def _build_deliver(
    settings: Settings, memory: Memory, chat: PolicyChat, clock: Clock, threads: SlackThreads
) -> Deliver:
    deadline_s = min(CALL_DEADLINE_S, settings.lease_s * LEASE_SHARE_FOR_CALL)
    files = MakeFiles(MatplotlibCharts(), memory.incidents, threads, chat)
    return Deliver(
        memory.outbox,
        chat,
        clock,
        memory.bank,
        memory.incidents,
        deadline_s=deadline_s,
        files=files,
        in_shadow=build_show_in_shadow(settings, chat),
    )


def _build_jobs(
    settings: Settings, memory: Memory, people: SlackPeople, chat: PolicyChat, surfaces: SlackSurfaces, clock: Clock
) -> ScheduledJobs:
    when, zone = read_digest_time(settings), ZoneInfo(settings.timezone)
    incidents, said = memory.incidents, memory.store.feedback
    digests = PostDigests(incidents, said, memory.channels, memory.claims, chat, surfaces, clock, when)
    nudges = build_post_nudges(settings, memory, people, chat, surfaces, clock)
    return ScheduledJobs(
        digests, memory.inbox, memory.store.retention, clock, zone, read_retention_periods(settings), nudges
    )


def _build_background_handlers(
    memory: Memory, chat: PolicyChat, surfaces: SlackSurfaces, clock: Clock, sources: GatherEvidence
) -> dict[str, Handle]:
    return {
        "reference": AttachMessage(memory.incidents, chat),
        CORRECTED: build_refresh_briefs(memory, surfaces, clock, chat),
        LATER: CompleteEvidence(memory.incidents, memory.inbox, surfaces, sources),
    }


def _build_status(
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
        format_model_name(settings),
        __version__,
        bank=memory.remote,
        events=memory.store.inbox_admin,
        paused=deliver.list_paused,
        watched=watch.list_states,
        traces=memory.store.brief_timings,
        sources=sources,
        shadow=shadow,
    )


def _build_reader(
    configuration: Configuration, identity: BotIdentity, names: Directory
) -> Callable[[Mapping[str, Any]], Reading]:
    own = frozenset({identity.bot_id, identity.user_id})
    return wrap_reader(partial(_read, own, names), frozenset(configuration.deploy_posts.channels), names)


def _read(own: frozenset[str], names: Directory, event: Mapping[str, Any]) -> Reading:
    reading = read(event, own_bot_ids=own, names=names)
    if isinstance(reading, Alert):
        count_masked(reading.text)
    return reading


async def _handle(work: Any, listening: UseCases, row: Any) -> None:
    await work(row, listening)


def build_transport(
    settings: Settings, app: Any, server: web.Application, on_connected: Callable[[], None] = lambda: None
) -> Transport:
    """Socket Mode with an app token, else signed HTTP; raises ChatAuthRejected where neither is possible."""
    if settings.slack_app_token:
        url = add_final_slash(settings.slack_api_url)
        return SocketTransport(app, settings.slack_app_token.get_secret_value(), url, on_connected)
    if not settings.slack_signing_secret:  # nor is an empty one: every request would be refused
        raise ChatAuthRejected(
            "Neither SLACK_APP_TOKEN (Socket Mode) nor SLACK_SIGNING_SECRET (HTTP) is set: put one of them into .env."
        )
    secret = settings.slack_signing_secret.get_secret_value()
    return HttpTransport(app, server, secret, on_connected=on_connected)


@asynccontextmanager
async def run_application(
    settings: Settings, clock: Clock | None = None, opening: OpenMemory = open_memory
) -> AsyncIterator[Application]:
    """The bot at work. Start: store, workers, own server, Slack, jobs. Stop: Slack first, so that nothing new comes;
    then what runs may finish within ten seconds; what does not is given back, and taken up again at the next start."""
    clock = clock or SystemClock()
    async with opening(settings, clock, RandomIds()) as memory, open_monitored_model(settings) as model:
        bot = await build_application(settings, memory, clock, build_slack_client(settings), model)
        await begin_shadow(settings, memory, bot.chat)
        runner = web.AppRunner(bot.server, access_log=None, shutdown_timeout=STOP_GRACE_S / 2)
        await runner.setup()
        site = web.TCPSite(runner, settings.host, settings.port)
        try:
            await start_listening(site, settings.host, settings.port)
        except AddressUnavailable:
            await bot.transport.stop()
            await runner.cleanup()
            raise
        bot.port = runner.addresses[0][1]
        loops = build_loops(bot, clock)
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
                spawn(run_job("look-at-bank", partial(_check_bank, memory.remote)), "look-at-bank")
            log.info("the bot is at work", port=bot.port, mode=type(bot.transport).__name__, memory=memory.name)
            yield bot
        finally:
            schedule.stop()
            await bot.transport.stop()
            until = asyncio.get_running_loop().time() + STOP_GRACE_S
            await asyncio.gather(bot.worker.stop(STOP_GRACE_S), *(loop.stop(STOP_GRACE_S) for loop in loops))
            await _give_back_deliveries(bot.deliver, max(0.0, until - asyncio.get_running_loop().time()))
            inbox.cancel()
            await runner.cleanup()


async def start_listening(site: web.TCPSite, host: str, port: int) -> None:
    """Begin to listen; raises AddressUnavailable in plain words."""
    try:
        await site.start()
    except OSError as taken:
        raise AddressUnavailable(
            f"Cannot listen on {host} port {port} ({taken.strerror or taken}): end what listens there, or set PORT."
        ) from taken


def build_loops(bot: Application, clock: Clock) -> list[Loop]:
    """What runs all the time: each destination drains for itself, so that a slow one holds up no other."""
    drains = [Loop(f"deliver-{d.value}", partial(bot.deliver.drain, d)) for d in bot.deliver.list_destinations()]
    watch = Loop("watch", WatchOutbox(bot.memory.outbox, bot.memory.store.inbox_admin, clock))
    looks = [Loop("pressure", bot.pressure), Loop("storms", bot.tell_storms), Loop("catch-up", bot.stay_heard)]
    looks.append(Loop("dependencies", bot.dependencies))
    looks += build_shadow_loops(bot.settings, bot.memory, bot.chat, clock)
    return [*drains, *looks, watch, Loop("embeddings", bot.memory.fill_vectors)]


async def _give_back_deliveries(deliver: Deliver, grace_s: float) -> None:
    try:
        held = await deliver.release(grace_s)
    except StoreUnavailable as problem:
        log.error("what was being delivered comes back when its lease ends", problem=str(problem))
    else:
        log.info("stopped", deliveries_given_back=held)


async def _check_bank(bank: RemoteBank) -> None:
    """Once at the start: the version is checked and a missing bank is made, before the first alert needs it."""
    status = await bank.read_status()
    if status.problem:
        log.warning("the memory bank cannot be used; the local index answers", problem=status.problem)
    else:
        log.info("the memory bank is there", bank=status.bank, version=status.version)
