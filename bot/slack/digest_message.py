"""The digest as a message: the counts with their trend, the families that recur, then news of fixes, vendors and memory.

Pure. Must not count anything.
"""

from __future__ import annotations

from bot.domain.digest import Digest, RecurringFamily
from bot.domain.track_record import FixNews, VendorLine
from bot.ports.chat import Message
from bot.slack.brief_blocks import MAX_TEXT
from bot.slack.brief_parts import ids_of, in_one_line, joined
from bot.slack.markup import Block, context, day, header, plain, prose, section, text_size

FAMILIES = 8
NEWS = 3


def digest_message(digest: Digest) -> Message:
    """What a period brought, the families that recur most first, in at most 2,000 characters: families give way last."""
    heading = f"Digest: {plain(digest.period, 60)}"
    counts = digest_counts(digest)
    top: tuple[Block, ...] = (header(heading), section("\n".join([counts, *trend(digest)])))
    families, news = [family_line(f) for f in digest.families[:FAMILIES]], _news(digest)
    while True:
        body = (section("\n".join([*families, *_more(digest, len(families))])),) if digest.families else _nothing()
        blocks = (*top, *body, *((context("\n".join(news)),) if news else ()))
        if text_size(blocks) <= MAX_TEXT or not (families or news):
            return Message(f"{heading}: {counts}", blocks)
        if news and (len(families) <= NEWS or len(news) > NEWS):
            news.pop()
        else:
            families.pop()


def _nothing() -> tuple[Block, ...]:
    return (context("Nothing came more than once."),)


def _more(digest: Digest, shown: int) -> list[str]:
    left = len(digest.families) - shown
    if not left:
        return []
    return [f"+{left} more" if shown else f"{left} {'family' if left == 1 else 'families'} came more than once"]


def digest_counts(digest: Digest) -> str:
    """How many incidents there were and how they stand; "still open" only where one is."""
    came = f"{digest.incidents} incident{'' if digest.incidents == 1 else 's'}"
    still = f", {digest.open} still open" if digest.open else ""
    return f"{came}, {digest.resolved} resolved, {digest.unrecorded} cleared with no recorded fix{still}"


def trend(digest: Digest) -> list[str]:
    """The period against the one before, where either brought anything; how often memory had no answer."""
    lines = []
    if digest.incidents_before or digest.minutes is not None:
        spent = f", {duration(digest.minutes)} in all" if digest.minutes is not None else ""
        before = f" ({duration(digest.minutes_before)})" if digest.minutes_before is not None else ""
        lines.append(f"{_change(digest.incidents, digest.incidents_before)}{spent}{before}")
    if digest.briefs:
        lines.append(f"Memory had no answer for {digest.abstained} of {digest.briefs} alerts")
    return lines


def _change(now: int, before: int) -> str:
    arrow = "▲" if now > before else "▼" if now < before else "="
    return f"{arrow} {before} in the period before"


def duration(minutes: float) -> str:
    """Minutes as people say them: "45 min", "3 h 20 min"."""
    hours, rest = divmod(round(minutes), 60)
    return f"{rest} min" if not hours else f"{hours} h {rest} min" if rest else f"{hours} h"


def family_line(family: RecurringFamily) -> str:
    """One family that recurs; the same workaround more than once means that the permanent fix is missing."""
    where = "/".join(prose(p, 30) for p in (family.service, family.vendor) if p)
    times = f"*{family.times}×* (before: {family.times_before})"
    took = duration(family.minutes) if family.minutes is not None else None
    open_end = f"{family.unrecorded} with no recorded fix" if family.unrecorded else None
    head = joined((f"• {times} {prose(family.title, 80)}", where, took, open_end, ids_of(family.incidents)))
    if not family.workaround:
        return head
    said = f"Worked {family.workaround_times}×: {prose(family.workaround, 140)}"
    return f"{head}\n   {said} – *permanent fix missing*"


def _news(digest: Digest) -> list[str]:
    """Fixes that stopped working first: they are what the next person would follow."""
    lines = [_stopped(f) for f in digest.stopped[:NEWS]]
    lines += [_vendor(v) for v in digest.vendors[:NEWS]]
    return [*lines, *(_unused(f) for f in digest.unused[:NEWS])]


def _stopped(found: FixNews) -> str:
    return (
        f":warning: *Stopped working:* {prose(in_one_line(found.fix), 100)} (worked in {found.worked}, last"
        f" {day(found.last_worked)}; failed in {ids_of(found.incidents)})"
    )


def _unused(found: FixNews) -> str:
    worked = f"{ids_of(found.incidents)}, {day(found.last_worked)}"
    return f"*Not used for 180 days:* {prose(in_one_line(found.fix), 100)} (last {worked})"


def _vendor(line: VendorLine) -> str:
    took = f", {duration(line.minutes)}" if line.minutes is not None else ""
    times = f"{line.outages} outage{'' if line.outages == 1 else 's'} (before: {line.outages_before})"
    return f"*{prose(line.vendor, 30)}* {times}, at fault in {line.at_fault}{took}"
