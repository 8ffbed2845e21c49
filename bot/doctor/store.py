"""Check the database: it exists, is ours, has this version's schema, accepts a write, and is readable by nobody else;
and report what waits in it. Nothing is created, migrated or repaired."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import stat
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from functools import lru_cache
from pathlib import Path

from bot.adapters.store.database.schema import HEAD
from bot.adapters.store.upkeep.health import ROOM_BYTES
from bot.adapters.store.upkeep.inspect import (
    StoreAddress,
    StoreParts,
    describe_place,
    inspect_revision,
    open_parts,
    read_address,
)
from bot.bootstrap.modes.seeds import SEEDS
from bot.bootstrap.system import RandomIds
from bot.doctor.finding import Finding
from bot.doctor.machine import read_user_name
from bot.domain.operations.dependency import format_duration
from bot.domain.recall.query import OPERATOR
from bot.ports.clock import Clock
from bot.ports.errors import PrecedentError, StoreUnavailable
from bot.settings import Settings
from bot.workflows.operations.status import LAST_ALERTS_DAYS, format_inbox, format_outbox

PROCESSES = Path("/proc")
# What the store says, and exactly what to do. The first that matches counts.
FIXES = (
    (
        "disk of the database reports an error",
        "Look at the system's log (`dmesg`), mend or replace the disk, then restore a backup.",
    ),
    ("is full", "Free space there: old `*.before-*` copies and backups first. Nothing acknowledged is lost."),
    (
        "cannot be written",
        "Give the bot's user the right to write there. PostgreSQL: name the primary in DATABASE_URL, no replica, and see that"
        " `SHOW default_transaction_read_only` says off.",
    ),
    ("user or password", "Correct user and password in DATABASE_URL: postgresql+asyncpg://USER:PASSWORD@HOST/NAME."),
    ("does not exist", "`createdb NAME` on the server as its owner, or correct the name in DATABASE_URL."),
    ("server cannot be reached", "Start PostgreSQL, or correct host and port in DATABASE_URL."),
    ("is damaged", "Stop the bot, then `precedent restore FILE --force` with the newest backup."),
    (
        "not a Precedent database",
        "Name another file in DATABASE_URL, or `precedent restore FILE --force` with a backup.",
    ),
    ("another program holds", "Stop what holds it (`fuser -v FILE`); the bot is the only one that may keep it open."),
    ("belongs to another program", "Set DATABASE_URL to a file of Precedent's own."),
    ("network file system", "Set DATABASE_URL to a file on a local disk, or to PostgreSQL."),
    ("part of the database's path", "Correct the path in DATABASE_URL: sqlite+aiosqlite:////FOLDER/precedent.db."),
    ("it is a directory", "Add the file's name to DATABASE_URL: sqlite+aiosqlite:////FOLDER/precedent.db."),
)
ELSE = "Correct DATABASE_URL: sqlite+aiosqlite:////FOLDER/precedent.db or postgresql+asyncpg://USER:PASSWORD@HOST/NAME."
_NUMBER = re.compile(r"^INC-(\d+)$")


async def check_database(settings: Settings, clock: Clock) -> tuple[tuple[Finding, ...], StoreAddress | None]:
    """Return the findings, and the address of the store if it can be read further."""
    try:
        at = read_address(settings.store_url)
        stop = _find_file_problem(at.file) if at.file else None
        if stop:
            return (stop,), None
        found, relation = await inspect_revision(at)
    except StoreUnavailable as problem:
        return (
            Finding("Database", False, _shorten(str(problem), settings.store_url), _suggest_fix(str(problem))),
        ), None
    if relation != "current":
        return (*_check_mode(at.file), _check_schema(at, found, relation)), None
    async with open_parts(at, clock, RandomIds()) as store:
        return (*_check_mode(at.file), *await _check_contents(store, at, clock)), at


def _shorten(problem: str, url: str) -> str:
    """Shorten an error to what is wrong and where: the suggested fix says what to do about it."""
    said = (
        problem.removeprefix("Nothing was saved or read: ")
        .partition("; ")[0]
        .partition(": name another")[0]
        .rstrip(".")
    )
    where = describe_place(url)
    return said if where is None or where in said else f"{where}: {said}"


def _suggest_fix(problem: str) -> str:
    return next((fix for sign, fix in FIXES if sign in problem), ELSE)


def _find_file_problem(path: Path) -> Finding | None:
    """Return why this user cannot use an SQLite file, as far as the system shows, or that the file does not exist yet."""
    who = read_user_name()
    with suppress(OSError):
        if path.is_file():
            if not os.access(path, os.R_OK | os.W_OK, effective_ids=True):
                said = f"{path} cannot be read and written by {who} (it belongs to {path.owner()})"
                return Finding("Database", False, said, _format_command(path))
            if not _is_writable(path.parent):
                said = f"{who} cannot write in {path.parent}, where the database keeps its log beside it"
                return Finding("Database", False, said, _format_command(path.parent))
            return _check_free_space(path)
        if path.is_dir():
            return Finding("Database", False, f"{path} is a directory", _suggest_fix("it is a directory"))
        return _build_missing_file(path, who)
    return Finding("Database", False, f"{path} cannot be looked at by {who}", _format_command(path.parent))


def _check_free_space(path: Path) -> Finding | None:
    """Check the free space: on a full disk SQLite cannot even be queried."""
    free = shutil.disk_usage(path.parent).free
    if free >= ROOM_BYTES:
        return None
    return Finding("Database", False, f"{path}: the disk is full, {free // 1024} kB are free", _suggest_fix("is full"))


def _format_command(path: Path) -> str:
    target = f"-R {read_user_name()} {path}" if path.is_dir() else f"{read_user_name()} {path}*"
    return f"Run this as the user that the bot runs as. If {read_user_name()} is that user: sudo chown {target}"


def _build_missing_file(path: Path, who: str) -> Finding:
    near = path.parent
    while not near.exists():
        near = near.parent
    if not near.is_dir():
        return Finding(
            "Database",
            False,
            f"{near}, a part of the path of {path}, is a file",
            _suggest_fix("part of the database's path"),
        )
    if not _is_writable(near):
        fix = f"sudo install -d -m 700 -o {who} {path.parent}, or name a file elsewhere in DATABASE_URL."
        return Finding("Database", False, f"{path} is not there, and {who} cannot write in {near}", fix)
    return Finding("Database", None, f"{path} is not there yet: the first start makes it, empty")


def _is_writable(folder: Path) -> bool:
    """Return whether a file can be created there, by creating an unnamed one that is gone at once."""
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600))
    except OSError as problem:
        unknown = isinstance(problem, IsADirectoryError) or problem.errno == errno.EOPNOTSUPP
        return (
            unknown and not str(folder).startswith(("/proc", "/sys")) and os.access(folder, os.W_OK, effective_ids=True)
        )
    return True


def _check_mode(path: Path | None) -> tuple[Finding, ...]:
    """Check that an SQLite file is readable by its owner only."""
    if path is None:
        return ()
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        said = f"{path} can be read by other users of this machine (mode {mode:o})"
        return (Finding("Database file", False, said, f"chmod 600 {path}*"),)
    return (Finding("Database file", True, f"{path}, readable by its owner only"),)


def _check_schema(at: StoreAddress, found: str | None, relation: str) -> Finding:
    where = str(at.file) if at.file else at.server
    if relation == "newer":
        said = f"{where} has the schema {found} of a newer Precedent; this one knows up to {HEAD}, and does not start"
        back = "`precedent restore FILE --force`" if at.file else "`pg_restore` (docs/operating.md)"
        fix = f"Install the newer version again; or {back} with a copy from before the upgrade."
        return Finding("Database", False, said, fix)
    if relation == "empty" and at.file:
        return Finding("Database", None, f"{where} is empty: the first start makes its tables")
    if relation == "empty":
        return Finding(
            "Database", False, f"{where} has no tables of Precedent yet", "Run `precedent migrate`, then start the bot."
        )
    said = f"{where} has the schema {found}, and this version needs {HEAD}"
    also = ": it keeps a copy of the file first; the start of `serve` does the same" if at.file else ""
    return Finding("Database", False, said, f"Stop the bot, then run `precedent migrate`{also}.")


async def _check_contents(store: StoreParts, at: StoreAddress, clock: Clock) -> tuple[Finding, ...]:
    status = await store.health.read_status()
    if not status.writable:
        problem = status.problem or "not writable"
        return (Finding("Database", False, _shorten(problem, str(at.url)), _suggest_fix(problem)),)
    kind = "SQLite" if at.file else f"PostgreSQL {at.server}"
    try:
        return (
            Finding("Database", True, f"{kind}, writable, schema {status.schema}, {status.records} incidents"),
            *(check_second_bot(at.file) if at.file else ()),
            *await _check_seeds(store),
            *await _check_outbox(store, clock),
            await _check_last_alert(store, clock),
        )
    except PrecedentError as problem:
        return (Finding("Database", False, _shorten(str(problem), str(at.url)), _suggest_fix(str(problem))),)


def check_second_bot(path: Path, processes: Path = PROCESSES) -> tuple[Finding, ...]:
    """Check that no two `serve` processes of this machine have the file open, as far as this user can see processes."""
    place = path.resolve()
    held = sorted(
        pid for folder in processes.glob("[0-9]*") if (pid := _find_serving_process(folder, place)) is not None
    )
    if len(held) < 2:
        return ()
    said = f"{len(held)} bots work on {path} (processes {', '.join(map(str, held))}): on SQLite there can be one"
    return (
        Finding(
            "Database", False, said, f"End all but one: stop its service, or kill {held[-1]}. For several: PostgreSQL."
        ),
    )


def _find_serving_process(folder: Path, path: Path) -> int | None:
    try:
        words = (folder / "cmdline").read_bytes().split(b"\0")
        if b"serve" not in words:
            return None
        is_open = any(fd.readlink() == path for fd in (folder / "fd").iterdir())
    except OSError:
        return None
    return int(folder.name) if is_open else None


async def _check_seeds(store: StoreParts) -> tuple[Finding, ...]:
    """Check that the demo's invented incidents are not in a memory that people rely on."""
    seeds = _read_seed_names()
    kept = await store.incidents.find_records(tuple(seeds))
    found = [name for name, record in kept.items() if (record.title, record.service) == seeds[name]]
    if not found:
        return ()
    said = f"{len(found)} of the demo's invented incidents are in this memory: people get advice from outages that never were"
    return (Finding("Seeds", False, said, _format_purge_command(found)),)


