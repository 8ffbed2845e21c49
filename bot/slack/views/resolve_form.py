"""Change the open resolve modal when its own buttons are pressed: fill in lines of the thread, add fields, add a note.
What was typed stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.domain.text.format import cut
from bot.ports.chat import ThreadMessage
from bot.slack import ids
from bot.slack.payload import Body, read_object, read_objects, read_text
from bot.slack.views.forms import MAX_TEXT, View, read_block_base
from bot.slack.views.markup import Block, context, prose
from bot.slack.views.resolve_modal import build_more_fields

# A line that is longer (a pasted log) is cut: it would push out all others.
MAX_LINE = 600
# What Slack takes of a view when it is updated.
VIEW_FIELDS = ("type", "callback_id", "title", "submit", "close", "blocks", "private_metadata")
NOTHING_WRITTEN = "People wrote nothing in the thread yet."
NO_THREAD = "This incident has no thread that I can read."


def fill_lines(view: Body, target: str, messages: Sequence[ThreadMessage]) -> View:
    """Return the modal with the messages' lines behind what was typed in the input `target`: the newest that fit, in their
    order, none twice."""
    block = next((b for b in read_objects(view, "blocks") if read_block_base(str(b.get("block_id"))) == target), None)
    if block is None:
        return add_note(view, NO_THREAD)
    typed = _read_typed(view, str(block["block_id"]))
    known = set(typed.splitlines())
    lines = (cut(line, MAX_LINE) for message in messages for line in message.text.splitlines())
    fresh = [line for line in lines if line not in known]
    if not fresh:
        return add_note(view, NOTHING_WRITTEN)
    picked = pick_newest(fresh, MAX_TEXT - len(typed) - 1)
    left_out = f" {len(fresh) - len(picked)} older ones did not fit." if len(picked) < len(fresh) else ""
    filled = _replace_text(view, block, "\n".join([*([typed] if typed else []), *picked]))
    return add_note(filled, f"{len(picked)} lines of the thread are in. Take out what is not part of it.{left_out}")


def pick_newest(lines: Sequence[str], room: int) -> list[str]:
    """Return the last lines that fit into so many characters, line breaks included."""
    found: list[str] = []
    for line in reversed(lines):
        room -= len(line) + 1
        if room < 0:
            break
        found.insert(0, line)
    return found


def _read_typed(view: Body, block_id: str) -> str:
    values = read_object(read_object(view, "state"), "values")
    return read_text(read_object(read_object(values, block_id), ids.INPUT), "value") or ""


def add_more_fields(view: Body) -> View:
    """Return the modal with the fields that are seldom needed, in the place of the button that asked for them."""
    return _replace_blocks(view, {ids.MORE_FIELDS: build_more_fields()})


def add_note(view: Body, text: str) -> View:
    """Return the modal with a line under the buttons that says what they did."""
    note = {**context(prose(text, 300)), "block_id": ids.THREAD_NOTE}
    blocks = read_objects(view, "blocks")
    if any(b.get("block_id") == ids.THREAD_NOTE for b in blocks):
        return _replace_blocks(view, {ids.THREAD_NOTE: [note]})
    buttons = [b for b in blocks if b.get("block_id") == ids.FROM_THREAD]
    return _replace_blocks(view, {ids.FROM_THREAD: [*buttons, note]})


def _replace_text(view: Body, block: Block, text: str) -> View:
    """Fill the input again, under a new id: under the old one Slack keeps showing what was typed."""
    block_id = str(block["block_id"])
    base, _, number = block_id.partition("#")
    following = int(number) + 1 if number.isdecimal() else 1
    element = {**read_object(block, "element"), "initial_value": text}
    return _replace_blocks(view, {block_id: [{**block, "block_id": f"{base}#{following}", "element": element}]})


def _replace_blocks(view: Body, others: Mapping[str, Sequence[Block]]) -> View:
    """Return the modal with other blocks in the place of some, by id; in the form in which a view is updated."""
    blocks = [new for b in read_objects(view, "blocks") for new in others.get(str(b.get("block_id")), [b])]
    return {key: view[key] for key in VIEW_FIELDS if view.get(key)} | {"blocks": blocks}
