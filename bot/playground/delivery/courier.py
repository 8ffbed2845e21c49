"""Brings events and interactions to the app and reads its acks: retries, duplicates. Must not know what they say.

A transport makes one attempt. Events are tried again up to three times, as Slack does; interactions never.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from bot.observability import spawn
from bot.playground.delivery.knobs import Knobs, Traffic
from bot.playground.workspace.state import JSON

EVENT = "events_api"
INTERACTIVE = "interactive"
SLASH = "slash_commands"


@dataclass(frozen=True, slots=True)
class Parcel:
    """One attempt to deliver: `attempt` counts from 0, `reason` says why the last one failed."""

    kind: str
    payload: JSON
    attempt: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Ack:
    """What came back: `body` is the response payload; `reason` says why there was no ack."""

    ok: bool
    body: Any = None
    reason: str = ""
    no_retry: bool = False


Transport = Callable[[Parcel], Awaitable[Ack]]


@dataclass(slots=True)
class Courier:
    """Delivers over the transport that is set. `retry_delays_s` are the waits before the first, second, third retry."""

    knobs: Knobs
    traffic: Traffic
    now: Callable[[], float]
    changed: Callable[[], None]
    retry_delays_s: tuple[float, ...] = (0.0, 0.0, 0.0)
    transport: Transport | None = None
    pending: set[asyncio.Task[Any]] = field(default_factory=set)

    def start(self, work: Coroutine[Any, Any, Any], name: str) -> None:
        """Run in the background and count it as pending until it is done."""
        task = spawn(work, name)
        self.pending.add(task)
        task.add_done_callback(self._forget_task)

    def _forget_task(self, task: asyncio.Task[Any]) -> None:
        self.pending.discard(task)
        self.changed()

    def post_event(self, payload: JSON) -> None:
        """Deliver an Events API payload in the background, as often as the `duplicate` knob says."""
        for _ in range(self.knobs.duplicate):
            self.start(self.send(EVENT, payload), f"deliver {payload['event']['type']}")

    async def send(self, kind: str, payload: JSON) -> Ack:
        """Deliver and wait for the ack; after the last attempt the failed one."""
        ack = await self._attempt(Parcel(kind, payload))
        delays = self.retry_delays_s if kind == EVENT else ()
        for number, delay_s in enumerate(delays, start=1):
            if ack.ok or ack.no_retry:
                break
            await asyncio.sleep(delay_s)
            ack = await self._attempt(Parcel(kind, payload, number, ack.reason))
        return ack

    async def _attempt(self, parcel: Parcel) -> Ack:
        name = _read_name(parcel)
        facts: JSON = {"payload": parcel.payload, "attempt": parcel.attempt, "reason": parcel.reason}
        self.traffic.note(self.now(), "deliver", name, channel=parcel.kind, **facts)
        ack = await self.transport(parcel) if self.transport else Ack(ok=False, reason="no_transport", no_retry=True)
        if ack.ok and self.knobs.take_drop():
            ack = Ack(ok=False, reason="timeout")
        self.traffic.note(self.now(), "ack" if ack.ok else "no_ack", name, body=ack.body, reason=ack.reason)
        self.changed()
        return ack

    async def stop(self) -> None:
        """Give up whatever is still under way."""
        tasks = list(self.pending)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _read_name(parcel: Parcel) -> str:
    if parcel.kind == EVENT:
        return str(parcel.payload["event"]["type"])
    return str(parcel.payload.get("type") or parcel.payload.get("command"))
