"""Socket Mode: envelopes go out over websockets and acknowledgments come in. Makes one attempt each; the courier
retries."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

from aiohttp import WSMsgType, web

from bot.playground.delivery.courier import EVENT, Ack, Parcel
from bot.playground.delivery.knobs import Knobs
from bot.playground.workspace.state import JSON

MAX_SOCKETS = 10


@dataclass(slots=True, eq=False)
class _Socket:
    ws: web.WebSocketResponse
    leaving: bool = False


@dataclass(slots=True)
class SocketHub:
    """The app's open websockets. Each envelope goes to one of them, in turn."""

    app_id: str
    knobs: Knobs
    ack_timeout_s: float = 3.0
    sockets: list[_Socket] = field(default_factory=list)
    tickets: set[str] = field(default_factory=set)
    waiting: dict[str, asyncio.Future[Any]] = field(default_factory=dict)
    connected: asyncio.Event = field(default_factory=asyncio.Event)
    serial: int = 0

    def new_ticket(self) -> str:
        """Return a ticket for one connection, as apps.connections.open does."""
        self.serial += 1
        ticket = f"ticket-{self.serial}"
        self.tickets.add(ticket)
        return ticket

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        """Serve one websocket from its hello to its end."""
        ticket = request.query.get("ticket", "")
        if ticket not in self.tickets:
            raise web.HTTPForbidden(text="invalid ticket")
        self.tickets.discard(ticket)
        ws = web.WebSocketResponse()
        await ws.prepare(request)
        if len(self.sockets) >= MAX_SOCKETS:
            await ws.send_json(self._disconnect("too_many_websockets"))
            await ws.close()
            return ws
        socket = _Socket(ws)
        self.sockets.append(socket)
        try:
            await ws.send_json(self._hello())
            self.connected.set()
            await self._read(ws)
        finally:
            self._forget(socket)
        return ws

    async def _read(self, ws: web.WebSocketResponse) -> None:
        async for frame in ws:
            if frame.type != WSMsgType.TEXT or not frame.data.startswith("{"):
                continue
            answer = json.loads(frame.data)
            future = self.waiting.pop(answer.get("envelope_id", ""), None)
            if future is not None and not future.done():
                future.set_result(answer.get("payload"))

    def _forget(self, socket: _Socket) -> None:
        self.sockets = [s for s in self.sockets if s is not socket]
        if not self._usable():
            self.connected.clear()

    def _usable(self) -> list[_Socket]:
        return [s for s in self.sockets if not s.leaving and not s.ws.closed]

    async def attempt(self, parcel: Parcel) -> Ack:
        """Send one envelope to one socket and wait for its acknowledgment; wait as long for a socket, too."""
        if self.knobs.socket_mode_off:
            return Ack(ok=False, reason="socket_mode_off", no_retry=True)
        try:
            async with asyncio.timeout(self.ack_timeout_s):
                await self.connected.wait()
                return await self._exchange(parcel)
        except TimeoutError:
            return Ack(ok=False, reason="timeout")
        except ConnectionError:
            return Ack(ok=False, reason="connection_failed")

    async def _exchange(self, parcel: Parcel) -> Ack:
        self.serial += 1
        usable = self._usable()
        if not usable:
            raise ConnectionResetError
        envelope_id = f"envelope-{self.serial}"
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.waiting[envelope_id] = future
        try:
            await usable[self.serial % len(usable)].ws.send_json(self._envelope(envelope_id, parcel))
            return Ack(ok=True, body=await future)
        finally:
            self.waiting.pop(envelope_id, None)

    def _envelope(self, envelope_id: str, parcel: Parcel) -> JSON:
        events = parcel.kind == EVENT
        envelope: JSON = {
            "envelope_id": envelope_id,
            "type": parcel.kind,
            "accepts_response_payload": not events,
            "payload": parcel.payload,
        }
        if events:
            told = self.knobs.retry_headers
            envelope["retry_attempt"] = parcel.attempt if told else 0
            envelope["retry_reason"] = parcel.reason if told else ""
        return envelope

    def _hello(self) -> JSON:
        return {
            "type": "hello",
            "num_connections": len(self.sockets),
            "debug_info": {"host": "local", "build_number": 1, "approximate_connection_time": 18060},
            "connection_info": {"app_id": self.app_id},
        }

    def _disconnect(self, reason: str) -> JSON:
        return {"type": "disconnect", "reason": reason, "debug_info": {"host": "local"}}

    async def refresh(self) -> None:
        """Ask every open socket to reconnect, as Slack does every few hours; they receive no further envelopes."""
        for socket in self._usable():
            socket.leaving = True
            await socket.ws.send_json(self._disconnect("refresh_requested"))
        self.connected.clear()

    async def close(self) -> None:
        """Close every websocket without notice."""
        for socket in list(self.sockets):
            await socket.ws.close()
