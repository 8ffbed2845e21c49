"""What the bot does about events that are no alerts, when a worker takes them from the inbox.

Must not handle alerts (kind "message"): those have their own workflow.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from bot.domain.access.visibility import Viewer
from bot.ports.chat import ChatMessage, Posting, find_channel, may_speak
from bot.ports.delivery.inbox import InboxRow
from bot.ports.delivery.outbox import build_outbox_entry
from bot.ports.unit_of_work import Changes
from bot.slack.inbound.events import MEMO
from bot.slack.listeners import memo_reaction
from bot.slack.listeners.context import UseCases, list_open_incidents

EventHandler = Callable[[InboxRow, UseCases], Awaitable[None]]
PUBLIC = Viewer()
HOME_INCIDENTS = 12


async def greet_channel(row: InboxRow, deps: UseCases) -> None:
    """The bot was invited: say what will happen here, once for each invitation."""
    event = row.body["event"]
    channel, stamp = str(event.get("channel") or ""), event.get("event_ts") or row.id
    await _queue_reply(row, deps, channel, f"hello/{channel}/{stamp}", deps.surfaces.render_hello(channel))


async def publish_home(row: InboxRow, deps: UseCases) -> None:
    """Somebody opened Home: how the bot is doing, and what is open in public channels (the view is one person's, but it
    may be shown around)."""
    rows = await list_open_incidents(deps, PUBLIC, HOME_INCIDENTS)
    view = deps.surfaces.render_home(await deps.status(PUBLIC), rows)
    user = str(row.body["event"].get("user") or "")
    await deps.chat.deliver(Posting("home", user, f"home/{user}/{row.id}", view.text, view.blocks, user=user))
    await deps.inbox.acknowledge(row)


async def answer_mention(row: InboxRow, deps: UseCases) -> None:
    """Somebody spoke to the bot: answer in their thread, or say there what it can do."""
    if deps.converse is not None:
        await deps.converse(row)
        return
    event = row.body["event"]
    channel, ts = str(event.get("channel") or ""), str(event.get("ts") or "")
    thread = str(event.get("thread_ts") or ts)
    await _queue_reply(row, deps, channel, f"mention/{channel}/{ts}", deps.surfaces.render_help(), thread)


async def _queue_reply(
    row: InboxRow, deps: UseCases, channel: str, delivery_id: str, message: ChatMessage, thread: str | None = None
) -> None:
    if not may_speak(await find_channel(deps.chat, channel)):
        await deps.store.commit(Changes(done=row))
        return
    posting = Posting("post", channel, delivery_id, message.text, message.blocks, thread_ts=thread)
    rows = (build_outbox_entry(posting, key=f"{channel}/{delivery_id}", urgent=True),)
    await deps.store.commit(Changes(deliveries=rows, done=row))


HANDLERS: Mapping[str, EventHandler] = {
    "joined": greet_channel,
    "home": publish_home,
    "app_mention": answer_mention,
    MEMO: memo_reaction.ask,
}
