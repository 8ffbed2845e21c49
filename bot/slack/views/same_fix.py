"""The question “Same fix?” in Details, with what is counted now and the button that says the other. Pure. Must not decide."""

from __future__ import annotations

from collections.abc import Sequence

from bot.domain.fixes.grouping import FixPair
from bot.domain.fixes.steps import split_steps
from bot.slack import ids
from bot.slack.views.brief.sections import MAX_ID
from bot.slack.views.markup import Block, plain_text, prose, section

HEADING = "*SAME FIX?* What you say holds from the next brief on; `precedent fixes` lists and undoes it, too."


def render_same_fix(pairs: Sequence[FixPair]) -> list[Block]:
    """Each pair with its button; nothing for no pairs."""
    return [section(HEADING), *(_render_pair(pair) for pair in pairs)] if pairs else []


def build_pair_value(pair: FixPair) -> dict[str, str]:
    """What the button of a pair carries."""
    return {"a": ids.hash_fix(pair.one.fix), "b": ids.hash_fix(pair.other.fix)}


def _render_pair(pair: FixPair) -> Block:
    now = "counted as one fix" if pair.same else "counted as two fixes"
    one, other = (f"“{_format_fix(w.fix)}” ({prose(w.incident_id, MAX_ID)})" for w in (pair.one, pair.other))
    label, action = ("Different fixes", ids.OTHER_FIXES) if pair.same else ("Same fix", ids.SAME_FIX)
    button = {
        "type": "button",
        "action_id": action,
        "text": plain_text(label),
        "value": ids.encode(build_pair_value(pair)),
    }
    return {**section(f"{one} and {other}: {now}"), "accessory": button}


def _format_fix(fix: str) -> str:
    return prose("; ".join(split_steps(fix)) or fix, 150)
