from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.adapters.store import Store, open_store
from bot.adapters.store.database.connection import connect, read_url
from bot.adapters.store.index import reading, search
from bot.adapters.store.index.bank_index import SqlRecordIndex
from bot.adapters.store.index.follower import IndexFollower
from bot.adapters.store.index.scoring import (
    IndexedDocument,
    SearchableCollection,
    format_word_counts,
    score_documents,
    score_rarity,
)
from bot.domain.access.visibility import Viewer
from bot.domain.incidents.record import Incident, Source
from bot.domain.recall.query import OPERATOR, Query
from bot.ports.unit_of_work import Changes
from tests.databases import fresh
from tests.fakes import FakeClock, FakeIds

PUBLIC = Viewer()


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await open_store(fresh(tmp_path / "test.db"), FakeClock(), FakeIds())
    yield store
    await store.close()


async def keep(store: Store, *records: Incident) -> None:
    await store.incidents.commit(Changes(records=records, recallable=frozenset(r.incident_id for r in records)))


async def found(store: Store | SqlRecordIndex, text: str, viewer: Viewer = PUBLIC, limit: int = 50) -> list[str]:
    searched = store.index if isinstance(store, Store) else store
    return [c.incident.incident_id for c in await searched.find_candidates(Query(text), viewer, limit)]


def incident(number: int, title: str, **other: object) -> Incident:
    return replace(Incident(f"INC-{number}", title), **other)  # type: ignore[arg-type]  # a test's shorthand


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("KubePodCrashLooping", "INC-1"),
        ("pods crashed in a loop", "INC-1"),
        ("kubePodCrashloop", "INC-1"),
        ("決済タイムアウト", "INC-2"),
        ("支付网关超时", "INC-3"),
        ("भुगतान सेवा", "INC-4"),
        ("http_requests_5xx", "INC-5"),
    ],
)
async def test_names_parts_and_other_scripts_are_found(store: Store, asked: str, expected: str) -> None:
    await keep(
        store,
        incident(1, "KubePodCrashLooping"),
        incident(2, "決済サービスがタイムアウトする"),
        incident(3, "支付网关响应超时"),
        incident(4, "भुगतान सेवा धीमी है"),
        incident(5, "http_requests_5xx_total too high"),
        incident(6, "Disk full"),
    )
    assert (await found(store, asked))[0] == expected


async def test_symptoms_and_cause_are_searched_and_fixes_are_not(store: Store) -> None:
    await keep(
        store, incident(1, "A", root_cause="certificate expired", lesson="watch expiry", customer_impact="logins")
    )
    assert await found(store, "certificate") == await found(store, "logins") == ["INC-1"]


async def test_a_word_that_the_question_repeats_weighs_more(store: Store) -> None:
    await keep(
        store, incident(1, "kafka lag"), incident(2, "redis memory"), *(incident(n, "other") for n in range(3, 9))
    )
    assert (await found(store, "redis redis kafka"))[0] == "INC-2"
    assert (await found(store, "redis kafka kafka"))[0] == "INC-1"


async def test_equal_records_score_equally_and_the_order_is_stable(store: Store) -> None:
    await keep(store, *(incident(n, "Gateway timeouts") for n in (3, 1, 2)))
    candidates = await store.index.find_candidates(Query("gateway timeouts"), PUBLIC)
    assert [c.incident.incident_id for c in candidates] == ["INC-1", "INC-2", "INC-3"]
    assert len({c.score for c in candidates}) == 1
    assert await found(store, "gateway timeouts", limit=2) == ["INC-1", "INC-2"]


async def test_what_moved_to_a_private_channel_leaves_no_trace(store: Store) -> None:
    await keep(store, incident(1, "Gateway"), incident(2, "Disk"))
    before = await store.index.find_candidates(Query("disk gateway"), PUBLIC)
    await keep(store, incident(1, "Gateway", source=Source(visibility="private:G1")))
    await keep(store, incident(1, "Gateway"))
    assert await store.index.find_candidates(Query("disk gateway"), PUBLIC) == before


