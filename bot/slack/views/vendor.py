"""What is known of a vendor, as a message. Pure. Must not count anything."""

from __future__ import annotations

from collections.abc import Mapping

from bot.domain.brief.decide import build_source_line as line_of
from bot.domain.recall.ranking import Precedent, Tier
from bot.domain.reports.vendor_profile import VendorPattern, VendorProfile
from bot.domain.text.names import format_count
from bot.ports.chat import ChatMessage
from bot.slack.views.brief.sections import format_fix_line, format_ids, format_source, format_track_record
from bot.slack.views.digest import format_duration
from bot.slack.views.markup import Block, context, format_user, header, plain, prose, section

FAILED = 3


def render_vendor(found: VendorProfile, limit: int, by: str | None = None) -> ChatMessage:
    """Counts, patterns, the best fix, and the latest incidents; `by` shared it."""
    name = prose(found.vendor, 40)
    told = (context(f"Shared by {format_user(by)}"),) if by else ()
    if not found.incidents:
        return ChatMessage(
            f"Nothing recorded about {name}", (*told, section(f"No incident is recorded that names *{name}*."))
        )
    counts = f"{format_count(len(found.incidents), 'incident')} in {format_count(found.outages, 'outage')}"
    blocks: list[Block] = [
        header(plain(f"{found.vendor}: {counts}", 140)),
        *told,
        section("\n".join(_format_facts(found))),
    ]
    if found.patterns:
        blocks.append(
            section("\n".join(["*What its outages looked like* (memory)", *map(_format_pattern, found.patterns)]))
        )
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
    usual = pattern.usual
    side = f"{usual[0]} in {usual[1]} of {known}" if usual else "not known"
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
    failed = [f"{prose(format_fix_line(f.fix), 80)} ({f.failures}×)" for f in found.fixes.did_not_work[:FAILED]]
    return [*lines, f"*Did not work:* {'; '.join(failed)}"] if failed else lines
