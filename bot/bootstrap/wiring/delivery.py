"""Wire delivery: the outbox to Slack and the memory bank."""

from __future__ import annotations

from bot.adapters.chart import MatplotlibCharts
from bot.bootstrap.wiring.foundation import Foundation
from bot.bootstrap.wiring.shadow import (
    build_show_in_shadow,
)
from bot.workflows.delivery.deliver import CALL_DEADLINE_S, Deliver
from bot.workflows.delivery.make_files import MakeFiles
from bot.workflows.delivery.watch_outbox import WatchOutbox

# The share of an outbox row's lease that one call may take: the rest is for writing down what came of it.
LEASE_SHARE_FOR_CALL = 0.7


def build_deliver(base: Foundation) -> Deliver:
    """Build what delivers the outbox."""
    files = MakeFiles(charts=MatplotlibCharts(), store=base.memory.incidents, threads=base.threads, chat=base.chat)
    return Deliver(
        outbox=base.memory.outbox,
        chat=base.chat,
        clock=base.clock,
        bank=base.memory.bank,
        records=base.memory.incidents,
        deadline_s=min(CALL_DEADLINE_S, base.settings.lease_s * LEASE_SHARE_FOR_CALL),
        files=files,
        in_shadow=build_show_in_shadow(base.settings, base.chat),
    )


def build_watch_outbox(base: Foundation) -> WatchOutbox:
    """Build what warns if deliveries are late."""
    return WatchOutbox(outbox=base.memory.outbox, inbox=base.memory.store.inbox_admin, clock=base.clock)
