"""What doctor finds of a real PostgreSQL (one that asks for a password) and a real Prometheus:
`python -m tests.doctor.provocations --real` prints it.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import shutil
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path

import aiohttp
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import create_async_engine

from bot.adapters.store import migrate
from tests.bootstrap.installation import CannotBeProvoked, Installation
from tests.doctor.provocations import Act, Provocation, setting
from tests.ports import free_port

PASSWORD = "hunter22-of-postgres"
READY_S = 20.0
# "test", as Prometheus wants it.
USERS = "basic_auth_users:\n  test: $2b$12$hNf2lSsxfm0.i4a.1kVpSOVyBCfIB51VRjgBUyv6kdnyTlgWj81Ay\n"


def _as_postgres(*command: object) -> None:
    words = [str(word) for word in command]
    user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    subprocess.run([*user, *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@lru_cache(maxsize=1)
def server() -> str:
    """The address of a PostgreSQL server that asks for a password, without the database; one for the whole process."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not found:
        raise CannotBeProvoked("PostgreSQL is not installed")
    folder, port = Path(tempfile.mkdtemp(prefix="doctor-pg-")), free_port()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "password").write_text(PASSWORD)
    data = folder / "data"
    data.mkdir()
    if os.geteuid() == 0:
        for path in (folder, data, folder / "password"):
            shutil.chown(path, "postgres")
    _as_postgres(
        found[-1] / "initdb", "-D", data, "-U", "precedent", "-A", "scram-sha-256", "--pwfile", folder / "password"
    )
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off"
    _as_postgres(found[-1] / "pg_ctl", "-D", data, "-l", folder / "log", "-w", "-o", options, "start")
    atexit.register(_as_postgres, found[-1] / "pg_ctl", "-D", data, "-m", "immediate", "stop")
    return f"postgresql+asyncpg://precedent:{PASSWORD}@127.0.0.1:{port}"


async def _empty(name: str) -> str:
    engine = create_async_engine(f"{server()}/postgres", isolation_level="AUTOCOMMIT")
    async with engine.connect() as connection:
        await connection.execute(sa.text(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)"))
        await connection.execute(sa.text(f"CREATE DATABASE {name}"))
    await engine.dispose()
    return f"{server()}/{name}"


async def on_postgres(at: Installation) -> None:
    at.given["database_url"] = await _empty("ours")
    await migrate(at.given["database_url"])


async def wrong_password(at: Installation) -> None:
    at.given["database_url"] = at.given["database_url"].replace(PASSWORD, "hunter22-mistyped")


async def other_database(at: Installation) -> None:
    at.given["database_url"] = f"{server()}/nowhere"


async def not_migrated(at: Installation) -> None:
    at.given["database_url"] = await _empty("ours_empty")


def revision(name: str) -> Act:
    async def act(at: Installation) -> None:
        engine = create_async_engine(at.given["database_url"])
        async with engine.begin() as connection:
            await connection.execute(sa.text("UPDATE alembic_version SET version_num = :name"), {"name": name})
        await engine.dispose()

    return act


async def read_only(at: Installation) -> None:
    engine = create_async_engine(f"{server()}/postgres", isolation_level="AUTOCOMMIT")
    async with engine.connect() as connection:
        await connection.execute(sa.text("ALTER DATABASE ours SET default_transaction_read_only = on"))
    await engine.dispose()


async def started(at: Installation, *more: str) -> str:
    """A Prometheus of the distribution; its address."""
    program = shutil.which("prometheus")
    if program is None:
        raise CannotBeProvoked("Prometheus is not installed")
    port = free_port()
    (at.folder / "prometheus.yml").write_text("scrape_configs: []\n")
    to_prometheus = (
        f"--config.file={at.folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={at.folder / f'prometheus-{port}'}",
        f"--web.listen-address=127.0.0.1:{port}",
        *more,
    )
    quiet = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(program, *to_prometheus, stdout=quiet, stderr=quiet)
    at.undo.push_async_callback(process.wait)
    at.undo.callback(process.terminate)
    await _ready(f"http://127.0.0.1:{port}/-/ready")
    return f"http://127.0.0.1:{port}"


async def _ready(url: str) -> None:
    async with aiohttp.ClientSession() as session:
        for _ in range(int(READY_S / 0.1)):
            try:
                async with session.get(url) as answer:
                    if answer.status in {200, 401}:
                        return
            except aiohttp.ClientError:
                pass
            await asyncio.sleep(0.1)
    raise TimeoutError(f"nothing is ready at {url}")


async def with_prometheus(at: Installation) -> None:
    at.text = f'[prometheus.main]\nurl = "{await started(at)}"\n'


async def wants_a_password(at: Installation) -> None:
    users = at.folder / "users.yml"
    users.write_text(USERS)
    at.text = f'[prometheus.main]\nurl = "{await started(at, f"--web.config.file={users}")}"\n'


async def below_a_path(at: Installation) -> None:
    at.text = at.text.replace('"\n', '/api/v1"\n')


P = Provocation
REAL: tuple[Provocation, ...] = (
    P("PostgreSQL: wrong password", ("Database",), "refuses this user or password", "Correct user and password", wrong_password, on_postgres),
    P("PostgreSQL: no such database", ("Database",), "does not exist", "createdb", other_database, on_postgres),
    P("PostgreSQL: no tables", ("Database",), "has no tables of Precedent yet", "precedent migrate", not_migrated, on_postgres),
    P("PostgreSQL: an older schema", ("Database",), "has the schema 0003", "precedent migrate", revision("0003"), on_postgres),
    P("PostgreSQL: a newer schema", ("Database",), "of a newer Precedent", "Install the newer version", revision("0999"), on_postgres),
    P("PostgreSQL: read-only", ("Database",), "ours: the database cannot be written", "default_transaction_read_only", read_only, on_postgres),
    P("a real Prometheus: wrong path", ("Metrics main",), "HTTP 404", "without /api/v1", below_a_path, with_prometheus),
    P("a real Prometheus: wants a password", ("Metrics main",), "HTTP 401", "password_env", wants_a_password, with_prometheus),
    P("a real PostgreSQL: another port", ("Database",), "cannot be reached", "Start PostgreSQL", setting(database_url="postgresql+asyncpg://precedent:hunter22@127.0.0.1:9/ours"), on_postgres),
)  # fmt: skip
