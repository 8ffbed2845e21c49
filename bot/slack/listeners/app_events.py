"""What the bot does about events that are no alerts, when a worker takes them from the inbox.

Must not handle alerts (kind "message"): those have their own workflow.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from bot.domain.access.visibility import Viewer
from bot.domain.delivery.ids import build_hello_id, build_home_id, build_mention_id, build_reply_key
from bot.domain.delivery.kinds import Operation
from bot.ports.chat import ChatMessage, Posting, or_if_refused
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
    await _queue_reply(row, deps, channel, build_hello_id(channel, stamp), deps.surfaces.render_hello(channel))


async def publish_home(row: InboxRow, deps: UseCases) -> None:
    """Somebody opened Home: how the bot is doing, and what is open in public channels (the view is one person's, but it
    may be shown around)."""
    rows = await list_open_incidents(deps, PUBLIC, HOME_INCIDENTS)
    view = deps.surfaces.render_home(await deps.status(PUBLIC), rows)
    user = str(row.body["event"].get("user") or "")
    await deps.chat.deliver(
        Posting(Operation.HOME, user, build_home_id(user, row.id), view.text, view.blocks, user=user)
    )
    await deps.inbox.acknowledge(row)


async def answer_mention(row: InboxRow, deps: UseCases) -> None:
    """Somebody spoke to the bot: answer in their thread, or say there what it can do."""
    if deps.converse is not None:
        await deps.converse(row)
        return
    event = row.body["event"]
    channel, ts = str(event.get("channel") or ""), str(event.get("ts") or "")
    thread = str(event.get("thread_ts") or ts)
    await _queue_reply(row, deps, channel, build_mention_id(channel, ts), deps.surfaces.render_help(), thread)


async def _queue_reply(
    row: InboxRow, deps: UseCases, channel: str, delivery_id: str, message: ChatMessage, thread: str | None = None
) -> None:
    if await _is_silent(deps, channel):
        await deps.store.commit(Changes(done=row))
        return
    posting = Posting(Operation.POST, channel, delivery_id, message.text, message.blocks, thread_ts=thread)
    rows = (build_outbox_entry(posting, key=build_reply_key(channel, delivery_id), urgent=True),)
    await deps.store.commit(Changes(deliveries=rows, done=row))


async def _is_silent(deps: UseCases, channel_id: str) -> bool:
    """Whether nothing is said: the channel is shared with another organisation, or Slack does not say what it is."""
    channel = await or_if_refused(deps.chat.read_channel(channel_id), None)
    return channel is None or channel.is_silent


HANDLERS: Mapping[str, EventHandler] = {
    "joined": greet_channel,
    "home": publish_home,
    "app_mention": answer_mention,
    MEMO: memo_reaction.ask,
}
