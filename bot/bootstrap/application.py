"""The running bot: what it is made of, and the order in which all that starts and stops."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from aiohttp import web
from slack_sdk.web.async_client import AsyncWebClient

from bot.bootstrap.jobs import ScheduledJobs, read_retention_periods
from bot.bootstrap.system import RandomIds, SystemClock
from bot.bootstrap.wiring.alerts import (
    add_alert_intake,
    build_answer,
    build_attach_message,
    build_reader,
    build_storm_summaries,
    build_watch_connection,
)
from bot.bootstrap.wiring.assistant import MonitoredModel, build_converse, open_monitored_model
from bot.bootstrap.wiring.channels import build_admit
from bot.bootstrap.wiring.delivery import build_deliver, build_watch_outbox
from bot.bootstrap.wiring.dependencies import build_slack_probe, build_watch_dependencies
from bot.bootstrap.wiring.evidence import add_deploy_intake, build_complete_evidence, build_gather_evidence
from bot.bootstrap.wiring.foundation import Foundation, build_foundation
from bot.bootstrap.wiring.listeners import build_use_cases
from bot.bootstrap.wiring.memory import Memory, open_memory
from bot.bootstrap.wiring.operations import build_status
from bot.bootstrap.wiring.reports import build_post_digests
from bot.bootstrap.wiring.resolutions import build_post_nudges, build_refresh_briefs
from bot.bootstrap.wiring.shadow import begin_shadow, build_shadow_loops, wrap_admit
from bot.bootstrap.wiring.slack import build_slack_client, build_transport, read_signing_secret
from bot.bootstrap.workers import Handle, InboxWorker, Loop, run_job
from bot.observability import REGISTRY, get_logger, spawn
from bot.ports.clock import Clock, Ids
from bot.ports.delivery.inbox import InboxRow
from bot.ports.errors import AddressUnavailable, StoreUnavailable
from bot.ports.evidence import LATER
from bot.ports.memory import RemoteBank
from bot.settings import Settings
from bot.slack.app import HANDLERS, UseCases, build_app
from bot.slack.inbound.transport import Transport
from bot.web.health import add_routes
from bot.workflows.alerts.catch_up import WatchConnection
from bot.workflows.alerts.http_intake import KIND as INTAKE
from bot.workflows.alerts.storms import PostStormSummaries
from bot.workflows.delivery.deliver import Deliver
from bot.workflows.evidence.deploys import KIND as DEPLOY
from bot.workflows.operations.watch_dependencies import WatchDependencies
from bot.workflows.resolutions.correct import KIND as CORRECTED

# How long a stop waits for running work; orchestrators kill after 30 s.
STOP_GRACE_S = 10.0
MAX_REQUEST_BYTES = 2 * 1024 * 1024
OpenMemory = Callable[[Settings, Clock, Ids], AbstractAsyncContextManager[Memory]]
log = get_logger("bot")


@dataclass(slots=True, kw_only=True)
class Application:
    """Everything that runs."""

    base: Foundation
    worker: InboxWorker
    deliver: Deliver
    jobs: ScheduledJobs
    transport: Transport
    server: web.Application
    tell_storms: PostStormSummaries
    stay_heard: WatchConnection
    dependencies: WatchDependencies
    # When it was put together.
    since: datetime
    # Where the bot's own HTTP server listens; 0 until it does.
    port: int = 0

    @property
    def memory(self) -> Memory:
        """Return the open memory."""
        return self.base.memory

    async def check_ready(self) -> tuple[bool, dict[str, str]]:
        """Return whether what Slack sends can be stored: the store is writable and Slack is connected."""
        store = await self.memory.health.read_status()
        connected = await self.transport.is_connected()
        details = {"store": store.problem or "writable", "slack": "connected" if connected else "not connected"}
        details |= {"since": self.since.isoformat()}
        return store.writable and connected, details


async def build_application(
    *, settings: Settings, memory: Memory, clock: Clock, client: AsyncWebClient, model: MonitoredModel | None = None
) -> Application:
    """Build everything, start nothing. Raises ChatAuthRejected and ChatUnavailable if Slack does not know the token, and
    ConfigurationRejected for a wrong configuration file."""
    base = await build_foundation(settings=settings, memory=memory, clock=clock, client=client)
    server = web.Application(client_max_size=MAX_REQUEST_BYTES)
    connections: list[datetime] = []
    read, admit, deliver = build_reader(base), build_admit(base), build_deliver(base)
    sources = build_gather_evidence(
        settings=settings,
        configuration=base.configuration,
        clock=clock,
        memory=memory,
        load=base.load.read_load,
    )
    watch = build_watch_dependencies(base, sources=sources, model=model)
    status = build_status(base, deliver=deliver, watch=watch, sources=sources.names)
    use_cases = build_use_cases(base, read=read, status=status, converse=build_converse(base, model=model))
    answer = build_answer(base, admit=wrap_admit(settings, base.chat, admit), sources=sources)
    handlers: dict[str, Handle] = {
        **{kind: partial(_handle, work, use_cases) for kind, work in HANDLERS.items()},
        "message": answer,
        "reference": build_attach_message(base),
        INTAKE: add_alert_intake(base, server, answer=answer, admit=admit),
        DEPLOY: add_deploy_intake(base, server),
        CORRECTED: build_refresh_briefs(memory, base.surfaces, clock, base.chat),
        LATER: build_complete_evidence(base, sources=sources),
    }
    transport = build_transport(
        settings=settings,
        app=build_app(client, read_signing_secret(settings), use_cases),
        server=server,
        on_connected=lambda: connections.append(clock.now()),
    )
    watch.probes |= build_slack_probe(transport.is_connected)
    application = Application(
        base=base,
        worker=InboxWorker(memory.inbox, handlers, settings.workers),
        deliver=deliver,
        jobs=ScheduledJobs(
            post_digests=build_post_digests(base),
            inbox=memory.inbox,
            retention=memory.store.retention,
            clock=clock,
            zone=ZoneInfo(settings.timezone),
            kept_for=read_retention_periods(settings),
            post_nudges=build_post_nudges(base),
        ),
        transport=transport,
        server=server,
        tell_storms=build_storm_summaries(base),
        stay_heard=build_watch_connection(
            base, read=read, is_connected=transport.is_connected, connections=connections
        ),
        dependencies=watch,
        since=clock.now(),
    )
    add_routes(server, application.check_ready, REGISTRY)
    return application


async def _handle(work: Any, use_cases: UseCases, row: InboxRow) -> None:
    await work(row, use_cases)


@asynccontextmanager
async def run_application(
    settings: Settings, clock: Clock | None = None, opening: OpenMemory = open_memory
) -> AsyncIterator[Application]:
    """Run the bot. Start in this order: store, workers, own server, Slack, jobs.

    Stop Slack first, so that nothing new arrives; then give running work ten seconds, and hand back what is not done, so
    that the next start takes it up again.
    """
    clock = clock or SystemClock()
    async with opening(settings, clock, RandomIds()) as memory, open_monitored_model(settings) as model:
        bot = await build_application(
            settings=settings, memory=memory, clock=clock, client=build_slack_client(settings), model=model
        )
        await begin_shadow(settings, memory, bot.base.chat)
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
        loops = build_loops(bot)
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
    """Start to listen. Raises AddressUnavailable in plain words."""
    try:
        await site.start()
    except OSError as taken:
        raise AddressUnavailable(
            f"Cannot listen on {host} port {port} ({taken.strerror or taken}): end what listens there, or set PORT."
        ) from taken


def build_loops(bot: Application) -> list[Loop]:
    """Return what runs all the time. Each destination drains by itself, so that a slow one does not hold up the others."""
    drains = [Loop(f"deliver-{d.value}", partial(bot.deliver.drain, d)) for d in bot.deliver.list_destinations()]
    watch = Loop("watch", build_watch_outbox(bot.base))
    looks = [Loop("pressure", bot.base.load), Loop("storms", bot.tell_storms), Loop("catch-up", bot.stay_heard)]
    looks.append(Loop("dependencies", bot.dependencies))
    looks += build_shadow_loops(bot.base.settings, bot.memory, bot.base.chat, bot.base.clock)
    return [*drains, *looks, watch, Loop("embeddings", bot.memory.fill_vectors)]


async def _give_back_deliveries(deliver: Deliver, grace_s: float) -> None:
    try:
        held = await deliver.release(grace_s)
    except StoreUnavailable as problem:
        log.error("what was being delivered comes back when its lease ends", problem=str(problem))
    else:
        log.info("stopped", deliveries_given_back=held)


async def _check_bank(bank: RemoteBank) -> None:
    """Check the bank's version and create a missing bank, before the first alert needs it."""
    status = await bank.read_status()
    if status.problem:
        log.warning("the memory bank cannot be used; the local index answers", problem=status.problem)
    else:
        log.info("the memory bank is there", bank=status.bank, version=status.version)
