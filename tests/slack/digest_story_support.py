"""What tests of digest story share with other tests."""

from __future__ import annotations

from datetime import UTC

from bot.domain.reports.schedule import DigestTime
from bot.ports.chat import Posting
from bot.workflows.reports.digest import PostDigests
from tests.slack.conftest import Desk


class Drawn:
    async def build_content(self, posting: Posting) -> bytes:
        return b"\x89PNG"


def posting(desk: Desk) -> PostDigests:
    memory, deps = desk.memory, desk.deps
    time = DigestTime(f"{deps.clock.now():%a}".lower(), 0, UTC)
    said, chat = memory.store.feedback, desk.chat
    return PostDigests(
        store=memory.incidents,
        feedback=said,
        channels=memory.channels,
        claims=memory.claims,
        chat=chat,
        surfaces=deps.surfaces,
        clock=deps.clock,
        default=time,
    )
