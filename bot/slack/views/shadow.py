"""Shadow mode in Slack: the line above a message in the shadow channel, and the count of what is left out there."""

from __future__ import annotations

from dataclasses import replace

from bot.domain.delivery.kinds import DeliveryKind, find_kind
from bot.ports.chat import ChatMessage, Posting
from bot.slack.views.markup import context, format_channel, link
from bot.slack.views.surfaces import render_note


def add_heading(posting: Posting, origin: str, url: str | None) -> Posting:
    """Return the message under a line that names its channel, with a link to the alert's post where there is one."""
    if find_kind(posting.delivery_id) is DeliveryKind.NUDGE:
        where, what = "a direct message", "_Shadow mode: for one person, in a direct message._"
    else:
        where = format_channel(origin)
        under = f", {link(url, 'under this post')}" if url else ""
        what = f"_Shadow mode: for {where}{under}._"
    if not posting.blocks:
        return replace(posting, text=f"{what}\n{posting.text}")
    return replace(posting, text=f"{where}: {posting.text}", blocks=(context(what), *posting.blocks))


def render_left_out(count: int) -> ChatMessage:
    """Return how many alerts of private channels are not shown; neither which nor where."""
    alerts, were = ("1 alert", "was") if count == 1 else (f"{count} alerts", "were")
    return render_note(
        f"_Shadow mode: {alerts} of private channels {were} left out today (UTC); who reads here may not see them._"
    )
