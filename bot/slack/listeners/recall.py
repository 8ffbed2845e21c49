"""Look-ups: the answer to a question or a vendor's name, its pages, and sharing it. Each press runs the query anew.

Must not score or decide, and must not show anywhere what people there may not see: the answer that is shared is the one
that its new readers would get.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.domain.access.visibility import Viewer
from bot.domain.fixes.grouping import filed_of
from bot.domain.reports.vendor_profile import vendor_profile
from bot.ports import ChatRejected, NotAllowedHere, RecordRejected
from bot.ports.chat import Message, Posting
from bot.ports.parts import owed
from bot.ports.unit_of_work import Changes
from bot.slack import ids
from bot.slack.listeners.context import Listening, asker_in, channel_of_record, require_member
from bot.slack.listeners.recall_question import Answer, Question, answered, asked_memory, read_question, tell
from bot.slack.listeners.resolve import OPEN_WITHIN_S, UNREADABLE, channel_id_of, trigger_of, user_of
from bot.slack.views.forms import View, asked, modal
from bot.slack.views.recall_pages import page_message, paged
from bot.slack.views.vendor import vendor_message

Body = Mapping[str, Any]
MAX_PAGE = 10


def listen(app: AsyncApp, deps: Listening) -> None:
    """Register pages and sharing; before the catch-alls."""

    @app.action(re.compile(rf"{re.escape(ids.PAGE)}\..*"))
    async def turn(ack: Answer, body: dict[str, Any], action: dict[str, Any], respond: Answer) -> None:
        await ack()
        await tell(respond, await turned(deps, body, ids.decode(action.get("value"))), replaces=True)

    @app.action(ids.SHARE)
    async def share(ack: Answer, body: dict[str, Any], action: dict[str, Any], client: Any) -> None:
        await ack()
        async with asyncio.timeout(OPEN_WITHIN_S):
            await client.views_open(trigger_id=trigger_of(body), view=share_view(ids.decode(action.get("value"))))

    @app.view(ids.SHARE_VIEW)
    async def shared(ack: Answer, body: dict[str, Any]) -> None:
        await post_shared(deps, body)
        await ack()


async def looked_up(deps: Listening, text: str, viewer: Viewer, page: int = 1, by: str | None = None) -> Message:
    """The answer to what was typed, for this viewer; shared by `by` it has no buttons. Raises RecordRejected."""
    question = read_question(text, deps.clock.now())
    said = set(question.filters)
    if not question.text and not said & {"vendor", "service", "region"}:
        return deps.surfaces.recall_usage()
    if not question.text and said <= {"vendor", "since", "limit"}:
        return await _profile(deps, question, viewer, text, by)
    if page > 1:
        _, recalled = await asked_memory(deps, question, viewer)
        return page_message(recalled, question.said, text, question.limit, page)
    message, count = await answered(deps, question, viewer, by=by)
    return message if by else paged(message, text, 1, count > question.limit)


async def _profile(deps: Listening, question: Question, viewer: Viewer, text: str, by: str | None) -> Message:
    """A vendor's name alone asks what is known of it."""
    records = await deps.store.records(viewer, recallable_only=True)
    # counted in a thread: a vendor with thousands of incidents must not hold up who waits for an acknowledgement
    filed = filed_of(await deps.agreed.wrong.said.fixes_said())
    vendor, since = question.filters["vendor"], question.since
    found = await asyncio.to_thread(vendor_profile, vendor, records, deps.clock.now(), since, deps.names, filed)
    message = vendor_message(found, question.limit, by)
    return message if by or not found.incidents else paged(message, text, 1, more=False)


async def turned(deps: Listening, body: Body, said: Mapping[str, Any]) -> Message:
    """Another page, for who may see it from here now."""
    text, page, channel_id = ids.text_of(said, "q"), said.get("p"), channel_id_of(body)
    if text is None or not isinstance(page, int) or not 1 <= page <= MAX_PAGE:
        raise RecordRejected("", UNREADABLE)
    await require_member(deps.chat, channel_id, user_of(body))
    return await looked_up(deps, text, await asker_in(deps.chat, channel_id), page)


def share_view(said: Mapping[str, Any]) -> View:
    """Asks where to share."""
    text = ids.text_of(said, "q")
    if text is None:
        raise RecordRejected("", UNREADABLE)
    element = {
        "type": "conversations_select",
        "action_id": ids.INPUT,
        "default_to_current_conversation": True,
        "filter": {"include": ["public", "private"], "exclude_bot_users": True},
    }
    hint = "It is asked anew there: people see what they may see, and that you shared it."
    return modal(ids.SHARE_VIEW, "Share", "Share", [asked(ids.TARGET, "Where", element, hint=hint)], {"q": text})


async def post_shared(deps: Listening, body: Body) -> None:
    """Ask again for the people of the chosen channel, and post the answer there once. Raises RecordRejected for a place
    where it cannot go."""
    view, user = ids.object_of(body, "view"), user_of(body)
    text, view_id = ids.text_of(ids.decode(view.get("private_metadata")), "q"), ids.text_of(view, "id")
    target = ids.conversation_in(view, ids.TARGET)
    if text is None or view_id is None or target is None:
        raise RecordRejected("", UNREADABLE)
    try:
        channel = await channel_of_record(deps.chat, target)
        await require_member(deps.chat, target, user)
    except (ChatRejected, NotAllowedHere) as refused:
        raise RecordRejected(ids.TARGET, str(refused)) from refused
    if not channel.is_joined:
        raise RecordRejected(ids.TARGET, "Invite me to that channel first: /invite @Precedent.")
    message = await looked_up(deps, text, channel.viewer, by=user)
    posting = Posting("post", target, f"share/{view_id}", message.text, message.blocks)
    await deps.store.commit(Changes(owed=(replace(owed(posting, key=f"share/{target}"), urgent=True),)))
