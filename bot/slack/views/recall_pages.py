"""Further pages of a look-up, and the buttons under each. Pure. Must not recall anything."""

from __future__ import annotations

from bot.domain.brief.decide import build_source_line as line_of
from bot.domain.recall.ranking import Recalled, Tier
from bot.ports.chat import ChatMessage
from bot.slack import ids
from bot.slack.views.brief.sections import format_source
from bot.slack.views.markup import Block, actions, context, header, plain_text, prose

LISTED = (Tier.STRONG, Tier.POSSIBLE)


def add_page_buttons(message: ChatMessage, text: str, page: int, more: bool) -> ChatMessage:  # noqa: FBT001  # whether a page follows
    """The message with its buttons; none where the question is too long to travel with them."""
    try:
        values = {n: ids.encode({"q": text, "p": n}) for n in (page - 1, page, page + 1)}
    except ValueError:
        return message
    row = [_build_button("Previous", f"{ids.PAGE}.previous", values[page - 1])] if page > 1 else []
    row += [_build_button("Next", f"{ids.PAGE}.next", values[page + 1])] if more else []
    row.append(_build_button("Share…", ids.SHARE, values[page]))
    return ChatMessage(message.text, (*message.blocks, actions(ids.RECALL_ACTIONS, row)))


def _build_button(label: str, action_id: str, value: str) -> dict[str, object]:
    return {"type": "button", "action_id": action_id, "text": plain_text(label), "value": value}


def count_listed(recalled: Recalled) -> int:
    """How many precedents can be paged through."""
    return sum(1 for p in recalled.precedents if p.tier in LISTED)


def render_page(recalled: Recalled, asked: str, text: str, limit: int, page: int) -> ChatMessage:
    """The precedents of one page, strong ones first; possible ones are marked."""
    listed = [p for tier in LISTED for p in recalled.precedents if p.tier is tier]
    shown = listed[limit * (page - 1) : limit * page]
    if not shown:
        return add_page_buttons(ChatMessage("No more", (context("There are no more."),)), text, page, more=False)
    first = limit * (page - 1) + 1
    heading = f"Precedents {first}–{first + len(shown) - 1} of {len(listed)}"
    marks = {Tier.STRONG: "", Tier.POSSIBLE: "_possible, not counted:_ "}
    lines: list[Block] = [context(marks[p.tier] + format_source(line_of(p), why=True)) for p in shown]
    blocks = (header(heading), context(f"You asked: {prose(asked, 200)}"), *lines)
    return add_page_buttons(ChatMessage(heading, blocks), text, page, more=len(listed) > limit * page)
