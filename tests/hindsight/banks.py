"""Banks of a test on the real server: a new name for each, deleted afterwards, and read from the outside."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from bot.adapters.memory.hindsight import HindsightBank, open_hindsight
from tests.fakes import FakeClock
from tests.hindsight.server import Server, described


def url() -> str:
    found = os.environ.get("TEST_HINDSIGHT_URL")
    if found:
        return found
    reason = "TEST_HINDSIGHT_URL names no Hindsight server"
    if os.environ.get("REQUIRE_SERVICES") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


def server() -> Server:
    url()
    return described(os.environ["TEST_HINDSIGHT_STATE"])


@asynccontextmanager
async def new_bank(bank_id: str | None = None, **deadlines: float) -> AsyncIterator[HindsightBank]:
    async with open_hindsight(url(), None, bank_id or f"test-{uuid.uuid4().hex[:12]}", FakeClock()) as bank:
        bank.recall_s, bank.write_s = deadlines.get("recall_s", 15.0), deadlines.get("write_s", 20.0)
        yield bank
        await bank.client.adelete_bank(bank.bank_id)


async def delete(bank_id: str) -> None:
    async with new_bank(bank_id):
        pass


async def facts_by_document(bank: HindsightBank) -> dict[str, int]:
    """How many facts the bank has of each document, read from its list of memories."""
    counted: dict[str, int] = {}
    offset = 0
    while True:
        page = await bank.client.alist_memories(bank.bank_id, limit=100, offset=offset)
        for item in page.items:
            counted[str(item.document_id)] = counted.get(str(item.document_id), 0) + 1
        offset += len(page.items)
        if not page.items or offset >= page.total:
            return counted


async def until_quiet(bank: HindsightBank, seconds: float = 30.0) -> int:
    """Wait until the number of memories stands still (observations are made in the background); how many."""
    last, same = -1, 0
    for _ in range(int(seconds * 2)):
        total = (await bank.client.alist_memories(bank.bank_id, limit=1)).total
        last, same = total, same + 1 if total == last else 0
        if same >= 6:
            break
        await asyncio.sleep(0.5)
    return last
