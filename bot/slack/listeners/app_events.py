"""What the bot does about events that are no alerts, when a worker takes them from the inbox.

Must not handle alerts (kind "message"): those have their own workflow.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from bot.domain.access.visibility import Viewer
from bot.ports.chat import Message, Posting
from bot.ports.parts import owed, unless_refused
from bot.ports.unit_of_work import Changes, InboxRow
from bot.slack.inbound.events import MEMO
from bot.slack.listeners import memo_reaction
from bot.slack.listeners.context import Listening, open_incidents

Handler = Callable[[InboxRow, Listening], Awaitable[None]]
PUBLIC = Viewer()
HOME_INCIDENTS = 12


async def joined(row: InboxRow, deps: Listening) -> None:
    """The bot was invited: say what will happen here, once for each invitation."""
    event = row.body["event"]
    channel, stamp = str(event.get("channel") or ""), event.get("event_ts") or row.id
    await _owe(row, deps, channel, f"hello/{channel}/{stamp}", deps.surfaces.hello(channel))


async def home(row: InboxRow, deps: Listening) -> None:
    """Somebody opened Home: how the bot is doing, and what is open in public channels (the view is one person's, but it
    may be shown around)."""
    rows = await open_incidents(deps, PUBLIC, HOME_INCIDENTS)
    view = deps.surfaces.home(await deps.status(PUBLIC), rows)
    user = str(row.body["event"].get("user") or "")
    await deps.chat.deliver(Posting("home", user, f"home/{user}/{row.id}", view.text, view.blocks, user=user))
    await deps.inbox.settle(row)


async def app_mention(row: InboxRow, deps: Listening) -> None:
    """Somebody spoke to the bot: answer in their thread, or say there what it can do."""
    if deps.converse is not None:
        await deps.converse(row)
        return
    event = row.body["event"]
    channel, ts = str(event.get("channel") or ""), str(event.get("ts") or "")
    thread = str(event.get("thread_ts") or ts)
    await _owe(row, deps, channel, f"mention/{channel}/{ts}", deps.surfaces.help(), thread)


async def _owe(
    row: InboxRow, deps: Listening, channel: str, delivery_id: str, message: Message, thread: str | None = None
) -> None:
    if await _is_silent(deps, channel):
        await deps.store.commit(Changes(done=row))
        return
    posting = Posting("post", channel, delivery_id, message.text, message.blocks, thread_ts=thread)
    rows = (owed(posting, key=f"{channel}/{delivery_id}", urgent=True),)
    await deps.store.commit(Changes(owed=rows, done=row))


async def _is_silent(deps: Listening, channel_id: str) -> bool:
    """Whether nothing is said: the channel is shared with another organisation, or Slack does not say what it is."""
    channel = await unless_refused(deps.chat.channel(channel_id), None)
    return channel is None or channel.is_silent


HANDLERS: Mapping[str, Handler] = {"joined": joined, "home": home, "app_mention": app_mention, MEMO: memo_reaction.ask}
