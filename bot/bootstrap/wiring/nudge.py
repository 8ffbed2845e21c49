"""The questions about incidents that cleared with no recorded fix, wired. Must not decide anything."""

from __future__ import annotations

from bot.bootstrap.wiring.channels import operators_time
from bot.bootstrap.wiring.memory import Memory
from bot.bootstrap.wiring.shadow import waiting_for
from bot.ports.channels import People
from bot.ports.chat import Chat, Surfaces
from bot.ports.clock import Clock
from bot.settings import Settings
from bot.workflows.resolutions.nudge import PostNudges


def nudging(
    settings: Settings, memory: Memory, people: People, chat: Chat, surfaces: Surfaces, clock: Clock
) -> PostNudges | None:
    """What asks people; None where the operator switched it off."""
    if settings.nudge == "off":
        return None
    store, default = memory.store, operators_time(settings)
    return PostNudges(
        waiting_for(settings, chat, store.nudges),
        memory.incidents,
        memory.channels,
        people,
        chat,
        surfaces,
        clock,
        default,
    )
