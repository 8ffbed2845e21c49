"""The button of the hello: what the bot would have said to the channel's last alerts. Must not decide what that is."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.ports.errors import NotAllowedHere
from bot.slack import ids
from bot.slack.listeners.context import UseCases, require_member, require_recordable_channel
from bot.slack.listeners.recall_question import BoltCall
from bot.slack.listeners.resolve import OPEN_WITHIN_S, read_channel_id, read_trigger, read_user
from bot.slack.views.details_modal import build_loading_view
from bot.slack.views.preview_modal import READING, TITLE, build_preview_view

OFF = "There is no preview here: this bot cannot read what was posted before."


def register(app: AsyncApp, deps: UseCases) -> None:
    """Register the button; before the catch-alls."""

    @app.action(ids.PREVIEW)
    async def preview(ack: BoltCall, body: dict[str, Any], client: Any) -> None:
        await ack()
        await open_preview(deps, client, body)


def read_preview_channel(body: Mapping[str, Any]) -> str:
    """The channel that the button names, which is where the bot was invited; an older button is about its own."""
    values = (action.get("value") for action in body.get("actions") or () if isinstance(action, Mapping))
    return next((c for value in values if (c := ids.read_text(ids.decode(value), "c"))), None) or read_channel_id(body)


async def open_preview(deps: UseCases, client: AsyncWebClient, body: Mapping[str, Any]) -> None:
    """Show that it comes, then what it is: reading takes longer than Slack waits. Raises NotAllowedHere in a shared
    channel, and to who is not in a private one; ChatRejected where the bot is in it no more."""
    if deps.preview is None:
        raise NotAllowedHere(OFF)
    async with asyncio.timeout(OPEN_WITHIN_S):
        channel = await require_recordable_channel(deps.chat, read_preview_channel(body))
        await require_member(deps.chat, channel.id, read_user(body))
        opened = await client.views_open(trigger_id=read_trigger(body), view=build_loading_view(TITLE, READING))
    view = build_preview_view(await deps.preview(channel))
    await client.views_update(view_id=str(opened["view"]["id"]), view=view)
