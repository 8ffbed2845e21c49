"""Open store, index and recall from the settings: every command that reads or writes memory needs them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from bot.adapters.memory.breaker import GuardedBank
from bot.adapters.memory.embedding import OnnxEmbedder, find_model
from bot.adapters.store import Store, open_store
from bot.bootstrap.lazy_adapters import import_adapter
from bot.observability import get_logger
from bot.ports.channels import ChannelStore
from bot.ports.claims import ClaimStore
from bot.ports.clock import Clock, Ids
from bot.ports.delivery.inbox import Inbox
from bot.ports.delivery.outbox import Outbox
from bot.ports.errors import EmbeddingUnavailable
from bot.ports.incidents import IncidentStore
from bot.ports.memory import MemoryBank, Recall, RecordIndex, RemoteBank
from bot.ports.upkeep.health import StoreHealth
from bot.settings import Settings
from bot.workflows.evidence.metered import MeteredRecall
from bot.workflows.recall.recall import RecallPrecedents
from bot.workflows.recall.with_feedback import RecallWithFeedback

FILL_POLL_S = 1.0
FILL_FAILED_S = 60.0
log = get_logger("memory")


@dataclass(frozen=True, slots=True)
class Memory:
    """The open memory."""

    store: Store
    incidents: IncidentStore
    inbox: Inbox
    outbox: Outbox
    claims: ClaimStore
    health: StoreHealth
    index: RecordIndex
    recall: Recall
    channels: ChannelStore
    # None if the embedded bank is used: then the index is the bank
    bank: MemoryBank | None = None
    # the same bank without its circuit breaker, to ask for its status or work on all of it
    remote: RemoteBank | None = None
    name: str = "embedded memory"

    async def fill_vectors(self) -> float:
        """Compute vectors for some documents that lack one. Return how many seconds to wait before the next turn: 0 if
        more are waiting. Raises StoreUnavailable."""
        if self.store.vectors is None:
            return FILL_FAILED_S
        try:
            return 0.0 if await self.store.vectors.fill_some() else FILL_POLL_S
        except EmbeddingUnavailable:
            return FILL_FAILED_S


def open_embedder(settings: Settings) -> OnnxEmbedder | None:
    """Return the embedding model, not loaded yet. None if it is switched off or not installed; the log says so once."""
    if settings.embeddings == "off":
        return None
    try:
        return OnnxEmbedder(find_model(settings.embedding_model_dir))
    except EmbeddingUnavailable as problem:
        log.warning("memory works by words and parts of words (lexical mode)", reason=str(problem))
        return None


@asynccontextmanager
async def open_memory(
    settings: Settings, clock: Clock, ids: Ids, *, feeds_bank: bool | None = None
) -> AsyncIterator[Memory]:
    """Open the store and everything that is built on it. Raises StoreUnavailable in plain words.

    `feeds_bank`: whether records are queued for a bank; by default where a Hindsight server is configured.
    """
    embedder = open_embedder(settings)
    async with AsyncExitStack() as opened:
        if embedder:
            opened.callback(embedder.close)
        store = await open_store(
            settings.store_url,
            clock,
            ids,
            lease_s=settings.lease_s,
            embedder=embedder,
            shadow=settings.shadow_channel,
            feeds_bank=bool(settings.hindsight_url) if feeds_bank is None else feeds_bank,
        )
        opened.push_async_callback(store.close)
        remote = await opened.enter_async_context(open_bank(settings, clock))
        bank = GuardedBank(remote, clock) if remote else None
        yield Memory(
            store=store,
            incidents=store.incidents,
            inbox=store.inbox,
            outbox=store.outbox,
            claims=store.claims,
            health=store.health,
            index=store.index,
            recall=MeteredRecall(
                RecallWithFeedback(
                    RecallPrecedents(index=store.index, bank=bank, store=store.incidents), store.feedback
                )
            ),
            channels=store.channels,
            bank=bank,
            remote=remote,
            name=f"Hindsight bank {settings.hindsight_bank_id} and the local index" if remote else "embedded memory",
        )


@asynccontextmanager
async def open_bank(settings: Settings, clock: Clock) -> AsyncIterator[RemoteBank | None]:
    """Open the bank on the configured Hindsight server, if there is one. Nothing is asked of it yet."""
    if not settings.hindsight_url:
        yield None
        return
    key = settings.hindsight_api_key.get_secret_value() if settings.hindsight_api_key else None
    opening: AbstractAsyncContextManager[RemoteBank] = import_adapter("memory.hindsight").open_hindsight(
        settings.hindsight_url, key, settings.hindsight_bank_id, clock
    )
    async with opening as bank:
        yield bank
