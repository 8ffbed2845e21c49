"""The local Slack as one server. It listens on 127.0.0.1 only and makes no connection but to the app."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from aiohttp import ClientSession, web

from bot.playground import page, seeds
from bot.playground.control_api import ControlApi
from bot.playground.core import LocalSlackCore
from bot.playground.driver import LocalSlackDriver
from bot.playground.web_api.dispatch import WebApi
from bot.playground.web_api.files import FileServer
from bot.playground.webhooks import WebhookServer

_HOSTS = ("127.0.0.1", "localhost")
_BODY_MOST_BYTES = 4 * 1024 * 1024


class LocalSlack(LocalSlackDriver):
    """A local Slack with its server; stop it at the end."""

    _runner: web.AppRunner | None = None

    @classmethod
    async def start(
        cls,
        port: int = 0,
        *,
        seeds_dir: Path | None = None,
        manifest: Mapping[str, Any] | None = None,
        http_target: str | None = None,
        ack_timeout_s: float = 3.0,
        retry_delays_s: tuple[float, ...] = (0.0, 0.0, 0.0),
        now: Callable[[], float] = time.time,
    ) -> Self:
        """Listen on 127.0.0.1 (port 0: a free one). Without `seeds_dir` use a small built-in workspace.

        `manifest` (parsed) restricts scopes, events and commands to what it lists. `http_target` delivers events by
        HTTP to that address instead of Socket Mode. Times are in seconds.
        """
        core = LocalSlackCore(now=now)
        core.load(seeds.read_channels(seeds_dir))
        core.courier.retry_delays_s = retry_delays_s
        if manifest:
            core.installed.use_manifest(manifest)
        slack = cls(core, ClientSession(), ack_timeout_s=ack_timeout_s, seeds_dir=seeds_dir)
        try:
            await slack._listen(port)
        except OSError:
            await slack.stop()
            raise
        slack.use_http(http_target)
        return slack

    async def _listen(self, port: int) -> None:
        self._runner = web.AppRunner(_build_application(self), access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port)
        await site.start()
        bound: int = self._runner.addresses[0][1]
        self.core.url = f"http://127.0.0.1:{bound}"

    async def stop(self) -> None:
        """Give up what is in progress and close all connections."""
        self.stopping = True
        await self.core.courier.stop()
        self.core.notify_waiters()
        await self.hub.close()
        if self._runner:
            await self._runner.cleanup()
        await self._session.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()


Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@web.middleware
async def _refuse_foreign_hosts(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse requests for another host: a foreign page could otherwise reach us through a name that resolves to
    127.0.0.1."""
    if request.host.partition(":")[0] not in _HOSTS:
        raise web.HTTPForbidden(text="this server is for this machine only")
    return await handler(request)


def _build_application(slack: LocalSlack) -> web.Application:
    app = web.Application(middlewares=[_refuse_foreign_hosts], client_max_size=_BODY_MOST_BYTES)
    api, hooks, control = WebApi(slack.core, slack.hub), WebhookServer(slack.core), ControlApi(slack)
    app.router.add_get("/api/{method}", api.serve)
    app.router.add_post("/api/{method}", api.serve)
    app.router.add_get("/link/", slack.hub.serve)
    app.router.add_post("/services/{team}/{hook}/{secret}", hooks.receive_webhook)
    app.router.add_post("/response/{hook}", hooks.receive_response)
    app.router.add_post("/upload/{file}/{secret}", FileServer(slack.core).put)
    app.router.add_get("/files/{file}/{name}", FileServer(slack.core).get)
    app.router.add_post("/control/{act}", control.act)
    app.router.add_get("/control/view", control.view)
    app.router.add_get("/control/traffic", control.traffic)
    app.router.add_get("/control/stream", control.stream)
    app.router.add_get("/static/{name}", page.static_file)
    app.router.add_get("/", page.index)
    app.router.add_get("/archives/{channel}/{message}", page.index)
    return app
