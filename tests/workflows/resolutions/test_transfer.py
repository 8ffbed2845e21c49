from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.store import Store, open_store
from bot.domain.recall.query import OPERATOR, Query
from bot.ports.delivery.outbox import Destination
from bot.ports.unit_of_work import Changes
from bot.workflows.resolutions.transfer import ExportRecords, ImportProgress, ImportRecords, RefusedLine
from tests.databases import fresh
from tests.fakes import FakeClock, FakeIds
from tests.workflows.world import fed


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await open_store(fresh(tmp_path / "test.db"), FakeClock(), FakeIds())
    yield store
    await store.close()


def line(number: int, **other: Any) -> str:
    return json.dumps({"incident_id": f"X-{number:05}", "title": f"Problem {number}"} | other)


async def imported(store: Store, lines: list[str], *, feeds_bank: bool = False) -> ImportProgress:
    done = ImportProgress()
    async for _ in ImportRecords(fed(store.incidents) if feeds_bank else store.incidents)("f.jsonl", lines, done):
        pass
    return done


async def test_good_lines_go_in_and_bad_ones_are_told_with_line_field_and_reason(store: Store) -> None:
    lines = [
        line(1),
        "",
        "{broken",
        "[1]",
        '{"title": "no id"}',
        line(2, attempts=[{"fix": "x", "status": "MAYBE"}]),
        line(3),
    ]
    done = await imported(store, [*lines, "[" * 100_000])
    assert (done.added, done.replaced, done.unchanged, done.read) == (2, 0, 0, 7)
    assert [(r.line, r.field) for r in done.refused] == [
        (3, ""),
        (4, ""),
        (5, "incident_id"),
        (6, "attempts[0].status"),
        (8, ""),
    ]
    assert done.refused[0] == RefusedLine(
        "f.jsonl", 3, "", "is not JSON: Expecting property name enclosed in double quotes at column 2"
    )
    assert "one of 'VERIFIED'" in done.refused[3].reason
    assert len(await store.index.find_candidates(Query("problem"), OPERATOR)) == 2


async def test_the_same_file_twice_changes_nothing(store: Store) -> None:
    lines = [line(n) for n in range(3)]
    await imported(store, lines)
    done = await imported(store, lines)
    assert (done.added, done.replaced, done.unchanged) == (0, 0, 3)


async def test_the_same_id_with_other_content_replaces(store: Store) -> None:
    await imported(store, [line(1), line(1, root_cause="a"), line(1, root_cause="b")])
    record = await store.incidents.read_record("X-00001")
    assert record.root_cause == "b"
    done = await imported(store, [line(1, root_cause="b"), line(1, root_cause="c")])
    assert (done.added, done.replaced, done.unchanged) == (0, 1, 1)


async def test_what_was_taken_out_here_comes_back_only_where_that_is_said(store: Store) -> None:
    lines = [line(1), line(2)]
    await imported(store, lines)
    await store.incidents.commit(Changes(retracted=("X-00001",)))
    done = await imported(store, lines)
    assert (done.added, done.unchanged, done.forgotten, done.read) == (0, 1, ["X-00001"], 2)
    assert [r.incident_id for r in await store.incidents.list_records(OPERATOR)] == ["X-00002"]
    done = ImportProgress()
    async for _ in ImportRecords(store.incidents, again=True)("f.jsonl", lines, done):
        pass
    assert (done.added, done.forgotten) == (1, [])


async def test_many_records_take_few_transactions(store: Store) -> None:
    lines = [line(n) for n in range(1200)]
    shown = [so_far.read async for so_far in ImportRecords(store.incidents)("f", lines, ImportProgress())]
    assert shown == [500, 1000, 1200]
    assert await store.index.count_records(OPERATOR) == 1200


async def test_a_bank_is_owed_what_changed(store: Store) -> None:
    await imported(store, [line(1), line(2)], feeds_bank=True)
    await imported(store, [line(1), line(2, lesson="look")], feeds_bank=True)
    rows = await store.outbox.claim(Destination.BANK, 9)
    assert [row.entry.payload["incident_id"] for row in rows] == ["X-00001", "X-00002"]


async def test_export_gives_back_what_import_took(store: Store, tmp_path: Path) -> None:
    note = json.dumps({"error": "disk full", "fix": "rotate logs", "result": "success"})
    await imported(store, [line(1, symptoms=["東京 504"]), note])
    exported = [text async for text in ExportRecords(store.incidents)()]
    assert "東京" in exported[1]
    other = await open_store(fresh(tmp_path / "other.db"), FakeClock(), FakeIds())
    done = await imported(other, exported)
    assert done.added == 2
    assert await other.incidents.list_records(OPERATOR) == await store.incidents.list_records(OPERATOR)
    await other.close()