async def test_scored_gives_what_was_asked_even_without_a_shared_word(store: Store) -> None:
    await keep(store, incident(1, "Gateway"), incident(2, "Disk full"))
    (candidate,) = await store.index.score_records(Query("gateway"), PUBLIC, ("INC-2", "unknown"))
    assert (candidate.incident.incident_id, candidate.score.bm25_share) == ("INC-2", 0.0)
    both = await store.index.score_records(Query("gateway"), PUBLIC, ("INC-2", "INC-1"))
    assert both[1] == (await store.index.find_candidates(Query("gateway"), PUBLIC))[0]


async def test_a_large_store_is_searched_by_its_rarest_words(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    small = replace(reading.BY_WORDS, full_below=10, base=3, share=0.01)
    monkeypatch.setattr(search, "BY_WORDS", small)
    common = [incident(n, f"Error in service number{n}") for n in range(100)]
    await keep(store, *common, incident(200, "Error in service zookeeper"), incident(201, "zookeeper quorum lost"))
    assert await found(store, "error service zookeeper") == ["INC-200", "INC-201"]
    # a word that all hold: the newest are looked at
    assert "INC-201" not in (newest := await found(store, "error"))
    assert newest[0] == "INC-200" or "INC-200" in newest
    assert "INC-1" not in newest
    assert await found(store, "nothing known here") == []


async def test_an_index_beside_the_store_catches_up(store: Store, tmp_path: Path) -> None:
    beside = connect(read_url(f"sqlite:///{tmp_path / 'beside.db'}"))
    follower = IndexFollower(store.database, beside)
    other = SqlRecordIndex(beside, store.database, follower)
    assert await found(other, "gateway") == []
    await keep(store, *(incident(n, "Gateway timeouts") for n in range(3)))
    await store.incidents.commit(Changes(records=(incident(9, "Gateway, not yet"),)))
    assert await found(other, "gateway") == await found(store, "gateway") == ["INC-0", "INC-1", "INC-2"]
    await store.incidents.commit(Changes(retracted=("INC-1",)))
    await keep(store, incident(2, "Disk full"))
    assert await found(other, "gateway") == ["INC-0"]
    asked = Query("gateway disk")
    assert await other.find_candidates(asked, OPERATOR) == await store.index.find_candidates(asked, OPERATOR)
    await beside.close()


async def test_an_index_ahead_of_a_restored_store_is_made_anew(store: Store, tmp_path: Path) -> None:
    old = await open_store(fresh(tmp_path / "old.db"), FakeClock(), FakeIds())
    for number in range(3):
        await keep(old, incident(number, "Gateway"))
    beside = connect(read_url(f"sqlite:///{tmp_path / 'beside.db'}"))
    await IndexFollower(old.database, beside).catch_up()
    await keep(store, incident(7, "Gateway"))
    assert await found(SqlRecordIndex(beside, store.database, IndexFollower(store.database, beside)), "gateway") == [
        "INC-7"
    ]
    await beside.close()
    await old.close()


# scores


def document(incident_id: str, terms: str) -> IndexedDocument:
    words = terms.split()
    return IndexedDocument(incident_id, terms, len(words), 0, format_word_counts(words), 10 * len(words))


def test_scores_are_shares_of_the_questions_own_maximum() -> None:
    pool = [document("a", "gateway timeout"), document("b", "gateway"), document("c", "disk")]
    collection = SearchableCollection(3, 4 / 3, {"gateway": 2, "timeout": 1})
    told = score_documents({"gateway": 1, "timeout": 1}, ["gateway", "timeout"], collection, pool)
    assert 0 < told["b"].bm25_share < told["a"].bm25_share <= 1
    assert 0 < told["b"].chargram_share < told["a"].chargram_share <= 1
    assert (told["c"].bm25_share, told["c"].bm25_mass, told["c"].chargram_share) == (0, 0, 0)
    assert told["a"].cosine is None


def test_no_question_and_no_documents_are_no_trouble() -> None:
    assert score_documents({}, [], SearchableCollection(0, 0.0, {}), []) == {}
    (told,) = score_documents({}, [], SearchableCollection(1, 1.0, {}), [document("a", "x")]).values()
    assert (told.bm25_share, told.chargram_share) == (0, 0)


def test_rarer_words_weigh_more_and_none_weighs_less_than_nothing() -> None:
    assert score_rarity(100, 0) > score_rarity(100, 1) > score_rarity(100, 99) > 0
