"""The same incident once or five times: through the real index its tier is the same, by text alone, too."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bot.bootstrap.modes.seeds import read_seed_incidents
from bot.bootstrap.wiring.memory import open_memory
from bot.domain.recall.query import OPERATOR, build_text_query
from bot.ports.unit_of_work import Changes
from bot.settings import Settings
from tests.databases import fresh
from tests.workflows.world import START, CountingIds, SettableClock


@pytest.mark.parametrize(
    ("like", "asked"),
    [
        ("orders-db", "queries on the orders database hang and time out"),
        ("catalog-api", "the catalog reports timeouts of its cache client"),
        ("suggest-api", "search suggestions are empty for new products"),
    ],
)
async def test_recurrences_in_the_same_words_keep_their_tier(tmp_path: Path, like: str, asked: str) -> None:
    seeds = read_seed_incidents(START)
    one = next(r for r in seeds if r.service == like)
    others = tuple(r for r in seeds if r.service != like)
    tiers = []
    for k in range(1, 6):
        copies = tuple(replace(one, incident_id=f"SAME-{n}") for n in range(k))
        settings = Settings(database_url=fresh(tmp_path / f"{k}.db"), embeddings="off")
        async with open_memory(settings, SettableClock(), CountingIds()) as memory:
            records = (*others, *copies)
            await memory.incidents.commit(
                Changes(records=records, recallable=frozenset(r.incident_id for r in records))
            )
            query = build_text_query(asked, await memory.index.list_known_names())
            recalled = await memory.recall.precedents(query, OPERATOR)
            found = {p.incident.incident_id: p.tier for p in recalled.precedents}
            tiers.append({found[c.incident_id] for c in copies})
    assert len(tiers[0]) == 1
    assert all(tier == tiers[0] for tier in tiers), tiers
