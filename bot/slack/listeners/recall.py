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
from bot.domain.delivery.ids import build_share_id, build_share_key
from bot.domain.delivery.kinds import Operation
from bot.domain.fixes.grouping import filed_of
from bot.domain.reports.vendor_profile import vendor_profile
from bot.ports.chat import ChatMessage, Posting
from bot.ports.delivery.outbox import build_outbox_entry
from bot.ports.errors import ChatRejected, NotAllowedHere, RecordRejected
from bot.ports.unit_of_work import Changes
from bot.slack import ids
from bot.slack.listeners.context import UseCases, require_member, require_recordable_channel, require_viewer
from bot.slack.listeners.recall_question import (
    BoltCall,
    RecallQuestion,
    answer_question,
    read_question,
    recall_precedents,
    tell,
)
from bot.slack.listeners.resolve import OPEN_WITHIN_S, UNREADABLE, read_channel_id, read_trigger, read_user
from bot.slack.views.forms import View, input_block, modal
from bot.slack.views.recall_pages import add_page_buttons, render_page
from bot.slack.views.vendor import render_vendor

Body = Mapping[str, Any]
MAX_PAGE = 10


def register(app: AsyncApp, deps: UseCases) -> None:
    """Register pages and sharing; before the catch-alls."""

    @app.action(re.compile(rf"{re.escape(ids.PAGE)}\..*"))
    async def turn(ack: BoltCall, body: dict[str, Any], action: dict[str, Any], respond: BoltCall) -> None:
        await ack()
        await tell(respond, await turn_page(deps, body, ids.decode(action.get("value"))), replaces=True)

    @app.action(ids.SHARE)
    async def share(ack: BoltCall, body: dict[str, Any], action: dict[str, Any], client: Any) -> None:
        await ack()
        async with asyncio.timeout(OPEN_WITHIN_S):
            await client.views_open(
                trigger_id=read_trigger(body), view=build_share_view(ids.decode(action.get("value")))
            )

    @app.view(ids.SHARE_VIEW)
    async def shared(ack: BoltCall, body: dict[str, Any]) -> None:
        await share_answer(deps, body)
        await ack()


async def answer_text(deps: UseCases, text: str, viewer: Viewer, page: int = 1, by: str | None = None) -> ChatMessage:
    """The answer to what was typed, for this viewer; shared by `by` it has no buttons. Raises RecordRejected."""
    question = read_question(text, deps.clock.now())
    said = set(question.filters)
    if not question.text and not said & {"vendor", "service", "region"}:
        return deps.surfaces.render_recall_usage()
    if not question.text and said <= {"vendor", "since", "limit"}:
        return await _answer_vendor(deps, question, viewer, text, by)
    if page > 1:
        _, recalled = await recall_precedents(deps, question, viewer)
        return render_page(recalled, question.wording, text, question.limit, page)
    message, count = await answer_question(deps, question, viewer, by=by)
    return message if by else add_page_buttons(message, text, 1, count > question.limit)


async def _answer_vendor(
    deps: UseCases, question: RecallQuestion, viewer: Viewer, text: str, by: str | None
) -> ChatMessage:
    """A vendor's name alone asks what is known of it."""
    records = await deps.store.list_records(viewer, recallable_only=True)
    # counted in a thread: a vendor with thousands of incidents must not hold up who waits for an acknowledgement
    filed = filed_of(await deps.agreed.wrong.said.list_fix_equivalences())
    vendor, since = question.filters["vendor"], question.since
    found = await asyncio.to_thread(vendor_profile, vendor, records, deps.clock.now(), since, deps.names, filed)
    message = render_vendor(found, question.limit, by)
    return message if by or not found.incidents else add_page_buttons(message, text, 1, more=False)


async def turn_page(deps: UseCases, body: Body, said: Mapping[str, Any]) -> ChatMessage:
    """Another page, for who may see it from here now."""
    text, page, channel_id = ids.read_text(said, "q"), said.get("p"), read_channel_id(body)
    if text is None or not isinstance(page, int) or not 1 <= page <= MAX_PAGE:
        raise RecordRejected("", UNREADABLE)
    await require_member(deps.chat, channel_id, read_user(body))
    return await answer_text(deps, text, await require_viewer(deps.chat, channel_id), page)


def build_share_view(said: Mapping[str, Any]) -> View:
    """Asks where to share."""
    text = ids.read_text(said, "q")
    if text is None:
        raise RecordRejected("", UNREADABLE)
    element = {
        "type": "conversations_select",
        "action_id": ids.INPUT,
        "default_to_current_conversation": True,
        "filter": {"include": ["public", "private"], "exclude_bot_users": True},
    }
    hint = "It is asked anew there: people see what they may see, and that you shared it."
    return modal(ids.SHARE_VIEW, "Share", "Share", [input_block(ids.TARGET, "Where", element, hint=hint)], {"q": text})


async def share_answer(deps: UseCases, body: Body) -> None:
    """Ask again for the people of the chosen channel, and post the answer there once. Raises RecordRejected for a place
    where it cannot go."""
    view, user = ids.read_object(body, "view"), read_user(body)
    text, view_id = ids.read_text(ids.decode(view.get("private_metadata")), "q"), ids.read_text(view, "id")
    target = ids.read_conversation(view, ids.TARGET)
    if text is None or view_id is None or target is None:
        raise RecordRejected("", UNREADABLE)
    try:
        channel = await require_recordable_channel(deps.chat, target)
        await require_member(deps.chat, target, user)
    except (ChatRejected, NotAllowedHere) as refused:
        raise RecordRejected(ids.TARGET, str(refused)) from refused
    if not channel.is_joined:
        raise RecordRejected(ids.TARGET, "Invite me to that channel first: /invite @Precedent.")
    message = await answer_text(deps, text, channel.viewer, by=user)
    posting = Posting(Operation.POST, target, build_share_id(view_id), message.text, message.blocks)
    await deps.store.commit(
        Changes(deliveries=(replace(build_outbox_entry(posting, key=build_share_key(target)), urgent=True),))
    )
