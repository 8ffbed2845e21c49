"""Ways for a test or a person to make the local Slack misbehave."""

from __future__ import annotations

from typing import Any

from bot.playground.core import LocalSlackCore
from bot.playground.delivery.knobs import EVERY


class Faults:
    """Methods that set the knobs."""

    core: LocalSlackCore

    async def duplicate(self, times: int) -> None:
        """Deliver each event this many times from now on, with the same event id."""
        self.core.knobs.duplicate = times

    async def drop_acks(self, count: int) -> None:
        """Ignore the next acknowledgments, so that events are delivered again."""
        self.core.knobs.drop_acks = count

    async def hide_retries(self, *, hidden: bool = True) -> None:
        """Redeliver without the headers that mark a retry."""
        self.core.knobs.retry_headers = not hidden

    async def limit(self, count: int, method: str = EVERY, *, retry_after_s: int = 1) -> None:
        """Respond to the next calls (of a method, or `webhook`) with 429 and Retry-After."""
        self.core.knobs.limited[method] = count
        self.core.knobs.retry_after_s = retry_after_s

    async def limit_channels(self, *, on: bool = True) -> None:
        """Respond with 429 to a second post to the same channel within a second."""
        self.core.knobs.channel_rate_limit = on

    async def fail(self, error: str, method: str = EVERY, count: int = 1) -> None:
        """Respond to the next calls with this error code; `http_500` is sent as that status."""
        self.core.knobs.errors.setdefault(method, []).extend([error] * count)

    async def lose_answers(self, count: int, method: str = EVERY) -> None:
        """Carry out the next calls, but break the connection before the response."""
        self.core.knobs.lost[method] = count

    async def slow(self, seconds: float, method: str = EVERY) -> None:
        """Delay each call by this many seconds from now on."""
        self.core.knobs.slow_s[method] = seconds

    async def refuse_scope(self, scope: str, *, refused: bool = True) -> None:
        """Respond with missing_scope to calls that need this scope."""
        change = self.core.knobs.refused_scopes.add if refused else self.core.knobs.refused_scopes.discard
        change(scope)

    async def switch_socket_mode(self, *, on: bool) -> None:
        """Switch Socket Mode on or off, as on the app's page."""
        self.core.knobs.socket_mode_off = not on

    async def heal(self) -> None:
        """Switch all faults off."""
        self.core.knobs.heal()

    def calls(self, method: str) -> list[dict[str, Any]]:
        """Return the Web API calls of a method so far, oldest first: `args`, `status`, `response`."""
        return self.core.traffic.calls(method)

    def deliveries(self, name: str | None = None) -> list[dict[str, Any]]:
        """Return every delivery attempt so far: `name`, `payload`, `attempt`, `reason`."""
        return self.core.traffic.deliveries(name)

    def counters(self) -> dict[str, int]:
        """Return the numbers of calls, deliveries and acknowledgments by `kind:name`."""
        return dict(self.core.traffic.counts)
