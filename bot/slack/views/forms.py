"""What every modal is made of, and what comes back from it. Pure. Must not know what any modal asks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from bot.slack import ids
from bot.slack.views.markup import Block, plain, plain_text

View = dict[str, Any]
MAX_OPTION = 75
END_SHOWN = 50


def modal(callback: str, title: str, submit: str | None, blocks: Sequence[Block], metadata: Mapping[str, Any]) -> View:
    """A modal; `metadata` comes back with the answers."""
    view: View = {
        "type": "modal",
        "callback_id": callback,
        "title": plain_text(title),
        "close": plain_text("Cancel"),
        "blocks": list(blocks),
        "private_metadata": ids.encode(metadata, ids.MAX_METADATA),
    }
    return view | ({"submit": plain_text(submit)} if submit else {})


def option(label: str, value: str) -> dict[str, Any]:
    """One choice of a select."""
    return {"text": plain_text(plain(label, MAX_OPTION) or "(no title)"), "value": value}


def build_options(options: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """Choices of (text, value), each value once. A label holds little of a text: where several are labelled alike their
    ends are shown, too."""
    made = [(text, option(text, value)) for value, text in {value: text for text, value in options}.items()]
    alike = Counter(choice["text"]["text"] for _, choice in made)
    return [choice | (_describe_end(text) if alike[choice["text"]["text"]] > 1 else {}) for text, choice in made]


def _describe_end(text: str) -> dict[str, Any]:
    return {"description": plain_text(plain(f"…{text[-END_SHOWN:]}", MAX_OPTION))} if len(text) > END_SHOWN else {}


def select(
    block_id: str,
    label: str,
    options: list[dict[str, Any]],
    *,
    optional: bool = False,
    initial: dict[str, Any] | None = None,
    hint: str | None = None,
) -> Block:
    """A select of one."""
    element: dict[str, Any] = {"type": "static_select", "action_id": ids.INPUT, "options": options}
    if initial:
        element["initial_option"] = initial
    return input_block(block_id, label, element, optional=optional, hint=hint)


def multi_select(block_id: str, label: str, options: list[dict[str, Any]], hint: str | None = None) -> Block:
    """A select of any number, or none."""
    element: dict[str, Any] = {"type": "multi_static_select", "action_id": ids.INPUT, "options": options}
    return input_block(block_id, label, element, optional=True, hint=hint)


def button(action_id: str, label: str, value: str | None = None) -> dict[str, Any]:
    """A button."""
    made: dict[str, Any] = {"type": "button", "action_id": action_id, "text": plain_text(label)}
    return made | ({"value": value} if value else {})


def input_block(
    block_id: str, label: str, element: Mapping[str, Any], *, optional: bool = False, hint: str | None = None
) -> Block:
    """An input with its label."""
    block: dict[str, Any] = {
        "type": "input",
        "block_id": block_id,
        "label": plain_text(label),
        "optional": optional,
        "element": element,
    }
    return block | ({"hint": plain_text(plain(hint, 300))} if hint else {})


def line_input(block_id: str, label: str, hint: str, initial: str = "", most: int = 300) -> Block:
    """One line of text that may stay empty."""
    element = {"type": "plain_text_input", "action_id": ids.INPUT, "max_length": most}
    return input_block(
        block_id, label, element | ({"initial_value": initial} if initial else {}), optional=True, hint=hint
    )


def multiline_input(block_id: str, label: str, hint: str, more: str | None = None) -> Block:
    """Several lines of text that may stay empty."""
    element = {"type": "plain_text_input", "action_id": ids.INPUT, "multiline": True, "max_length": 3000}
    shown = f"{hint} {more}" if more else hint
    return input_block(block_id, label, element, optional=True, hint=shown)


def read_answers(view: Mapping[str, Any]) -> dict[str, str]:
    """What was typed or chosen, by block id; what was left empty is absent."""
    found = {}
    values = ids.read_object(ids.read_object(view, "state"), "values")
    for block_id in values:
        given = ids.read_object(ids.read_object(values, block_id), ids.INPUT)
        value = ids.read_text(given, "value") or ids.read_text(ids.read_object(given, "selected_option"), "value")
        if value and value.strip():
            found[ids.read_block_base(block_id)] = value.strip()
    return found


def read_selection(view: Mapping[str, Any], block_id: str) -> tuple[str, ...]:
    """What was chosen where several may be: options by value, or conversations by id."""
    given = ids.read_object(
        ids.read_object(ids.read_object(ids.read_object(view, "state"), "values"), block_id), ids.INPUT
    )
    picked = given.get("selected_options") or given.get("selected_conversations")
    rows = picked if isinstance(picked, list) else []
    found = (ids.read_text(row, "value") if isinstance(row, Mapping) else row for row in rows)
    return tuple(value for value in found if isinstance(value, str) and value)


def has_block(view: Mapping[str, Any], block_id: str) -> bool:
    """Whether the view asked this."""
    blocks = view.get("blocks")
    rows = blocks if isinstance(blocks, list) else []
    return any(isinstance(b, Mapping) and b.get("block_id") == block_id for b in rows)
