"""The object that tests and the page drive a local Slack with: addresses, transports, waiting, and all that people do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from aiohttp import ClientSession

from bot.playground import seeds
from bot.playground.core import LocalSlackCore
from bot.playground.delivery.http import HttpSender
from bot.playground.delivery.socket_mode import SocketHub
from bot.playground.faults import Faults
from bot.playground.interactions import Interactions
from bot.playground.switches import Switchboard, Switches
from bot.playground.workspace.state import JSON, SlackRefused

Found = TypeVar("Found")


class LocalSlackDriver(Interactions, Faults, Switches):
    """A local Slack without its server: tokens and addresses are attributes, and actions are methods."""

    def __init__(
        self, core: LocalSlackCore, session: ClientSession, *, ack_timeout_s: float, seeds_dir: Path | None
    ) -> None:
        self.core = core
        self.samples = seeds.read_sample_alerts(seeds_dir)
        self.board = Switchboard(seeds.read_channels(seeds_dir))
        self.hub = SocketHub(core.workspace.bot.app_id, core.knobs, ack_timeout_s)
        self.stopping = False
        self._ack_timeout_s = ack_timeout_s
        self._session = session
        self._sender: HttpSender | None = None
        core.courier.transport = self.hub.attempt

    @property
    def url(self) -> str:
        """Return the page's address without a final slash."""
        return self.core.url

    @property
    def api_url(self) -> str:
        """Return the Web API's base address with the final slash that slack_sdk needs."""
        return f"{self.core.url}/api/"

    @property
    def bot_token(self) -> str:
        """Return the token of the installed app."""
        return self.core.installed.bot_token

    @property
    def app_token(self) -> str:
        """Return the app-level token for Socket Mode."""
        return self.core.installed.app_token

    @property
    def signing_secret(self) -> str:
        """Return the secret that signs HTTP requests."""
        return self.core.installed.signing_secret

    @property
    def team_id(self) -> str:
        """Return the id of the only team."""
        return self.core.workspace.team_id

    @property
    def bot_user(self) -> str:
        """Return the user id of the bot under test."""
        return self.core.workspace.bot_user

    @property
    def bot_id(self) -> str:
        """Return the bot id of the bot under test."""
        return self.core.workspace.bot.bot_id

    @property
    def connected(self) -> bool:
        """Return whether the app can be reached: a socket is open, or an HTTP target is set."""
        return self._sender is not None or self.hub.connected.is_set()

    @property
    def http_target(self) -> str | None:
        """Return the address that events go to by HTTP; None in Socket Mode."""
        return self._sender.target if self._sender else None

    def use_http(self, target: str | None) -> None:
        """Deliver to this address from now on (None: by Socket Mode)."""
        if target is None:
            self._sender = None
            self.core.courier.transport = self.hub.attempt
            return
        secret = self.core.installed.signing_secret
        self._sender = HttpSender(
            target, secret, self._session, self.core.knobs, self.core.clock, ack_timeout_s=self._ack_timeout_s
        )
        self.core.courier.transport = self._sender.attempt

    async def verify_url(self) -> bool:
        """Do the url_verification handshake with the HTTP target. Return whether it succeeded."""
        if self._sender is None:
            raise SlackRefused("no_http_target")
        return await self._sender.verify_url()

    async def wait_until(self, predicate: Callable[[], Found], timeout_s: float = 5.0) -> Found:
        """Wait until the predicate returns something truthy, and return that. Raises TimeoutError."""
        return await self.core.wait_until(predicate, timeout_s)

    async def wait_connected(self, timeout_s: float = 5.0) -> None:
        """Wait until the app has a socket open. Raises TimeoutError."""
        await self.core.wait_until(lambda: self.connected, timeout_s)

    async def idle(self, timeout_s: float = 5.0) -> None:
        """Wait until every event was acknowledged or given up. Raises TimeoutError."""
        await self.core.idle(timeout_s)

    async def refresh_sockets(self) -> None:
        """Ask every socket to reconnect (`disconnect: refresh_requested`)."""
        await self.hub.refresh()

    async def close_sockets(self) -> None:
        """Cut every socket without notice."""
        await self.hub.close()

    async def post_sample(self, channel: str, name: str) -> JSON:
        """Post a sample alert of the seeds, by its file name without extension. Raises SlackRefused."""
        if name not in self.samples:
            raise SlackRefused("no_such_sample")
        return await self.post_alert(channel, self.samples[name])
