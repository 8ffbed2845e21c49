"""Store, index and recall from the settings: what every command that reads or writes memory opens. Must not decide."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from bot.adapters.store import Store, open_store
from bot.ports.clock import Clock, Ids
from bot.ports.memory import Index, MemoryBank, Recall
from bot.ports.store import Claims, Inbox, IncidentStore, Outbox, StoreHealth
from bot.settings import Settings
from bot.workflows.recall import RecallPrecedents


@dataclass(frozen=True, slots=True)
class Memory:
    """The open memory. `bank` is None where the embedded bank is used: then the index is the bank."""

    store: Store
    incidents: IncidentStore
    inbox: Inbox
    outbox: Outbox
    claims: Claims
    health: StoreHealth
    index: Index
    recall: Recall
    bank: MemoryBank | None = None
    name: str = "embedded memory"


@asynccontextmanager
async def open_memory(settings: Settings, clock: Clock, ids: Ids) -> AsyncIterator[Memory]:
    """Open the store and what is built on it; raises StoreUnavailable in plain words."""
    store = await open_store(settings.store_url, clock, ids, lease_s=settings.lease_s)
    try:
        yield Memory(
            store=store,
            incidents=store.incidents,
            inbox=store.inbox,
            outbox=store.outbox,
            claims=store.claims,
            health=store.health,
            index=store.index,
            recall=RecallPrecedents(store.index),
        )
    finally:
        await store.close()
