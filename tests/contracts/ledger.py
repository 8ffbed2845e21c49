"""What any ledger of models must do, whichever database holds it. The bindings are in `test_contracts`."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

from bot.adapters.store import Store
from bot.adapters.store.delivery.delivery_log import SqlDeliveryLog
from bot.domain.delivery.kinds import Operation
from bot.ports.delivery.outbox import Destination, OutboxEntry
from bot.ports.language_model import ModelCall, ModelExchange
from bot.ports.unit_of_work import Changes
from tests.contracts.stores import INCIDENT
from tests.fakes import START

TODAY = START.date()
CALLS = (ModelCall("big", "strict", "rate limit", 0.2), ModelCall("small", "json", "answered", 1.5))
SENT = ModelExchange(
    "INC-7", "public", START, "U1", True, "small", "shown", {"messages": [{"content": "é ✗ \ud800"}]}, CALLS, 120
)


class LedgerContract:
    """Subclasses give `store`."""

    async def test_what_was_sent_comes_back_equal_latest_first(self, store: Store) -> None:
        ledger = store.model_ledger
        assert await ledger.add_exchange(SENT, TODAY) == 120
        assert await ledger.add_exchange(replace(SENT, memory=False, tokens=30), TODAY) == 150
        await ledger.add_exchange(replace(SENT, incident_id="INC-70"), TODAY + timedelta(days=1))
        assert await ledger.list_exchanges("INC-7") == (
            replace(SENT, memory=False, tokens=30, number=2),
            replace(SENT, number=1),
        )
        assert [one.number for one in await ledger.list_exchanges("INC-7", 1)] == [2]
        assert [await ledger.count_tokens(TODAY + timedelta(days=n)) for n in (-1, 0, 1)] == [0, 150, 120]
        assert await ledger.list_exchanges("INC-9") == ()

    async def test_what_was_owed_lately_is_found_by_how_its_id_begins(self, store: Store) -> None:
        names = ("talk/C1/U1/1.1/say", "talk/C1/U2/1.2/ask", "talk0", "brief/C1", "tall/x")
        rows = [OutboxEntry(Destination.SLACK, Operation.POST, "k", name, {}) for name in names]
        await store.incidents.commit(Changes(deliveries=tuple(rows)))
        deliveries = SqlDeliveryLog(store.database)
        assert [name for name, _ in await deliveries.list_queued("talk/", START)] == list(names[:2])
        assert [name for name, _ in await deliveries.list_queued("talk/C1/U2/", START)] == [names[1]]
        assert await deliveries.list_queued("talk/", START + timedelta(days=1)) == ()

    async def test_tokens_of_many_at_once_are_all_counted(self, store: Store) -> None:
        await asyncio.gather(*(store.model_ledger.add_exchange(SENT, TODAY) for _ in range(8)))
        assert await store.model_ledger.count_tokens(TODAY) == 8 * 120

    async def test_what_was_sent_is_forgotten_in_time_and_with_its_incident(self, store: Store) -> None:
        ledger, day = store.model_ledger, timedelta(days=1)
        quoting = replace(SENT, incident_id="INC-9", at=START + day, payload={"content": "as in INC-7."})
        other = replace(SENT, incident_id="INC-70", at=START + day, payload={"content": "INC-70"})
        for one in (SENT, quoting, other):
            await ledger.add_exchange(one, one.at.date())
        gone = await store.retention.delete_expired(before=START, audit_before=START, sent_before=START + day / 2)
        assert (gone.model_sent, await ledger.count_tokens(TODAY)) == (1, 120)
        await store.retention.delete_expired(before=START, audit_before=START, sent_before=START + day)
        assert await ledger.count_tokens(TODAY) == 0
        await store.incidents.commit(Changes(records=(INCIDENT,)))
        assert await store.purging.purge("INC-7", (), Changes())
        assert await ledger.list_exchanges("INC-9") == ()
        assert len(await ledger.list_exchanges("INC-70")) == 1
