"""What tests of deliver share with other tests."""

from __future__ import annotations

from bot.workflows.delivery.deliver import Deliver
from tests.fakes import FakeClock


async def drain(deliver: Deliver, clock: FakeClock, seconds: int) -> None:
    """Look four times a second as the bot does, or once where it is about long waits."""
    step_s = 0.25 if seconds < 30 else 1.0
    for _ in range(int(seconds / step_s)):
        while await deliver.drain_once() == 0.0:
            pass
        clock.move(step_s)
