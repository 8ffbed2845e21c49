"""Wire shadow mode around the use cases if SHADOW_CHANNEL is set."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from bot.bootstrap.wiring.memory import Memory
from bot.bootstrap.workers import Loop
from bot.ports.chat import Chat
from bot.ports.clock import Clock
from bot.ports.nudges import NudgeStore
from bot.settings import Settings
from bot.slack.views.shadow import add_heading, render_left_out
from bot.workflows.channels.settings import AdmitAlert
from bot.workflows.operations.shadow import (
    Admit,
    AdmitInShadow,
    NudgesInShadow,
    ReportLeftOut,
    ShowInShadow,
    describe_mode,
    log_mode,
)


def wrap_admit(settings: Settings, chat: Chat, admit: AdmitAlert) -> Admit:
    """Return what decides whether an alert is answered, in shadow mode or not."""
    return AdmitInShadow(admit, chat, settings.shadow_channel) if settings.shadow_channel else admit


def wrap_nudges(settings: Settings, chat: Chat, nudges: NudgeStore) -> NudgeStore:
    """Return the store of what people may be asked about, in shadow mode or not."""
    return NudgesInShadow(nudges, chat, settings.shadow_channel) if settings.shadow_channel else nudges


def build_show_in_shadow(settings: Settings, chat: Chat) -> ShowInShadow:
    """Build what redirects messages before they are sent. Messages in an earlier shadow channel are still edited."""
    return ShowInShadow(chat, settings.shadow_channel, add_heading)


def build_shadow_state(settings: Settings, chat: Chat) -> Callable[[], Awaitable[tuple[bool, str]]] | None:
    """Return what describes the mode for the status; None while it is off."""
    return partial(describe_mode, chat, settings.shadow_channel) if settings.shadow_channel else None


def build_shadow_loops(settings: Settings, memory: Memory, chat: Chat, clock: Clock) -> list[Loop]:
    """Return the loops that run while the mode is on."""
    if not settings.shadow_channel:
        return []
    return [
        Loop(
            "left-out",
            ReportLeftOut(
                store=memory.incidents, chat=chat, clock=clock, shadow=settings.shadow_channel, render=render_left_out
            ),
        )
    ]


async def begin_shadow(settings: Settings, memory: Memory, chat: Chat) -> None:
    """Redirect what was never sent to where the mode now says, before anything is delivered, and log the mode.

    Raises StoreUnavailable.
    """
    await memory.store.outbox.move_unsent(settings.shadow_channel)
    if settings.shadow_channel:
        await log_mode(chat, settings.shadow_channel)
