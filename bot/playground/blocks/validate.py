"""Find what Slack would refuse in a message or a view, by the tables of `limits`.

Any test with a payload to check may call `validate_message` and `validate_view` on their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bot.playground.blocks import limits
from bot.playground.blocks.limits import Key, Shape


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that Slack refuses: where (a JSON pointer), what, and the error code of the response."""

    pointer: str
    message: str
    error: str = "invalid_blocks"


def validate_message(payload: Mapping[str, Any]) -> list[Problem]:
    """Return the problems of a message's blocks, attachments and metadata; none means that Slack would accept it."""
    problems = _check_surface(payload.get("blocks"), limits.MESSAGE, "/blocks")
    attachments = payload.get("attachments") or []
    if not isinstance(attachments, list) or not all(isinstance(a, dict) for a in attachments):
        return [*problems, Problem("/attachments", "must be a list of objects", "invalid_attachments")]
    if len(attachments) > limits.ATTACHMENTS_MOST:
        problems.append(Problem("/attachments", "no more than 100 attachments allowed", "too_many_attachments"))
    for number, attachment in enumerate(attachments):
        if attachment.get("blocks"):
            problems += _check_surface(attachment["blocks"], limits.MESSAGE, f"/attachments/{number}/blocks")
    problems += _check_metadata(payload.get("metadata"))
    total = _count_text(payload.get("blocks")) + sum(_count_text(a.get("blocks")) for a in attachments)
    if total > limits.MESSAGE_BLOCK_TEXT_MOST:
        problems.append(Problem("/blocks", f"{total} characters of text in all blocks", "msg_blocks_too_long"))
    return problems


def validate_view(view: Mapping[str, Any]) -> list[Problem]:
    """Return the problems of a modal or Home view; none means that Slack would accept it."""
    kind = str(view.get("type"))
    if kind not in limits.VIEWS:
        return [Problem("/view/type", f"unsupported type: {kind}", "invalid_arguments")]
    problems = list(_check_shape(view, limits.VIEWS[kind], "/view"))
    problems += _check_surface(view.get("blocks"), kind, "/view/blocks")
    inputs = [b for b in view.get("blocks") or () if isinstance(b, dict) and b.get("type") == "input"]
    if kind == limits.MODAL and inputs and not view.get("submit"):
        problems.append(Problem("/view/submit", "submit is required when an input block is within blocks"))
    return [Problem(p.pointer, p.message, "invalid_arguments") for p in problems]


def _check_metadata(metadata: Any) -> list[Problem]:
    if metadata in (None, ""):
        return []
    good = isinstance(metadata, dict) and isinstance(metadata.get("event_payload"), dict)
    if good and isinstance(metadata.get("event_type"), str) and metadata["event_type"]:
        return []
    return [Problem("/metadata", "needs event_type and event_payload", "invalid_metadata_format")]


def _check_surface(blocks: Any, surface: str, pointer: str) -> list[Problem]:
    if blocks in (None, ""):
        return []
    if not isinstance(blocks, list):
        return [Problem(pointer, "must be a list of blocks", "invalid_blocks_format")]
    problems: list[Problem] = []
    most = limits.BLOCKS_MOST[surface]
    if len(blocks) > most:
        problems.append(Problem(pointer, f"no more than {most} items allowed"))
    for number, block in enumerate(blocks):
        problems += _check_block(block, surface, f"{pointer}/{number}")
    return [*problems, *_check_across(blocks, pointer)]


def _check_block(block: Any, surface: str, pointer: str) -> Iterator[Problem]:
    if not isinstance(block, dict):
        yield Problem(pointer, "must be an object")
        return
    shape = limits.BLOCKS.get(str(block.get("type")))
    if shape is None:
        yield Problem(f"{pointer}/type", f"unsupported type: {block.get('type')}")
        return
    if surface not in shape.surfaces:
        yield Problem(f"{pointer}/type", f"{block['type']} is not allowed in a {surface}")
    yield from _check_shape(block, shape, pointer)
    if block["type"] == "table":
        yield from _check_table(block.get("rows"), f"{pointer}/rows")


def _check_table(rows: Any, pointer: str) -> Iterator[Problem]:
    if not isinstance(rows, list) or not rows:
        yield Problem(pointer, "must be a list of rows")
        return
    if len(rows) > limits.TABLE_ROWS_MOST:
        yield Problem(pointer, f"no more than {limits.TABLE_ROWS_MOST} items allowed")
    for number, row in enumerate(rows):
        if not isinstance(row, list) or len(row) > limits.TABLE_CELLS_MOST:
            yield Problem(f"{pointer}/{number}", f"must be a list of at most {limits.TABLE_CELLS_MOST} cells")


def _check_across(blocks: list[Any], pointer: str) -> Iterator[Problem]:
    """Check the rules that span a surface: block ids are unique, and some kinds of block occur only once."""
    known = [b for b in blocks if isinstance(b, dict)]
    for block_id, times in Counter(b["block_id"] for b in known if b.get("block_id")).items():
        if times > 1:
            yield Problem(pointer, f"`block_id` must be unique, `{block_id}` already exists")
    kinds = Counter(str(b.get("type")) for b in known)
    for kind, most in limits.KIND_MOST.items():
        if kinds[kind] > most:
            yield Problem(pointer, f"only {most} {kind} allowed", "invalid_blocks")
    markdown = sum(len(str(b.get("text", ""))) for b in known if b.get("type") == "markdown")
    if markdown > limits.MARKDOWN_TEXT_MOST:
        yield Problem(pointer, f"no more than {limits.MARKDOWN_TEXT_MOST} characters of markdown in all blocks")
    for block in known:
        yield from _check_action_ids(block, pointer)


