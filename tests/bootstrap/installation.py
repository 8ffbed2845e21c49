"""An installation that has nothing wrong, on a local Slack and an SQLite file of its own, for breaking one thing in it."""

from __future__ import annotations

import contextlib
import os
import pwd
import ssl
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from aiohttp import web
from pydantic import SecretStr

from bot.bootstrap.application import Application, run_application
from bot.bootstrap.modes.playground import read_manifest
from bot.bootstrap.system import SystemClock
from bot.doctor.examine import examine
from bot.doctor.finding import Finding
from bot.playground.server import LocalSlack
from bot.ports.clock import Clock
from bot.settings import Settings
from tests.databases import fresh
from tests.ports import free_port

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]
WITHOUT_RIGHTS = "nobody"
the_manifest = lru_cache(maxsize=1)(read_manifest)


class CannotBeProvoked(Exception):
    """This machine does not let it happen; the message says why."""


@dataclass
class Installation:
    """`given` are its settings, `text` its configuration file; `undo` is called at the end. `as_user`: who runs doctor."""

    folder: Path
    slack: LocalSlack
    undo: AsyncExitStack
    given: dict[str, Any] = field(default_factory=dict)
    text: str = ""
    clock: Clock = field(default_factory=SystemClock)
    as_user: str | None = None

    @property
    def database(self) -> Path:
        """The SQLite file."""
        return self.folder / "state" / "precedent.db"

    def before(self) -> Settings:
        """What was set before anything was changed."""
        return Settings(
            slack_bot_token=SecretStr(self.slack.bot_token), slack_app_token=SecretStr(self.slack.app_token)
        )

    def settings(self) -> Settings:
        """What the operator has set."""
        if self.text:
            (self.folder / "precedent.toml").write_text(self.text, encoding="utf-8")
            self.given["precedent_config"] = self.folder / "precedent.toml"
        base: dict[str, Any] = {
            "slack_bot_token": self.slack.bot_token,
            "slack_app_token": self.slack.app_token,
            "slack_api_url": self.slack.api_url,
            "database_url": f"sqlite+aiosqlite:///{self.database}",
            "port": 0,
        }
        return Settings(**(base | self.given))

    async def findings(self) -> tuple[Finding, ...]:
        """What doctor says of it."""
        settings = self.settings()
        with _user(self.as_user):
            return await examine(settings, self.clock)

    async def by_http(self) -> None:
        """HTTP mode, and a bot at work at PUBLIC_URL."""
        port = free_port()
        self.slack.use_http(f"http://127.0.0.1:{port}/slack/events")
        self.given |= {
            "slack_app_token": None,
            "slack_signing_secret": self.slack.signing_secret,
            "port": port,
            "public_url": f"http://127.0.0.1:{port}/slack/events",
        }
        await self.at_work()

    async def at_work(self) -> Application:
        """A bot of these settings, connected."""
        bot = await self.undo.enter_async_context(run_application(self.settings()))
        await self.slack.wait_connected()
        return bot

    async def served(self, answer: Answer, tls: ssl.SSLContext | None = None) -> str:
        """The address of a server of the test's own."""
        url: str = await self.undo.enter_async_context(serving(answer, tls))
        return url

    def environment(self, **values: str) -> None:
        """Variables of the environment, until the end."""
        for name, value in values.items():
            before = os.environ.get(name)
            os.environ[name] = value
            self.undo.callback(_put_back, name, before)


def _put_back(name: str, before: str | None) -> None:
    if before is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = before


@contextmanager
def _user(name: str | None) -> Iterator[None]:
    """Do it as another user; only root can."""
    if name is None:
        yield
        return
    if os.geteuid() != 0:
        raise CannotBeProvoked("only root can run it as another user")
    os.seteuid(pwd.getpwnam(name).pw_uid)
    try:
        yield
    finally:
        os.seteuid(0)


def _folder(places: ExitStack) -> Path:
    folder = Path(places.enter_context(tempfile.TemporaryDirectory(prefix="doctor-")))
    folder.chmod(0o755)  # so that another user comes as far as what is forbidden to them
    return folder


@asynccontextmanager
async def installed() -> AsyncIterator[Installation]:
    """One with nothing wrong; everything is gone afterwards."""
    with ExitStack() as places:
        folder = _folder(places)
        places.enter_context(contextlib.chdir(folder))
        async with await LocalSlack.start(manifest=the_manifest()) as slack, AsyncExitStack() as undo:
            found = Installation(folder, slack, undo)
            fresh(found.database)
            yield found


@asynccontextmanager
async def serving(answer: Answer, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
    try:
        yield f"{'https' if tls else 'http'}://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def says(status: int, text: str = "", kind: str = "text/html", **headers: str) -> Answer:
    """A server that always answers so."""

    async def answer(_request: web.Request) -> web.StreamResponse:
        return web.Response(status=status, text=text, content_type=kind, headers=headers)

    return answer


def bank(banks: list[dict[str, Any]], version: str = "1.1.0", refused: int = 0) -> Answer:
    """A Hindsight server as far as doctor asks it; `refused` is the status of all but the version."""

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/version":
            return web.json_response({"api_version": version, "features": {}})
        if refused or request.method != "GET":
            return web.json_response({"detail": "no"}, status=refused or 500)
        return web.json_response({"banks": banks, "total": len(banks), "limit": 100, "offset": 0})

    return answer


def self_signed(folder: Path) -> ssl.SSLContext:
    """A certificate that nobody trusts."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    made = [
        *(
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "1",
        ),
        *("-keyout", str(key), "-out", str(certificate), "-subj", "/CN=precedent.example"),
    ]
    try:
        subprocess.run(made, check=True, capture_output=True)
    except FileNotFoundError:
        raise CannotBeProvoked("openssl is not installed") from None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


def a_minute_passes(at: Installation, seconds: float) -> None:
    """For Slack and for doctor it is later."""
    at.slack.core.now = lambda: time.time() + seconds
