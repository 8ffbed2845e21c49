"""Starts, kills and stops a real Hindsight server: its PostgreSQL, the model stubs, and the API, on free loopback ports.

A `Server` is described by a JSON file, so that a test in another process can kill the API or stop the database, and
start them again at the same address.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.ports import free_port

STARTS_WITHIN_S = 120.0
# What this process started: kept, for a process object that is dropped while its process lives is a warning.
STARTED: list[subprocess.Popen[bytes]] = []
USERS = ("postgres", "nobody")


@dataclass
class Server:
    """`work` is a folder of its own; `venv` holds the server. The pids are those of the latest start."""

    venv: str
    work: str
    postgres_port: int
    stub_port: int
    api_port: int
    api_pid: int = 0
    stub_pid: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.api_port}"

    @property
    def state(self) -> Path:
        return Path(self.work) / "server.json"

    def save(self) -> None:
        self.state.write_text(json.dumps(asdict(self)), encoding="utf-8")

    def start(self) -> None:
        folder = Path(self.work)
        folder.chmod(0o755)
        (folder / "pg").mkdir()
        if user := unprivileged():
            shutil.chown(folder / "pg", user)
        # PostgreSQL's user may not be able to read the folder that the virtual environment is in.
        found = next(Path(self.venv).glob("lib/python*/site-packages/pg0/bin/pg0"))
        shutil.copy(found, folder / "pg0")
        (folder / "pg0").chmod(0o755)
        self.start_postgres()
        self.stub_pid = self._spawn([sys.executable, "-m", "tests.hindsight.stubs", str(self.stub_port)], {}, "stub")
        self.start_api()

    def start_postgres(self) -> None:
        durable = ["-c", "fsync=off", "-c", "synchronous_commit=off"]
        named = ["--name", "hs", "--port", str(self.postgres_port), "-u", "hs", "-P", "hs", "-n", "hs"]
        self._pg0("start", *named, *durable)

    def stop_postgres(self) -> None:
        self._pg0("stop", "--name", "hs")

    def start_api(self) -> None:
        stub = f"http://127.0.0.1:{self.stub_port}/v1"
        settings = {
            "HOST": "127.0.0.1",
            "PORT": str(self.api_port),
            "DATABASE_URL": f"postgresql://hs:hs@127.0.0.1:{self.postgres_port}/hs",
            "LLM_PROVIDER": "openai",
            "LLM_API_KEY": "x",
            "LLM_MODEL": "stub",
            "LLM_BASE_URL": stub,
            "SKIP_LLM_VERIFICATION": "true",
            "EMBEDDINGS_PROVIDER": "openai",
            "EMBEDDINGS_OPENAI_API_KEY": "x",
            "EMBEDDINGS_OPENAI_MODEL": "stub",
            "EMBEDDINGS_OPENAI_BASE_URL": stub,
            "RERANKER_PROVIDER": "rrf",
            "MCP_ENABLED": "false",
            "WORKER_ID": "tests",
        }
        env = {f"HINDSIGHT_API_{name}": value for name, value in settings.items()} | {"HF_HUB_OFFLINE": "1"}
        self.api_pid = self._spawn([f"{self.venv}/bin/hindsight-api"], env, "api")
        self.save()
        self.wait_until_healthy()

    def wait_until_healthy(self) -> None:
        until = time.monotonic() + STARTS_WITHIN_S
        while not self.healthy():
            if time.monotonic() > until:
                log = (Path(self.work) / "api.log").read_text(encoding="utf-8", errors="replace")
                raise RuntimeError(f"Hindsight did not become healthy:\n{log[-3000:]}")
            time.sleep(0.2)

    def healthy(self) -> bool:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(f"{self.url}/health", timeout=5) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def kill_api(self) -> None:
        """As a crash does it: at once, whatever is under way."""
        _end(self.api_pid, signal.SIGKILL)

    def stop(self) -> None:
        for pid in (self.api_pid, self.stub_pid):
            _end(pid, signal.SIGKILL)
        self.stop_postgres()

    def _pg0(self, *arguments: str) -> None:
        folder = Path(self.work)
        command = ["env", f"HOME={folder / 'pg'}", str(folder / "pg0"), *arguments]
        if user := unprivileged():
            command = ["runuser", "-u", user, "--", *command]
        # PostgreSQL keeps what it inherits: with pipes this would never return.
        with (folder / "pg.log").open("ab") as log:
            subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=True, cwd="/", timeout=120)

    def _spawn(self, command: list[str], env: dict[str, str], name: str) -> int:
        kept = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy") and k != "PYTEST_ADDOPTS"}
        with (Path(self.work) / f"{name}.log").open("ab") as log:
            started = subprocess.Popen(
                command, env=kept | env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        STARTED.append(started)
        return started.pid


def described(path: str) -> Server:
    return Server(**json.loads(Path(path).read_text(encoding="utf-8")))


def new(venv: str, work: str) -> Server:
    return Server(venv, work, free_port(), free_port(), free_port())


def unprivileged() -> str | None:
    """PostgreSQL refuses to run as root; whom to run it as then."""
    if os.getuid() != 0:
        return None
    known = Path("/etc/passwd").read_text(encoding="utf-8").splitlines()
    return next(user for user in USERS if any(line.startswith(f"{user}:") for line in known))


def _end(pid: int, by: signal.Signals) -> None:
    """Kill it and wait until it is dead; if another process started it, that one collects it."""
    if not pid:
        return
    mine = [started for started in STARTED if started.pid == pid]
    if mine and mine[0].poll() is not None:
        return
    try:
        os.kill(pid, by)
    except ProcessLookupError:
        return
    if mine:
        mine[0].wait(30)
    else:
        _wait_dead(pid)


def _wait_dead(pid: int) -> None:
    for _ in range(200):
        try:
            stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
        except OSError:
            return
        if stat.rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.05)
