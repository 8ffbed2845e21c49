"""The questions about incidents that cleared with no recorded fix, wired. Must not decide anything."""

from __future__ import annotations

from bot.bootstrap.wiring.channels import read_digest_time
from bot.bootstrap.wiring.memory import Memory
from bot.bootstrap.wiring.shadow import wrap_nudges
from bot.ports.channels import PeopleDirectory
from bot.ports.chat import Chat
from bot.ports.clock import Clock
from bot.ports.surfaces import Surfaces
from bot.settings import Settings
from bot.workflows.resolutions.nudge import PostNudges


def build_post_nudges(
    settings: Settings, memory: Memory, people: PeopleDirectory, chat: Chat, surfaces: Surfaces, clock: Clock
) -> PostNudges | None:
    """What asks people; None where the operator switched it off."""
    if settings.nudge == "off":
        return None
    store, default = memory.store, read_digest_time(settings)
    return PostNudges(
        nudges=wrap_nudges(settings, chat, store.nudges),
        store=memory.incidents,
        channels=memory.channels,
        people=people,
        chat=chat,
        surfaces=surfaces,
        clock=clock,
        default=default,
    )