@lru_cache(maxsize=1)
def _read_seed_names() -> dict[str, tuple[str, str | None]]:
    """Return title and service of each incident of the demo by id; none if the package carries no seeds."""
    path = SEEDS / "incidents.jsonl"
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines()) if path.is_file() else ()
    return {row["incident_id"]: (row["title"], row.get("service")) for row in rows}


def _format_purge_command(names: Sequence[str]) -> str:
    """Return the shell command that removes these records."""
    numbers = sorted(int(found[1]) for name in names if (found := _NUMBER.match(name)))
    listed = " ".join(f"INC-{number}" for number in numbers)
    if len(numbers) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        listed = f"$(seq -f INC-%.0f {numbers[0]} {numbers[-1]})"
    return f'for i in {listed}; do precedent purge $i --reason "demo data"; done'


async def _check_outbox(store: StoreParts, clock: Clock) -> tuple[Finding, ...]:
    """Check what waits to be delivered or worked on."""
    counts = await store.outbox.count_rows()
    owed = format_outbox(counts, await store.outbox.find_oldest_pending(), clock.now())
    events = format_inbox(await store.inbox_admin.count_rows())
    dead = any(state.endswith(".dead") and rows for state, rows in counts.items())
    look = "`precedent outbox list --state dead` says why; then `precedent outbox replay --all-dead`, or `precedent outbox drop` with its numbers."
    stuck = (
        "See that `precedent serve` runs and Slack is connected; `precedent outbox list` shows each row and its error."
    )
    again = "`precedent inbox list` says why; then `precedent inbox replay --all-dead`."
    return (
        Finding(owed.name, owed.ok, owed.detail, "" if owed.ok else look if dead else stuck),
        Finding(events.name, events.ok, events.detail, "" if events.ok else again),
    )


async def _check_last_alert(store: StoreParts, clock: Clock) -> Finding:
    """Report when the last alert was seen."""
    now = clock.now()
    seen = await store.brief_timings.list_last_alerts(OPERATOR, now - timedelta(days=LAST_ALERTS_DAYS), 1)
    if not seen:
        return Finding("Last alert", None, f"none in {LAST_ALERTS_DAYS} days")
    channel, at = seen[0]
    return Finding("Last alert", True, f"{format_duration((now - at).total_seconds())} ago in {channel}")
