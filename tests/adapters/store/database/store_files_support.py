"""What tests of store files share with other tests."""

from __future__ import annotations

WRITER = """
import asyncio, sys
from bot.adapters.store import open_store
from bot.domain.incidents.record import Incident
from bot.ports.unit_of_work import Changes
from tests.fakes import FakeClock, FakeIds

async def main():
    store = await open_store(sys.argv[1], FakeClock(), FakeIds())
    for number in range(100000):
        record = Incident(f"{sys.argv[2]}-{number}", "Gateway timeouts")
        await store.incidents.commit(Changes(records=(record,), recallable=frozenset({record.incident_id})))
        print(record.incident_id, flush=True)

asyncio.run(main())
"""
