"""Build the elements of every modal, and read back what a person typed and chose in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from bot.slack import ids
from bot.slack.payload import MAX_METADATA, Body, encode, read_object, read_objects, read_text
from bot.slack.views.markup import Block, plain, plain_text

View = dict[str, Any]
# Slack's limit for an option's label and description, in characters.
MAX_OPTION = 75
END_SHOWN = 50
MAX_TEXT = 3000


def modal(callback: str, title: str, submit: str | None, blocks: Sequence[Block], metadata: Body) -> View:
    """Return a modal; `metadata` comes back with the answers."""
    view: View = {
        "type": "modal",
        "callback_id": callback,
        "title": plain_text(title),
        "close": plain_text("Cancel"),
        "blocks": list(blocks),
        "private_metadata": encode(metadata, MAX_METADATA),
    }
    return view | ({"submit": plain_text(submit)} if submit else {})


def build_info_view(title: str, blocks: Sequence[Block], metadata: Body | None = None) -> View:
    """Return a modal that only shows something; `metadata` comes back when a button in it is pressed."""
    return modal(ids.INFO_VIEW, title, None, blocks, metadata or {}) | {"close": plain_text("Close")}


def option(label: str, value: str) -> dict[str, object]:
    """Return one choice of a select."""
    return {"text": plain_text(plain(label, MAX_OPTION) or "(no title)"), "value": value}


def build_options(options: Sequence[tuple[str, str]]) -> list[dict[str, object]]:
    """Return choices of (text, value), each value once. A label holds little of a text: where several are labelled alike,
    the ends of their texts are shown, too."""
    made = [(text, option(text, value)) for value, text in {value: text for text, value in options}.items()]
    labels = Counter(str(choice["text"]) for _, choice in made)
    return [choice | (_describe_end(text) if labels[str(choice["text"])] > 1 else {}) for text, choice in made]


def _describe_end(text: str) -> dict[str, object]:
    return {"description": plain_text(plain(f"…{text[-END_SHOWN:]}", MAX_OPTION))} if len(text) > END_SHOWN else {}


def select(
    block_id: str,
    label: str,
    options: Sequence[Body],
    *,
    optional: bool = False,
    initial: Body | None = None,
    hint: str | None = None,
) -> Block:
    """Return a select of one."""
    element: dict[str, object] = {"type": "static_select", "action_id": ids.INPUT, "options": list(options)}
    if initial:
        element["initial_option"] = initial
    return input_block(block_id, label, element, optional=optional, hint=hint)


def multi_select(block_id: str, label: str, options: Sequence[Body], hint: str | None = None) -> Block:
    """Return a select of any number, or none."""
    element = {"type": "multi_static_select", "action_id": ids.INPUT, "options": list(options)}
    return input_block(block_id, label, element, optional=True, hint=hint)


def button(action_id: str, label: str, value: str | None = None) -> dict[str, object]:
    """Return a button."""
    made: dict[str, object] = {"type": "button", "action_id": action_id, "text": plain_text(label)}
    return made | ({"value": value} if value else {})


def input_block(block_id: str, label: str, element: Body, *, optional: bool = False, hint: str | None = None) -> Block:
    """Return an input with its label."""
    block: dict[str, object] = {
        "type": "input",
        "block_id": block_id,
        "label": plain_text(label),
        "optional": optional,
        "element": element,
    }
    return block | ({"hint": plain_text(plain(hint, 300))} if hint else {})


def line_input(block_id: str, label: str, hint: str, initial: str = "", most: int = 300) -> Block:
    """Return one line of text that may stay empty."""
    element: dict[str, object] = {"type": "plain_text_input", "action_id": ids.INPUT, "max_length": most}
    element |= {"initial_value": initial} if initial else {}
    return input_block(block_id, label, element, optional=True, hint=hint)


def multiline_input(block_id: str, label: str, hint: str, more: str | None = None) -> Block:
    """Return several lines of text that may stay empty."""
    element = {"type": "plain_text_input", "action_id": ids.INPUT, "multiline": True, "max_length": MAX_TEXT}
    return input_block(block_id, label, element, optional=True, hint=f"{hint} {more}" if more else hint)


def read_answers(view: Body) -> dict[str, str]:
    """Return what was typed or chosen, by block id; an empty input is absent."""
    found = {}
    for block_id in _read_values(view):
        given = _read_input(view, block_id)
        value = read_text(given, "value") or read_text(read_object(given, "selected_option"), "value")
        if value and value.strip():
            found[read_block_base(block_id)] = value.strip()
    return found


def read_selection(view: Body, block_id: str) -> tuple[str, ...]:
    """Return what was chosen where several may be: options by value, or conversations by id."""
    given = _read_input(view, block_id)
    picked = given.get("selected_options") or given.get("selected_conversations")
    rows = picked if isinstance(picked, list) else []
    found = (read_text(row, "value") if isinstance(row, Mapping) else row for row in rows)
    return tuple(value for value in found if isinstance(value, str) and value)


def read_conversation(view: Body, block_id: str) -> str | None:
    """Return the conversation chosen in an input."""
    return read_text(_read_input(view, block_id), "selected_conversation")


def _read_values(view: Body) -> Body:
    return read_object(read_object(view, "state"), "values")


def _read_input(view: Body, block_id: str) -> Body:
    """Return the state of an input of a submitted view."""
    return read_object(read_object(_read_values(view), block_id), ids.INPUT)


def has_block(view: Body, block_id: str) -> bool:
    """Tell whether the view has this block."""
    return any(block.get("block_id") == block_id for block in read_objects(view, "blocks"))


def read_block_base(block_id: str) -> str:
    """Return the block that was asked. One whose text was replaced carries a number behind its id: under the same id Slack
    keeps what was there."""
    return block_id.partition("#")[0]
