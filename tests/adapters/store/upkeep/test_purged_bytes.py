"""A purged text is in no byte of the database's files any more: not in free space, not in the log, not in the index."""

from __future__ import annotations

import asyncio
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from bot.adapters.store import Store, open_store
from bot.adapters.store.database.connection import BUSY_TIMEOUT_MS
from bot.domain.recall.query import OPERATOR, Query
from bot.ports.errors import StoreUnavailable
from bot.ports.posts import PostedBrief
from bot.ports.unit_of_work import Changes
from tests.contracts.corrections import MARK, MARKS, SECRET, filled
from tests.contracts.stores import INCIDENT
from tests.databases import fresh
from tests.fakes import FakeClock, FakeIds


async def opened(folder: Path) -> Store:
    return await open_store(fresh(folder / "purge.db"), FakeClock(), FakeIds())


def files_with(folder: Path, mark: str) -> list[str]:
    return sorted(p.name for p in folder.iterdir() if mark.encode() in p.read_bytes())


async def crowded(store: Store) -> None:
    """The incident among many others, edited some times, so that old versions lie in free space."""
    await filled(store)
    for number in range(5):
        await store.incidents.commit(Changes(records=(replace(SECRET, lesson=f"{MARK} {'x' * 300 * number}"),)))
    others = tuple(replace(INCIDENT, incident_id=f"O-{n}", lesson=f"word{n} " * 50) for n in range(200))
    await store.incidents.commit(Changes(records=others, recallable=frozenset(o.incident_id for o in others)))


async def purged(store: Store) -> None:
    assert await store.purging.purge("INC-7", MARKS, Changes())
    (quoting,) = await store.incidents.find_briefs_naming("INC-7")
    anew = replace(quoting.brief, sources=())
    await store.incidents.commit(Changes(briefs=(PostedBrief("INC-9", "C1", "20.1", quoting.delivery_id, anew),)))


async def test_no_byte_of_it_is_left_in_the_files(tmp_path: Path) -> None:
    store = await opened(tmp_path)
    await crowded(store)
    assert files_with(tmp_path, MARK)
    await purged(store)
    assert files_with(tmp_path, MARK), "deleted rows alone are still in the files: else this test shows nothing"
    await store.purging.compact()
    assert files_with(tmp_path, MARK) == []
    query = Query("word7 word7", service="payments-api", vendor="razorpay")
    found = [c.incident.incident_id for c in await store.index.find_candidates(query, OPERATOR)]
    assert "O-7" in found
    await store.close()
    assert files_with(tmp_path, MARK) == []


async def test_whoever_reads_an_older_state_is_waited_for_and_then_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await opened(tmp_path)
    await crowded(store)
    reader = sqlite3.connect(tmp_path / "purge.db", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM records").fetchone()
    await purged(store)
    monkeypatch.setattr("bot.adapters.store.database.connection.BUSY_TIMEOUT_MS", BUSY_TIMEOUT_MS / 100)
    with pytest.raises(StoreUnavailable, match="try again"):
        await store.purging.compact()
    monkeypatch.undo()
    again = asyncio.create_task(store.purging.compact())
    await asyncio.sleep(0.1)
    reader.execute("COMMIT")
    await again
    assert files_with(tmp_path, MARK) == []
    reader.close()
    await store.close()
