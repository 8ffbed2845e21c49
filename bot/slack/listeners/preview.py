"""Show what the bot would have said to the channel's last alerts: the button of the hello."""

from __future__ import annotations

import asyncio

from bot.ports.errors import NotAllowedHere
from bot.slack.listeners.context import UseCases
from bot.slack.listeners.interaction import OPEN_WITHIN_S, Interaction
from bot.slack.payload import read_text
from bot.slack.views.details_modal import build_loading_view
from bot.slack.views.preview_modal import READING, TITLE, build_preview_view

OFF = "There is no preview here: this bot cannot read what was posted before."


async def open_preview(uses: UseCases, it: Interaction) -> None:
    """Show that it comes, then what it is: reading takes longer than Slack waits. Raises NotAllowedHere in a shared channel
    and to a person who is not in a private one; ChatRejected where the bot has left."""
    if uses.preview is None:
        raise NotAllowedHere(OFF)
    async with asyncio.timeout(OPEN_WITHIN_S):
        channel = await uses.access.require_channel(read_preview_channel(it))
        await uses.access.require_member(channel.id, it.user)
        view_id = await it.open_loaded(build_loading_view(TITLE, READING))
    await it.replace(build_preview_view(await uses.preview(channel)), view_id)


def read_preview_channel(it: Interaction) -> str:
    """Return the channel that the button names, which is where the bot was invited; the button of an older hello names
    none and means its own."""
    return read_text(it.value, "c") or it.channel_id
