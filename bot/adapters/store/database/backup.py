"""Backup and restore of a SQLite store, and the copy that is made before an upgrade.

Must not open the store as the bot does: a backup changes nothing, not even the schema, and a restore works where the
database is damaged.
"""

from __future__ import annotations

import asyncio
import fcntl
import glob
import os
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from bot.adapters.store.database.connection import refuse_network, translate_errors
from bot.adapters.store.database.copies import DatabaseCopy, check_copy, find_file, put_in_place, stage_copy
from bot.adapters.store.database.schema import HEAD, list_revisions
from bot.ports.errors import RecordRejected, StoreUnavailable

# Where SQLite's own locks lie in a database file: who has it open holds a shared one here.
SHARED_FIRST, SHARED_SIZE = 0x40000002, 510
LOGS = ("-wal", "-shm", "-journal")


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restore put in place."""

    held: DatabaseCopy
    kept: Path | None
    upgrades: bool


async def backup(url: str, file: Path, *, overwrite: bool = False) -> DatabaseCopy:
    """Copy the SQLite store of this address to `file` while it is used: everything acknowledged before is in it.

    Raises ConfigurationRejected for PostgreSQL, RecordRejected for a file that is there, StoreUnavailable.
    """
    return await asyncio.to_thread(_backup, find_file(url), file, overwrite=overwrite)


def _backup(source: Path, file: Path, *, overwrite: bool) -> DatabaseCopy:
    with translate_errors():
        if not overwrite and file.exists():
            raise RecordRejected("", f"{file} is there already; name another file, or say --force to replace it.")
        if file.exists() and source.exists() and file.samefile(source):
            raise RecordRejected("", f"{file} is the database itself; name another file.")
        with stage_copy(source, file) as (partial, held):
            put_in_place(partial, file)
        return held


async def restore(url: str, file: Path, now: datetime, *, replace: bool = False) -> Restored:
    """Put a backup in the place of the SQLite store of this address; with `replace` the one that is there is kept beside.

    Raises ConfigurationRejected for PostgreSQL, RecordRejected for a database that is there or a backup that is damaged or of
    a newer version, StoreUnavailable where a bot has the database open.
    """
    return await asyncio.to_thread(_restore, find_file(url), file, now, replace=replace)


def _restore(target: Path, file: Path, now: datetime, *, replace: bool) -> Restored:
    with translate_errors():
        refuse_network(target)
        _require_usable(file)
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        is_there = target.exists() and target.stat().st_size > 0
        if is_there:
            _require_free(target)
            _require_asked(target, asked=replace)
        with stage_copy(file, target, still=True) as (partial, held):
            kept = _keep_previous(target, now) if is_there else None
            put_in_place(partial, target)
        return Restored(held, kept, upgrades=held.schema != HEAD)


def _require_usable(file: Path) -> None:
    try:
        schema = check_copy(file).schema
    except StoreUnavailable as useless:
        raise RecordRejected("", str(useless)) from useless
    if schema not in list_revisions():
        raise RecordRejected(
            "FILE", f"{file} has the schema {schema} of a newer Precedent: install that version first."
        )


def _require_free(target: Path) -> None:
    """Raise StoreUnavailable where another process has the database open."""
    with target.open("r+b") as opened:
        try:
            fcntl.lockf(opened, fcntl.LOCK_EX | fcntl.LOCK_NB, SHARED_SIZE, SHARED_FIRST)
        except OSError as taken:
            raise StoreUnavailable(
                f"{target} is in use: stop the bot, and whatever else has it open, then try again. Nothing was changed."
            ) from taken


def _require_asked(target: Path, *, asked: bool) -> None:
    if asked:
        return
    held = "damaged or not Precedent's"
    with suppress(StoreUnavailable):
        held = f"with {check_copy(target).records} incidents"
    raise RecordRejected("", f"{target} is there already ({held}); say --force to replace it: it will be kept beside.")


def _keep_previous(target: Path, now: datetime) -> Path:
    """Give the database that is there, with its logs, a second name; the first stays until it is replaced."""
    kept = target.with_name(f"{target.name}.before-restore-{now:%Y%m%dT%H%M%SZ}")
    os.link(target, kept)
    for log in LOGS:
        with suppress(FileNotFoundError):
            target.with_name(target.name + log).rename(kept.with_name(kept.name + log))
    return kept


async def keep_before_upgrade(database: Path, schema: str) -> Path | None:
    """Copy a database of this schema to `<file>.before-<new revision>` and return that path, None where another process
    was faster."""
    return await asyncio.to_thread(_keep_before_upgrade, database, schema)


def _keep_before_upgrade(database: Path, schema: str) -> Path | None:
    kept = database.with_name(f"{database.name}.before-{HEAD}")
    with translate_errors(), stage_copy(database, kept) as (partial, held):
        if held.schema != schema:
            return None
        put_in_place(partial, kept)
    return kept


def delete_earlier_copies(database: Path, kept: Path) -> None:
    """Delete the copies of earlier upgrades: one is enough, and they hold what was purged since."""
    for copy in database.parent.glob(f"{glob.escape(database.name)}.before-[0-9][0-9][0-9][0-9]"):
        if copy != kept:
            copy.unlink(missing_ok=True)
