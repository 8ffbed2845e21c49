"""Put a brief into one message: which parts, in which order, and which parts get shorter when it is too long."""

from __future__ import annotations

from collections.abc import Mapping

from bot.domain.brief.decide import Brief
from bot.ports.chat import ChatMessage
from bot.slack.views.brief import evidence
from bot.slack.views.brief import sections as part
from bot.slack.views.brief.buttons import build_buttons
from bot.slack.views.brief.sections import Blocks, Levels
from bot.slack.views.markup import Block, context, count_text, format_user, prose, section

# Parts that share a block with the part before them: twelve blocks are all there is.
JOINS = {
    "same_outage": "state",
    "then": "boundary",
    "later": "skip",
    "alternatives": "did_not_work",
    "runbooks": "sources",
    "possible": "sources",
}
MAX_BLOCKS = 12
MAX_TEXT = 2000

# What gives way, least important first: the part, and the form it takes then. Each row is applied only while the message
# is still too long.
SHORTENING_ORDER: tuple[tuple[str, int], ...] = (
    ("possible", 1),
    ("runbooks", 1),
    ("sources", 1),
    ("later", 1),
    ("alternatives", 1),
    ("then", 1),
    ("skip", 1),
    ("now", 1),
    ("steps", 1),
    ("boundary", 1),
    ("did_not_work", 1),
    ("skip", 2),
    ("steps", 2),
    ("now", 2),
    ("then", 2),
    ("same_outage", 1),
    ("state", 1),
    ("missing", 1),
    ("sources", 2),
    ("collect", 1),
    ("did_not_work", 2),
    ("skip", 3),
    ("signs", 1),
    ("steps", 3),
    ("now", 3),
)
SHORTENED_NAMES = {
    "possible": "possibly related incidents",
    "runbooks": "runbooks",
    "sources": "titles of sources",
    "later": "checks for later",
    "alternatives": "other fixes",
    "skip": "checks to skip",
    "steps": "steps",
    "boundary": "root cause",
    "did_not_work": "fixes that failed",
    "now": "values seen now",
    "then": "values seen then",
}


def render_brief(brief: Brief, tell: str | None = None) -> ChatMessage:
    """Return the brief as the thread shows it. `tell`: the user group or person to mention."""
    parts = _build_parts(brief) | {"state": part.render_state(brief, tell)}
    return ChatMessage(part.format_verdict(brief), fit_parts(parts))


def render_superseded(brief: Brief) -> ChatMessage:
    """Return a changed recommendation, which replaces the one above."""
    parts = {"title": (part.render_title(brief),), "changed": (_CHANGED,), "steps": part.render_steps(brief)}
    parts |= {"sources": part.render_sources(brief), "buttons": (build_buttons(brief),)}
    return ChatMessage(part.format_verdict(brief), fit_parts(parts))


def render_recalled(brief: Brief, asked: str, limit: int, by: str | None = None) -> ChatMessage:
    """Return what memory holds on a question: the same parts, without an incident to act on. `by`: who shares it."""
    who = f"Shared by {format_user(by)}, who asked" if by else "You asked"
    parts = _build_parts(brief) | {"state": ((context(f"{who}: {prose(asked, 200)}"),),), "buttons": ((),)}
    lines = [part.format_source(s, why=True) for s in brief.sources[:limit]]
    near = [part.format_source(s, why=True) for s in brief.possible[: max(0, limit - len(lines))]]
    forms = tuple(_render_sources(lines[:n], near[:n]) for n in (limit, 5, 3, 2))
    parts |= {"sources": (*forms, *(part.render_sources(brief)[2:] or ((),))), "possible": ((),)}
    return ChatMessage(part.format_verdict(brief), fit_parts(parts, RECALL_SHORTENING_ORDER))


RECALL_SHORTENING_ORDER = (
    ("sources", 1),
    ("later", 1),
    ("alternatives", 1),
    ("sources", 2),
    *SHORTENING_ORDER,
    ("sources", 3),
    ("sources", 4),
)
_CHANGED: Blocks = (section("*The recommendation has changed.* These steps replace the ones above."),)


def _render_sources(lines: list[str], near: list[str]) -> Blocks:
    strong = ["*SOURCES*", *lines] if lines else []
    possible = ["*Possible, not counted*", *near] if near else []
    return (context("\n".join([*strong, *possible])),) if strong or possible else ()


def _build_parts(brief: Brief) -> dict[str, Levels]:
    opening: dict[str, Levels] = {"title": (part.render_title(brief),), "state": part.render_state(brief)}
    opening["same_outage"] = part.render_same_outage(brief)
    opening["now"] = evidence.render_now(brief)
    closing: dict[str, Levels] = {"buttons": (build_buttons(brief),)}
    if brief.memory_mode != "on":
        return opening | {"signs": part.render_signs(brief), "collect": part.render_collect(brief)} | closing
    opening["missing"] = part.render_missing(brief)
    if brief.insufficient_memory and brief.incident and brief.incident.state == "resolved":
        return opening | closing
    if brief.insufficient_memory:
        return (
            opening | {"insufficient": part.render_insufficient(brief), "collect": part.render_collect(brief)} | closing
        )
    return opening | _build_memory_parts(brief) | closing


def _build_memory_parts(brief: Brief) -> dict[str, Levels]:
    return {
        "boundary": part.render_boundary(brief),
        "then": evidence.render_then(brief),
        "steps": part.render_steps(brief),
        "skip": part.render_skip(brief.skip),
        "later": part.render_later(brief.later),
        "did_not_work": part.render_did_not_work(brief.did_not_work),
        "alternatives": part.render_alternatives(brief.alternatives),
        "sources": part.render_sources(brief),
        "runbooks": part.render_runbooks(brief.runbooks),
        "possible": part.render_possible(brief.possible),
    }


def fit_parts(parts: Mapping[str, Levels], gives_way: tuple[tuple[str, int], ...] = SHORTENING_ORDER) -> Blocks:
    """Return the blocks within the limits, with a line that says what was left out for length."""
    chosen = dict.fromkeys(parts, 0)
    cut: dict[str, None] = {}
    rows = iter(gives_way)
    while not _fits(blocks := _assemble(parts, chosen, tuple(cut))):
        row = next(rows, None)
        if row is None:
            break
        name, level = row
        if chosen.get(name, level) < level < len(parts[name]):
            chosen[name] = level
            cut.setdefault(SHORTENED_NAMES.get(name, ""))
    return blocks


def join_blocks(first: Block, second: Block) -> Block:
    """Return two sections, or two lines of small print, as one."""
    if first["type"] == "context":
        return context(f"{first['elements'][0]['text']}\n{second['elements'][0]['text']}")
    return section(f"{first['text']['text']}\n{second['text']['text']}")


def _fits(blocks: Blocks) -> bool:
    return len(blocks) <= MAX_BLOCKS and count_text(blocks) <= MAX_TEXT


def _assemble(parts: Mapping[str, Levels], chosen: Mapping[str, int], cut: tuple[str, ...]) -> Blocks:
    body: list[Block] = []
    for name in parts:
        blocks = parts[name][chosen[name]] if name != "buttons" else ()
        before = JOINS.get(name, "")
        if blocks and before in parts and parts[before][chosen[before]]:
            body[-1] = join_blocks(body[-1], blocks[0])
        else:
            body += blocks
    named = ", ".join(c for c in cut if c)
    note = [context(f"_Shortened for length: {named}._")] if named else []
    return (*body, *note, *parts["buttons"][0])