def _check_action_ids(block: Mapping[str, Any], pointer: str) -> Iterator[Problem]:
    elements = block.get("elements")
    found = [e for e in elements if isinstance(e, dict)] if isinstance(elements, list) else []
    for action_id, times in Counter(e["action_id"] for e in found if e.get("action_id")).items():
        if times > 1:
            yield Problem(pointer, f"`action_id` `{action_id}` already exists in this block")


def _check_shape(node: Mapping[str, Any], shape: Shape, pointer: str) -> Iterator[Problem]:
    for name, key in shape.keys.items():
        if node.get(name) is None:
            if key.required:
                yield Problem(f"{pointer}/{name}", "missing required field")
        else:
            yield from _CHECKS[key.kind](node[name], key, f"{pointer}/{name}")
    if shape.needs_one_of and not any(node.get(name) for name in shape.needs_one_of):
        yield Problem(pointer, f"needs one of {', '.join(shape.needs_one_of)}")
    if shape.closed:
        for name in node:
            if name not in shape.keys and name != "type":
                yield Problem(f"{pointer}/{name}", "no more fields allowed")


def _check_range(size: int, key: Key, pointer: str, unit: str) -> Iterator[Problem]:
    if key.most is not None and size > key.most:
        yield Problem(pointer, f"no more than {key.most} {unit} allowed")
    if size < key.least:
        yield Problem(pointer, f"at least {key.least} {unit} required")


def _check_string(value: Any, key: Key, pointer: str) -> Iterator[Problem]:
    if not isinstance(value, str):
        yield Problem(pointer, "must be a string")
    elif key.of:
        if value not in key.of:
            yield Problem(pointer, f"must be one of {', '.join(sorted(key.of))}")
    else:
        yield from _check_range(len(value), key, pointer, "characters")


def _check_integer(value: Any, key: Key, pointer: str) -> Iterator[Problem]:
    if not isinstance(value, int) or isinstance(value, bool):
        yield Problem(pointer, "must be an integer")
        return
    if value < key.least or (key.most is not None and value > key.most):
        yield Problem(pointer, f"must be between {key.least} and {key.most}")


def _check_boolean(value: Any, _key: Key, pointer: str) -> Iterator[Problem]:
    if not isinstance(value, bool):
        yield Problem(pointer, "must be a boolean")


def _check_strings(value: Any, _key: Key, pointer: str) -> Iterator[Problem]:
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        yield Problem(pointer, "must be a list of strings")


_TEXT_KEYS = {"plain_text": {"type", "text", "emoji"}, "mrkdwn": {"type", "text", "verbatim"}}


def _check_text(value: Any, key: Key, pointer: str) -> Iterator[Problem]:
    kinds = ("plain_text",) if key.kind == "plain" else ("plain_text", "mrkdwn")
    if not isinstance(value, dict) or value.get("type") not in kinds:
        yield Problem(pointer, f"must be a text object of type {' or '.join(kinds)}")
        return
    if not isinstance(value.get("text"), str):
        yield Problem(f"{pointer}/text", "must be a string")
        return
    yield from _check_range(len(value["text"]), key, f"{pointer}/text", "characters")
    for name in value.keys() - _TEXT_KEYS[value["type"]]:
        yield Problem(f"{pointer}/{name}", "no more fields allowed")


def _check_one(value: Any, key: Key, pointer: str) -> Iterator[Problem]:
    if not isinstance(value, dict):
        yield Problem(pointer, "must be an object")
        return
    named = limits.OBJECTS.keys() & key.of
    kind = str(value.get("type"))
    if named:
        yield from _check_shape(value, limits.OBJECTS[next(iter(named))], pointer)
    elif "text" in key.of and kind in _TEXT_KEYS:
        yield from _check_text(value, Key("text", least=key.text_least, most=key.text_most), pointer)
    elif kind not in key.of or kind == "text":
        yield Problem(f"{pointer}/type", f"unsupported type: {kind}")
    elif kind not in limits.UNCHECKED_ELEMENTS:
        yield from _check_shape(value, limits.ELEMENTS[kind], pointer)


def _check_many(value: Any, key: Key, pointer: str) -> Iterator[Problem]:
    if not isinstance(value, list):
        yield Problem(pointer, "must be a list")
        return
    yield from _check_range(len(value), key, pointer, "items")
    if key.of:
        for number, item in enumerate(value):
            yield from _check_one(item, key, f"{pointer}/{number}")


def _accept_any(_value: Any, _key: Key, _pointer: str) -> Iterator[Problem]:
    return iter(())


_CHECKS: dict[str, Callable[[Any, Key, str], Iterator[Problem]]] = {
    "string": _check_string,
    "integer": _check_integer,
    "boolean": _check_boolean,
    "list": _check_strings,
    "plain": _check_text,
    "text": _check_text,
    "one": _check_one,
    "many": _check_many,
    "any": _accept_any,
}


def _count_text(node: Any) -> int:
    """Count the characters that blocks show: every `text` string, at any depth."""
    if isinstance(node, list):
        return sum(_count_text(item) for item in node)
    if isinstance(node, dict):
        own = node.get("text")
        own_length = len(own) if isinstance(own, str) else 0
        return own_length + sum(_count_text(v) for v in node.values() if isinstance(v, dict | list))
    return 0
