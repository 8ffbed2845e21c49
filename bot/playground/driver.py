"""The running local Slack without its server: addresses, transports, waiting. Must not listen or start anything."""

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
    """Tokens and addresses are attributes; what people do are its methods."""

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
        """The page, without a final slash."""
        return self.core.url

    @property
    def api_url(self) -> str:
        """The Web API's base address, with the final slash that slack_sdk needs."""
        return f"{self.core.url}/api/"

    @property
    def bot_token(self) -> str:
        """The token of the installed app."""
        return self.core.installed.bot_token

    @property
    def app_token(self) -> str:
        """The app-level token for Socket Mode."""
        return self.core.installed.app_token

    @property
    def signing_secret(self) -> str:
        """The secret that signs HTTP requests."""
        return self.core.installed.signing_secret

    @property
    def team_id(self) -> str:
        """The id of the only team."""
        return self.core.workspace.team_id

    @property
    def bot_user(self) -> str:
        """The user id of the bot under test."""
        return self.core.workspace.bot_user

    @property
    def bot_id(self) -> str:
        """The bot id of the bot under test."""
        return self.core.workspace.bot.bot_id

    @property
    def connected(self) -> bool:
        """Whether the app can be reached: a socket is open, or an HTTP target is set."""
        return self._sender is not None or self.hub.connected.is_set()

    @property
    def http_target(self) -> str | None:
        """Where events go by HTTP; None in Socket Mode."""
        return self._sender.target if self._sender else None

    def use_http(self, target: str | None) -> None:
        """Deliver to this address (None: by Socket Mode) from now on."""
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
        """Do the url_verification handshake with the HTTP target."""
        if self._sender is None:
            raise SlackRefused("no_http_target")
        return await self._sender.verify_url()

    async def wait_until(self, predicate: Callable[[], Found], timeout_s: float = 5.0) -> Found:
        """Wait until the predicate gives something true, and give that. Raises TimeoutError."""
        return await self.core.wait_until(predicate, timeout_s)

    async def wait_connected(self, timeout_s: float = 5.0) -> None:
        """Wait until the app has a socket open. Raises TimeoutError."""
        await self.core.wait_until(lambda: self.connected, timeout_s)

    async def idle(self, timeout_s: float = 5.0) -> None:
        """Wait until every event was acked or given up. Raises TimeoutError."""
        await self.core.idle(timeout_s)

    async def refresh_sockets(self) -> None:
        """Ask every socket to reconnect (`disconnect: refresh_requested`)."""
        await self.hub.refresh()

    async def close_sockets(self) -> None:
        """Cut every socket without a word."""
        await self.hub.close()

    async def post_sample(self, channel: str, name: str) -> JSON:
        """Post one of the sample alerts of the seeds by its file name without ending. Raises SlackRefused."""
        if name not in self.samples:
            raise SlackRefused("no_such_sample")
        return await self.post_alert(channel, self.samples[name])
