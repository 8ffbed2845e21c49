"""Wire looking things up: precedents, and everything behind a brief."""

from __future__ import annotations

from bot.bootstrap.wiring.foundation import Foundation
from bot.bootstrap.wiring.memory import Memory
from bot.ports.clock import Clock
from bot.workflows.recall.details import ShowDetails
from bot.workflows.recall.preview_brief import PreviewBrief
from bot.workflows.recall.recall import LookUpPrecedents


def build_look_up(base: Foundation) -> LookUpPrecedents:
    """Build what answers `/recall`."""
    return LookUpPrecedents(recall=base.memory.recall, index=base.memory.index)


def build_show_details(memory: Memory, clock: Clock) -> ShowDetails:
    """Build what shows everything behind a brief."""
    return ShowDetails(
        store=memory.incidents,
        recall=memory.recall,
        index=memory.index,
        preview=PreviewBrief(memory.recall, memory.index),
        clock=clock,
        traces=memory.store.brief_timings,
    )
