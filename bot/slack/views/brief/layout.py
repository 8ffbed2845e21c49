"""The brief as one message: which parts, in which order, and what gives way when it is too long.

Pure. Must not say anything that the brief does not say.
"""

from __future__ import annotations

from collections.abc import Mapping

from bot.domain.brief.decide import Brief
from bot.ports.chat import Message
from bot.slack.views.brief import evidence
from bot.slack.views.brief import sections as part
from bot.slack.views.brief.buttons import buttons
from bot.slack.views.brief.sections import Blocks, Levels
from bot.slack.views.markup import Block, context, person, prose, section, text_size

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
GIVES_WAY: tuple[tuple[str, int], ...] = (
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
NAMES = {
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


def brief_message(brief: Brief, tell: str | None = None) -> Message:
    """The brief as the thread shows it; `tell` is mentioned."""
    parts = _parts(brief) | {"state": part.state(brief, tell)}
    return Message(part.verdict(brief), within(parts))


def changed_message(brief: Brief) -> Message:
    """A recommendation that replaces the one above."""
    parts = {"title": (part.title(brief),), "changed": (_CHANGED,), "steps": part.steps(brief)}
    parts |= {"sources": part.sources(brief), "buttons": (buttons(brief),)}
    return Message(part.verdict(brief), within(parts))


def recalled_message(brief: Brief, asked: str, limit: int, by: str | None = None) -> Message:
    """What memory holds on a question: the same parts, without an incident to act on. `by`: who shares it."""
    who = f"Shared by {person(by)}, who asked" if by else "You asked"
    parts = _parts(brief) | {"state": ((context(f"{who}: {prose(asked, 200)}"),),), "buttons": ((),)}
    lines = [part.source_line(s, why=True) for s in brief.sources[:limit]]
    near = [part.source_line(s, why=True) for s in brief.possible[: max(0, limit - len(lines))]]
    forms = tuple(_listed(lines[:n], near[:n]) for n in (limit, 5, 3, 2))
    parts |= {"sources": (*forms, *(part.sources(brief)[2:] or ((),))), "possible": ((),)}
    return Message(part.verdict(brief), within(parts, RECALL_GIVES_WAY))


RECALL_GIVES_WAY = (
    ("sources", 1),
    ("later", 1),
    ("alternatives", 1),
    ("sources", 2),
    *GIVES_WAY,
    ("sources", 3),
    ("sources", 4),
)
_CHANGED: Blocks = (section("*The recommendation has changed.* These steps replace the ones above."),)


def _listed(lines: list[str], near: list[str]) -> Blocks:
    strong = ["*SOURCES*", *lines] if lines else []
    possible = ["*Possible, not counted*", *near] if near else []
    return (context("\n".join([*strong, *possible])),) if strong or possible else ()


def _parts(brief: Brief) -> dict[str, Levels]:
    opening: dict[str, Levels] = {"title": (part.title(brief),), "state": part.state(brief)}
    opening["same_outage"] = part.same_outage(brief)
    opening["now"] = evidence.now(brief)
    closing: dict[str, Levels] = {"buttons": (buttons(brief),)}
    if brief.memory_mode != "on":
        return opening | {"signs": part.signs(brief), "collect": part.collect(brief)} | closing
    opening["missing"] = part.missing(brief)
    if brief.insufficient_memory and brief.incident and brief.incident.state == "resolved":
        return opening | closing
    if brief.insufficient_memory:
        return opening | {"insufficient": part.insufficient(brief), "collect": part.collect(brief)} | closing
    return opening | _from_memory(brief) | closing


def _from_memory(brief: Brief) -> dict[str, Levels]:
    return {
        "boundary": part.boundary(brief),
        "then": evidence.then(brief),
        "steps": part.steps(brief),
        "skip": part.skip(brief.skip),
        "later": part.later(brief.later),
        "did_not_work": part.did_not_work(brief.did_not_work),
        "alternatives": part.alternatives(brief.alternatives),
        "sources": part.sources(brief),
        "runbooks": part.runbooks(brief.runbooks),
        "possible": part.possible(brief.possible),
    }


def within(parts: Mapping[str, Levels], gives_way: tuple[tuple[str, int], ...] = GIVES_WAY) -> Blocks:
    """The blocks within the limits, with a line that says what was left out for length."""
    chosen = dict.fromkeys(parts, 0)
    cut: dict[str, None] = {}
    rows = iter(gives_way)
    while not _fits(blocks := _assembled(parts, chosen, tuple(cut))):
        row = next(rows, None)
        if row is None:
            break
        name, level = row
        if chosen.get(name, level) < level < len(parts[name]):
            chosen[name] = level
            cut.setdefault(NAMES.get(name, ""))
    return blocks


def joined_block(first: Block, second: Block) -> Block:
    """Two sections, or two lines of small print, as one."""
    if first["type"] == "context":
        return context(f"{first['elements'][0]['text']}\n{second['elements'][0]['text']}")
    return section(f"{first['text']['text']}\n{second['text']['text']}")


def _fits(blocks: Blocks) -> bool:
    return len(blocks) <= MAX_BLOCKS and text_size(blocks) <= MAX_TEXT


def _assembled(parts: Mapping[str, Levels], chosen: Mapping[str, int], cut: tuple[str, ...]) -> Blocks:
    body: list[Block] = []
    for name in parts:
        blocks = parts[name][chosen[name]] if name != "buttons" else ()
        before = JOINS.get(name, "")
        if blocks and before in parts and parts[before][chosen[before]]:
            body[-1] = joined_block(body[-1], blocks[0])
        else:
            body += blocks
    named = ", ".join(c for c in cut if c)
    note = [context(f"_Shortened for length: {named}._")] if named else []
    return (*body, *note, *parts["buttons"][0])
