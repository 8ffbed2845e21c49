"""Answers of `/recall`: further pages, what is known of a vendor, the buttons under each, and the modal that shares one."""

from __future__ import annotations

from collections.abc import Mapping

from bot.domain.brief.decide import build_source_line as line_of
from bot.domain.recall.ranking import Precedent, Recalled, Tier
from bot.domain.reports.vendor_profile import VendorPattern, VendorProfile
from bot.domain.text.format import format_count
from bot.ports.chat import ChatMessage
from bot.slack import ids
from bot.slack.payload import encode
from bot.slack.views.brief.sections import format_fix_line, format_ids, format_source, format_track_record
from bot.slack.views.digest import format_duration
from bot.slack.views.forms import View, button, input_block, modal
from bot.slack.views.markup import Block, actions, context, format_user, header, plain, prose, section

LISTED = (Tier.STRONG, Tier.POSSIBLE)
MAX_FAILED = 3


def add_page_buttons(message: ChatMessage, text: str, page: int, *, more: bool) -> ChatMessage:
    """Return the message with its buttons; `more`: another page follows. Without buttons where the question is too long to
    travel with them."""
    try:
        values = {n: encode({"q": text, "p": n}) for n in (page - 1, page, page + 1)}
    except ValueError:
        return message
    row = [button(f"{ids.PAGE}.previous", "Previous", values[page - 1])] if page > 1 else []
    row += [button(f"{ids.PAGE}.next", "Next", values[page + 1])] if more else []
    row.append(button(ids.SHARE, "Share…", values[page]))
    return ChatMessage(message.text, (*message.blocks, actions(ids.RECALL_ACTIONS, row)))


def count_listed(recalled: Recalled) -> int:
    """Return how many precedents can be paged through."""
    return sum(1 for p in recalled.precedents if p.tier in LISTED)


def render_page(recalled: Recalled, asked: str, text: str, limit: int, page: int) -> ChatMessage:
    """Return the precedents of one page, strong ones first; possible ones are marked."""
    listed = [p for tier in LISTED for p in recalled.precedents if p.tier is tier]
    shown = listed[limit * (page - 1) : limit * page]
    if not shown:
        end = ChatMessage("No more", (context("There are no more."),))
        return add_page_buttons(end, text, page, more=False)
    first = limit * (page - 1) + 1
    heading = f"Precedents {first}–{first + len(shown) - 1} of {len(listed)}"
    marks = {Tier.STRONG: "", Tier.POSSIBLE: "_possible, not counted:_ "}
    lines: list[Block] = [context(marks[p.tier] + format_source(line_of(p), why=True)) for p in shown]
    blocks = (header(heading), context(f"You asked: {prose(asked, 200)}"), *lines)
    return add_page_buttons(ChatMessage(heading, blocks), text, page, more=len(listed) > limit * page)


def build_share_view(text: str) -> View:
    """Return the modal that asks where to share the answer to a question."""
    element = {
        "type": "conversations_select",
        "action_id": ids.INPUT,
        "default_to_current_conversation": True,
        "filter": {"include": ["public", "private"], "exclude_bot_users": True},
    }
    hint = "It is asked anew there: people see what they may see, and that you shared it."
    return modal(ids.SHARE_VIEW, "Share", "Share", [input_block(ids.TARGET, "Where", element, hint=hint)], {"q": text})


def render_vendor(found: VendorProfile, limit: int, shared_by: str | None = None) -> ChatMessage:
    """Return what is known of a vendor: counts, patterns, the best fix, and the latest incidents."""
    name = prose(found.vendor, 40)
    by = (context(f"Shared by {format_user(shared_by)}"),) if shared_by else ()
    if not found.incidents:
        nothing = section(f"No incident is recorded that names *{name}*.")
        return ChatMessage(f"Nothing recorded about {name}", (*by, nothing))
    counts = f"{format_count(len(found.incidents), 'incident')} in {format_count(found.outages, 'outage')}"
    blocks: list[Block] = [header(plain(f"{found.vendor}: {counts}", 140)), *by]
    blocks.append(section("\n".join(_format_facts(found))))
    if found.patterns:
        lines = ["*What its outages looked like* (memory)", *map(_format_pattern, found.patterns)]
        blocks.append(section("\n".join(lines)))
    blocks.append(section("\n".join(_format_fixes(found))))
    listed = [format_source(line_of(Precedent(i, 1.0, Tier.STRONG))) for i in found.incidents[:limit]]
    more = [f"+{len(found.incidents) - limit} more"] if len(found.incidents) > limit else []
    blocks += [context(line) for line in [*listed, *more]]
    return ChatMessage(f"{name}: {counts}", tuple(blocks))


def _format_facts(found: VendorProfile) -> list[str]:
    fault = _format_sides(found.boundaries) or "not recorded"
    took = (
        f"{format_duration(found.minutes)} (median of {found.timed})" if found.minutes is not None else "not recorded"
    )
    return [f"*Fault lay with:* {fault}", f"*Time to resolve:* {took}"]


def _format_sides(boundaries: Mapping[str, int]) -> str:
    return ", ".join(f"{side} in {count}" for side, count in boundaries.items())


def _format_pattern(pattern: VendorPattern) -> str:
    signs = " + ".join(prose(sign, 40) for sign in pattern.signs)
    known = sum(pattern.boundaries.values())
    side = f"{pattern.usual[0]} in {pattern.usual[1]} of {known}" if pattern.usual else "not known"
    return f"• {signs} → *{side}* ({format_count(pattern.outages, 'outage')})"


def _format_fixes(found: VendorProfile) -> list[str]:
    best = found.fixes.recommendation
    if best is None:
        lines = ["*Best fix:* none is known to have worked"]
    else:
        lines = [
            f"*Best fix ({best.confidence.value}):* {prose(format_fix_line(best.fix), 300)}",
            f"{format_track_record(best)}: {format_ids(best.incidents)}",
        ]
    failed = [f"{prose(format_fix_line(f.fix), 80)} ({f.failures}×)" for f in found.fixes.did_not_work[:MAX_FAILED]]
    return [*lines, f"*Did not work:* {'; '.join(failed)}"] if failed else lines
