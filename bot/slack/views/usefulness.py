"""Render the report on the bot: what was wrong first, then what it was good for."""

from __future__ import annotations

from bot.domain.reports.usefulness import Ratio, UsefulnessReport, WrongHigh
from bot.domain.text.format import format_count
from bot.ports.chat import ChatMessage
from bot.slack.views.brief.sections import MAX_ID
from bot.slack.views.digest import format_duration
from bot.slack.views.markup import Block, context, format_date, header, link, prose, section

WRONG = 5
NOTHING = "No incident began in this time that you may see here. Imported ones do not count: they had no brief."


def render_report(found: UsefulnessReport, period: str) -> ChatMessage:
    """Return what a team needs to decide whether to keep the bot."""
    heading = f"Report on Precedent: {prose(period, 40)}"
    scope = f"{format_count(found.incidents, 'incident')} in {format_count(found.outages, 'outage')}, of those you may see here"
    if not found.incidents:
        return ChatMessage(heading, (header(heading), section(NOTHING)))
    blocks: tuple[Block, ...] = (
        header(heading),
        section(_format_wrong(found)),
        section("\n".join(_format_lines(found))),
    )
    return ChatMessage(f"{heading}: {scope}", (*blocks, context(scope)))


def _format_wrong(found: UsefulnessReport) -> str:
    if not found.high:
        return "No fix was recommended with HIGH confidence."
    untold = f"; {found.high_untold} were never recorded" if found.high_untold else ""
    headline = f"*HIGH and wrong: {len(found.wrong_high)} of {found.high}*{untold}"
    more = [f"+{len(found.wrong_high) - WRONG} more"] if len(found.wrong_high) > WRONG else []
    return "\n".join([headline, *(_format_wrong_one(w) for w in found.wrong_high[:WRONG]), *more])


def _format_wrong_one(wrong: WrongHigh) -> str:
    instead = f"; what worked: {prose(wrong.instead, 120)}" if wrong.instead else ""
    name = link(wrong.url, wrong.incident_id, MAX_ID)
    return f":warning: {name} {format_date(wrong.at)} {prose(wrong.title, 80)}: {prose(wrong.fix, 120)} was not it{instead}"


def _format_lines(found: UsefulnessReport) -> list[str]:
    took = found.minutes_to_record
    median = f", {format_duration(took)} after the alert cleared (median)" if took is not None else ""
    return [
        f"• *Acted on:* a fix that was shown was used in {_format_share(found.acted_on)} worked outages"
        f" (one was shown in {found.shown.part})",
        f"• *Precedents right:* {_format_share(found.right)} that somebody judged; {found.unjudged} not judged",
        f"• *Recorded:* {_format_share(found.recorded)} incidents that are over{median}",
        f"• *Messages:* {found.posts} posted, {found.posts_per_outage or 0:g} for each outage",
    ]


def _format_share(share: Ratio) -> str:
    percent = f" ({share.percent} %)" if share.percent is not None else ""
    return f"{share.part} of {share.of}{percent}"
