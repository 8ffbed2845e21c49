"""What is known of a vendor, as a message. Pure. Must not count anything."""

from __future__ import annotations

from collections.abc import Mapping

from bot.domain.brief.decide import source_line as line_of
from bot.domain.recall.ranking import Precedent, Tier
from bot.domain.reports.vendor_profile import Pattern, VendorProfile
from bot.domain.text.names import counted
from bot.ports.chat import Message
from bot.slack.views.brief.sections import ids_of, in_one_line, record_of, source_line
from bot.slack.views.digest import duration
from bot.slack.views.markup import Block, context, header, person, plain, prose, section

FAILED = 3


def vendor_message(found: VendorProfile, limit: int, by: str | None = None) -> Message:
    """Counts, patterns, the best fix, and the latest incidents; `by` shared it."""
    name = prose(found.vendor, 40)
    told = (context(f"Shared by {person(by)}"),) if by else ()
    if not found.incidents:
        return Message(
            f"Nothing recorded about {name}", (*told, section(f"No incident is recorded that names *{name}*."))
        )
    counts = f"{counted(len(found.incidents), 'incident')} in {counted(found.outages, 'outage')}"
    blocks: list[Block] = [header(plain(f"{found.vendor}: {counts}", 140)), *told, section("\n".join(_facts(found)))]
    if found.patterns:
        blocks.append(section("\n".join(["*What its outages looked like* (memory)", *map(_pattern, found.patterns)])))
    blocks.append(section("\n".join(_fixes(found))))
    listed = [source_line(line_of(Precedent(i, 1.0, Tier.STRONG))) for i in found.incidents[:limit]]
    more = [f"+{len(found.incidents) - limit} more"] if len(found.incidents) > limit else []
    blocks += [context(line) for line in [*listed, *more]]
    return Message(f"{name}: {counts}", tuple(blocks))


def _facts(found: VendorProfile) -> list[str]:
    fault = _sides(found.boundaries) or "not recorded"
    took = f"{duration(found.minutes)} (median of {found.timed})" if found.minutes is not None else "not recorded"
    return [f"*Fault lay with:* {fault}", f"*Time to resolve:* {took}"]


def _sides(boundaries: Mapping[str, int]) -> str:
    return ", ".join(f"{side} in {count}" for side, count in boundaries.items())


def _pattern(pattern: Pattern) -> str:
    signs = " + ".join(prose(sign, 40) for sign in pattern.signs)
    known = sum(pattern.boundaries.values())
    usual = pattern.usual
    side = f"{usual[0]} in {usual[1]} of {known}" if usual else "not known"
    return f"• {signs} → *{side}* ({counted(pattern.outages, 'outage')})"


def _fixes(found: VendorProfile) -> list[str]:
    best = found.fixes.recommendation
    if best is None:
        lines = ["*Best fix:* none is known to have worked"]
    else:
        lines = [
            f"*Best fix ({best.confidence.value}):* {prose(in_one_line(best.fix), 300)}",
            f"{record_of(best)}: {ids_of(best.incidents)}",
        ]
    failed = [f"{prose(in_one_line(f.fix), 80)} ({f.failures}×)" for f in found.fixes.did_not_work[:FAILED]]
    return [*lines, f"*Did not work:* {'; '.join(failed)}"] if failed else lines
