"""Handle events that are no alerts, when a worker takes them from the inbox."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from bot.domain.access.visibility import Viewer
from bot.domain.delivery.ids import build_hello_id, build_mention_id
from bot.ports.delivery.inbox import InboxRow
from bot.slack.inbound.events import MEMO
from bot.slack.listeners.context import UseCases
from bot.slack.listeners.routes import HELP
from bot.slack.views.help import render_hello, render_help
from bot.slack.views.home import render_home

EventHandler = Callable[[InboxRow, UseCases], Awaitable[None]]
HOME_INCIDENTS = 12
# A Home view is one person's, but it may be shown around.
HOME_VIEWER = Viewer()


async def greet_channel(row: InboxRow, uses: UseCases) -> None:
    """Say what will happen in a channel that the bot was invited to, once for each invitation."""
    event = row.body["event"]
    channel, stamp = str(event.get("channel") or ""), event.get("event_ts") or row.id
    await uses.queue_reply(row, channel, build_hello_id(channel, stamp), render_hello(channel))


async def publish_home(row: InboxRow, uses: UseCases) -> None:
    """Show a person who opened Home how the bot is doing, and what is open in public channels."""
    incidents = await uses.list_open_incidents(HOME_VIEWER, HOME_INCIDENTS)
    view = render_home(await uses.status(HOME_VIEWER), incidents, HELP)
    await uses.publish_home(row, str(row.body["event"].get("user") or ""), view)


async def answer_mention(row: InboxRow, uses: UseCases) -> None:
    """Answer a person who mentioned the bot in their thread, or say there what it can do."""
    if uses.converse is not None:
        await uses.converse(row)
        return
    event = row.body["event"]
    channel, ts = str(event.get("channel") or ""), str(event.get("ts") or "")
    thread = str(event.get("thread_ts") or ts)
    await uses.queue_reply(row, channel, build_mention_id(channel, ts), render_help(HELP), thread)


async def ask_about_memo(row: InboxRow, uses: UseCases) -> None:
    """Ask a person who reacted with 📝 whether to record the message as the fix."""
    await uses.ask_about_memo(row)


HANDLERS: Mapping[str, EventHandler] = {
    "joined": greet_channel,
    "home": publish_home,
    "app_mention": answer_mention,
    MEMO: ask_about_memo,
}
