"""Render the digest: the counts with their trend, the families that recur, then news of fixes, vendors and memory."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from bot.domain.reports.digest import Digest, RecurringFamily
from bot.domain.reports.trends import FixNews, VendorLine
from bot.ports.chat import ChatMessage
from bot.slack.views.brief.layout import MAX_TEXT
from bot.slack.views.brief.sections import MAX_ID, format_fix_line, join_parts
from bot.slack.views.markup import Block, context, count_text, format_date, header, link, plain, prose, section

FAMILIES = 8
NEWS = 3
LINKED = 3
MAX_BLOCK = 2900
_LINK = re.compile(r"<(https?://[^|<>]+)\|")


def render_digest(digest: Digest) -> ChatMessage:
    """Return what a period brought, in at most 2,000 visible characters.

    Families come most frequent first and are dropped last. As many incidents are linked as leave the rest in place.
    """
    return max((_fit_digest(digest, linked) for linked in (LINKED, 1, 0)), key=lambda found: found[:2])[2]


def _fit_digest(digest: Digest, linked: int) -> tuple[int, int, ChatMessage]:
    """Return how many lines are shown, how many links each has, and the message."""
    heading = f"Digest: {plain(digest.period, 60)}"
    counts = format_digest_counts(digest)
    top: tuple[Block, ...] = (header(heading), section("\n".join([counts, *format_trend(digest)])))
    urls = digest.urls
    families = [format_family(f, urls, linked) for f in digest.families[:FAMILIES]]
    news = _format_news(digest, linked)
    while True:
        body = (
            (section("\n".join([*families, *_format_more(digest, len(families))])),)
            if digest.families
            else _render_empty()
        )
        blocks = (*top, *body, *((context("\n".join(news)),) if news else ()))
        if _fits(blocks) or not (families or news):
            return len(families) + len(news), linked, ChatMessage(f"{heading}: {counts}", blocks)
        if news and (len(families) <= NEWS or len(news) > NEWS):
            news.pop()
        else:
            families.pop()


def _fits(blocks: tuple[Block, ...]) -> bool:
    """Tell whether the visible text is short enough, and each block as sent within Slack's own limit."""
    hidden = sum(len(url) + 3 for block in blocks for url in _LINK.findall(str(block)))
    return count_text(blocks) - hidden <= MAX_TEXT and all(count_text((block,)) <= MAX_BLOCK for block in blocks)


def format_linked_ids(incidents: Sequence[str], urls: Mapping[str, str], linked: int) -> str:
    """Return the first incident ids, the first `linked` of them as links to their threads; and how many more there
    are."""
    shown = [link(urls.get(i) if n < linked else None, i, MAX_ID) for n, i in enumerate(incidents[:LINKED])]
    more = f" +{len(incidents) - LINKED}" if len(incidents) > LINKED else ""
    return ", ".join(shown) + more


def _render_empty() -> tuple[Block, ...]:
    return (context("Nothing came more than once."),)


def _format_more(digest: Digest, shown: int) -> list[str]:
    left = len(digest.families) - shown
    if not left:
        return []
    return [f"+{left} more" if shown else f"{left} {'family' if left == 1 else 'families'} came more than once"]


def format_digest_counts(digest: Digest) -> str:
    """Return how many incidents there were and how they ended; "still open" only where one is."""
    came = f"{digest.incidents} incident{'' if digest.incidents == 1 else 's'}"
    still = f", {digest.open} still open" if digest.open else ""
    return f"{came}, {digest.resolved} resolved, {digest.unrecorded} cleared with no recorded fix{still}"


def format_trend(digest: Digest) -> list[str]:
    """Return the period against the one before, where either had incidents; how often memory had no answer."""
    lines = []
    if digest.incidents_before or digest.minutes is not None:
        spent = f", {format_duration(digest.minutes)} in all" if digest.minutes is not None else ""
        before = f" ({format_duration(digest.minutes_before)})" if digest.minutes_before is not None else ""
        lines.append(f"{_format_change(digest.incidents, digest.incidents_before)}{spent}{before}")
    if digest.briefs:
        lines.append(f"Memory had no answer for {digest.abstained} of {digest.briefs} alerts")
    return lines


def _format_change(now: int, before: int) -> str:
    arrow = "▲" if now > before else "▼" if now < before else "="
    return f"{arrow} {before} in the period before"


def format_duration(minutes: float) -> str:
    """Return minutes in words: "45 min", "3 h 20 min"."""
    hours, rest = divmod(round(minutes), 60)
    return f"{rest} min" if not hours else f"{hours} h {rest} min" if rest else f"{hours} h"


def format_family(family: RecurringFamily, urls: Mapping[str, str], linked: int) -> str:
    """Return one family that recurs; the same workaround more than once means that the permanent fix is missing."""
    where = "/".join(prose(p, 30) for p in (family.service, family.vendor) if p)
    times = f"*{family.times}×* (before: {family.times_before})"
    took = format_duration(family.minutes) if family.minutes is not None else None
    open_end = f"{family.unrecorded} with no recorded fix" if family.unrecorded else None
    head = join_parts(
        (
            f"• {times} {prose(family.title, 80)}",
            where,
            took,
            open_end,
            format_linked_ids(family.incidents, urls, linked),
        )
    )
    if not family.workaround:
        return head
    worked = f"Worked {family.workaround_times}×: {prose(family.workaround, 140)}"
    return f"{head}\n   {worked} – *permanent fix missing*"


def _format_news(digest: Digest, linked: int) -> list[str]:
    """Return fixes that stopped working first: they are what the next person would follow."""
    lines = [_format_stopped(f, format_linked_ids(f.incidents, digest.urls, linked)) for f in digest.stopped[:NEWS]]
    lines += [_format_vendor(v) for v in digest.vendors[:NEWS]]
    return [
        *lines,
        *(_format_unused(f, format_linked_ids(f.incidents, digest.urls, linked)) for f in digest.unused[:NEWS]),
    ]


def _format_stopped(found: FixNews, where: str) -> str:
    return (
        f":warning: *Stopped working:* {prose(format_fix_line(found.fix), 100)} (worked in {found.worked}, last"
        f" {format_date(found.last_worked)}; failed in {where})"
    )


def _format_unused(found: FixNews, where: str) -> str:
    worked = f"{where}, {format_date(found.last_worked)}"
    return f"*Not used for 180 days:* {prose(format_fix_line(found.fix), 100)} (last {worked})"


def _format_vendor(line: VendorLine) -> str:
    took = f", {format_duration(line.minutes)}" if line.minutes is not None else ""
    times = f"{line.outages} outage{'' if line.outages == 1 else 's'} (before: {line.outages_before})"
    return f"*{prose(line.vendor, 30)}* {times}, at fault in {line.at_fault}{took}"
