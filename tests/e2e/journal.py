"""A real journal behind a real systemd-journal-gatewayd on loopback; no systemd needs to run."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import aiohttp
import pytest

from tests.ports import free_port

FOLDER = Path("/usr/lib/systemd")
GATEWAY, REMOTE = FOLDER / "systemd-journal-gatewayd", FOLDER / "systemd-journal-remote"
READY_S = 20.0
# The gateway takes its listening socket as file 3, as systemd would hand it over.
EXEC = """
import os, socket, sys
listening = socket.socket(fileno=int(sys.argv[1]))
os.dup2(listening.fileno(), 3)
os.set_inheritable(3, True)
os.environ |= {"LISTEN_FDS": "1", "LISTEN_PID": str(os.getpid())}
os.execv(sys.argv[2], sys.argv[2:])
"""


@dataclass(frozen=True)
class Entry:
    """One entry: its time, fields, and its text as bytes."""

    at: datetime
    unit: str
    priority: int
    message: bytes

    def exported(self) -> bytes:
        """The journal export format; a text that is no plain line is written with its length."""
        stamp = f"__REALTIME_TIMESTAMP={int(self.at.timestamp() * 10**6)}\n__MONOTONIC_TIMESTAMP={int(self.at.timestamp() * 10**6)}\n"
        fields = f"_BOOT_ID={'ab' * 16}\n_SYSTEMD_UNIT={self.unit}\nPRIORITY={self.priority}\n"
        plain = self.message.isascii() and b"\n" not in self.message
        length = len(self.message).to_bytes(8, "little")
        text = b"MESSAGE=" + self.message if plain else b"MESSAGE\n" + length + self.message
        return stamp.encode() + fields.encode() + text + b"\n\n"


def require() -> None:
    """Skip where it is not installed; an error where it has to be."""
    if GATEWAY.exists() and REMOTE.exists():
        return
    if os.environ.get("REQUIRE_SERVICES") == "1":
        raise RuntimeError("not installed: apt install systemd-journal-remote")
    pytest.skip("not installed: systemd-journal-remote")


@asynccontextmanager
async def gateway(folder: Path, entries: Iterable[Entry]) -> AsyncIterator[str]:
    """The address of a gateway that serves these entries."""
    journals, exported = folder / "journal", folder / "in.export"
    journals.mkdir()
    exported.write_bytes(b"".join(entry.exported() for entry in entries))
    made = await asyncio.create_subprocess_exec(str(REMOTE), f"--output={journals}/x.journal", str(exported))
    assert await made.wait() == 0
    port = free_port()
    listening = socket.create_server(("127.0.0.1", port))
    handed = listening.fileno()
    os.set_inheritable(handed, True)
    command = (sys.executable, "-c", EXEC, str(handed), str(GATEWAY), "-D", str(journals))
    with (folder / "gateway.log").open("wb") as out:
        process = await asyncio.create_subprocess_exec(*command, pass_fds=(handed,), stdout=out, stderr=out)
    listening.close()
    try:
        await _answers(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        await asyncio.wait_for(process.wait(), READY_S)


async def _answers(port: int) -> None:
    async with aiohttp.ClientSession() as session:
        for _ in range(int(READY_S / 0.1)):
            with contextlib.suppress(aiohttp.ClientError):
                async with session.get(f"http://127.0.0.1:{port}/machine") as answer:
                    if answer.status:
                        return
            await asyncio.sleep(0.1)
    raise TimeoutError(f"no journal gateway answers on port {port}")
