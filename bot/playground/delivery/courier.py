"""Deliver events and interactions to the app and read its acknowledgments, with retries and duplicates.

A transport makes one attempt. Like Slack, the courier retries an event up to three times and an interaction never.
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
    """One delivery attempt."""

    kind: str
    payload: JSON
    # counted from 0
    attempt: int = 0
    # why the previous attempt failed
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Ack:
    """The outcome of an attempt."""

    ok: bool
    # the response payload
    body: Any = None
    # why there was no acknowledgment
    reason: str = ""
    no_retry: bool = False


Transport = Callable[[Parcel], Awaitable[Ack]]


@dataclass(slots=True)
class Courier:
    """Deliver over the transport that is set."""

    knobs: Knobs
    traffic: Traffic
    now: Callable[[], float]
    changed: Callable[[], None]
    # the waits before the first, second and third retry
    retry_delays_s: tuple[float, ...] = (0.0, 0.0, 0.0)
    transport: Transport | None = None
    pending: set[asyncio.Task[Any]] = field(default_factory=set)

    def start(self, work: Coroutine[Any, Any, Any], name: str) -> None:
        """Run a coroutine in the background; it counts as pending until it is done."""
        task = spawn(work, name)
        self.pending.add(task)
        task.add_done_callback(self._forget_task)

    def _forget_task(self, task: asyncio.Task[Any]) -> None:
        self.pending.discard(task)
        self.changed()

    def post_event(self, payload: JSON) -> None:
        """Deliver an Events API payload in the background, as many times as the `duplicate` knob says."""
        for _ in range(self.knobs.duplicate):
            self.start(self.send(EVENT, payload), f"deliver {payload['event']['type']}")

    async def send(self, kind: str, payload: JSON) -> Ack:
        """Deliver and return the acknowledgment, or the failed one of the last attempt."""
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
        """Give up all deliveries in progress."""
        tasks = list(self.pending)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _read_name(parcel: Parcel) -> str:
    if parcel.kind == EVENT:
        return str(parcel.payload["event"]["type"])
    return str(parcel.payload.get("type") or parcel.payload.get("command"))
