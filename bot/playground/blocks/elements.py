"""Interactive elements of Block Kit: the state that they hold and the action that a click sends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bot.playground.workspace.copies import copy_json
from bot.playground.workspace.state import JSON, SlackRefused

# Kind of element → (key of its value in `state`, key of its initial value).
STATEFUL: dict[str, tuple[str, str]] = {
    "plain_text_input": ("value", "initial_value"),
    "number_input": ("value", "initial_value"),
    "url_text_input": ("value", "initial_value"),
    "email_text_input": ("value", "initial_value"),
    "static_select": ("selected_option", "initial_option"),
    "external_select": ("selected_option", "initial_option"),
    "radio_buttons": ("selected_option", "initial_option"),
    "checkboxes": ("selected_options", "initial_options"),
    "multi_static_select": ("selected_options", "initial_options"),
    "users_select": ("selected_user", "initial_user"),
    "multi_users_select": ("selected_users", "initial_users"),
    "channels_select": ("selected_channel", "initial_channel"),
    "conversations_select": ("selected_conversation", "initial_conversation"),
    "multi_conversations_select": ("selected_conversations", "initial_conversations"),
    "datepicker": ("selected_date", "initial_date"),
    "timepicker": ("selected_time", "initial_time"),
    "datetimepicker": ("selected_date_time", "initial_date_time"),
}
_OPTION_KEYS = ("selected_option", "selected_options")
_LIST_KEYS = ("selected_options", "selected_users", "selected_conversations")


@dataclass(frozen=True, slots=True)
class PlacedElement:
    """An interactive element and the block that contains it."""

    block: JSON
    element: JSON

    @property
    def block_id(self) -> str:
        """Return the id of the block."""
        return str(self.block["block_id"])

    @property
    def action_id(self) -> str:
        """Return the action id of the element."""
        return str(self.element["action_id"])


def iterate_elements(blocks: Iterable[JSON]) -> Iterator[PlacedElement]:
    """Yield every interactive element of the blocks."""
    for block in blocks:
        candidates = [block.get("accessory"), block.get("element"), *(block.get("elements") or ())]
        for element in candidates:
            if isinstance(element, dict) and "action_id" in element:
                yield PlacedElement(block, element)


def find_element(blocks: Iterable[JSON], action_id: str, block_id: str | None = None) -> PlacedElement:
    """Return the element with this action id. Raises SlackRefused no_such_action."""
    for found in iterate_elements(blocks):
        if found.action_id == action_id and block_id in (None, found.block_id):
            return found
    raise SlackRefused("no_such_action", action_id=action_id)


def build_element_state(element: Mapping[str, Any], entered: Any = None) -> JSON:
    """Return the `state` of an element: the entered value, or else its initial one. Options may be given by value.

    Raises SlackRefused no_such_option.
    """
    key, initial = STATEFUL[element["type"]]
    value = copy_json(element.get(initial)) if entered is None else _choose_option(element, key, entered)
    if value is None and key in _LIST_KEYS:
        value = []
    return {"type": element["type"], key: value}


def _choose_option(element: Mapping[str, Any], key: str, entered: Any) -> Any:
    if entered == "" and key not in _LIST_KEYS:
        return None
    if key == "selected_option":
        return _find_option(element, entered)
    if key == "selected_options":
        return [_find_option(element, one) for one in entered]
    return entered


def _find_option(element: Mapping[str, Any], wanted: Any) -> JSON:
    value = wanted["value"] if isinstance(wanted, dict) else wanted
    groups = [element.get("options") or (), *(g["options"] for g in element.get("option_groups") or ())]
    for option in (o for group in groups for o in group):
        if option["value"] == value:
            return copy_json(dict(option))
    raise SlackRefused("no_such_option", value=value)


def build_state_values(blocks: Iterable[JSON], kept: Mapping[str, Any]) -> JSON:
    """Return `state.values` of a surface: the stored value of each stateful element, or else its initial one."""
    values: JSON = {}
    for found in iterate_elements(blocks):
        if found.element["type"] in STATEFUL:
            entry = kept.get(found.block_id, {}).get(found.action_id) or build_element_state(found.element)
            values.setdefault(found.block_id, {})[found.action_id] = entry
    return values


def build_action(found: PlacedElement, choice: Any, action_ts: str) -> JSON:
    """Return one entry of `actions` in block_actions: a pressed button or a made choice."""
    element = found.element
    said: JSON = {"type": element["type"], "action_id": found.action_id, "block_id": found.block_id}
    said["action_ts"] = action_ts
    if element["type"] == "button":
        said |= {k: copy_json(element[k]) for k in ("text", "value", "style", "url", "confirm") if k in element}
    elif element["type"] == "overflow":
        said["selected_option"] = _find_option(element, choice)
    else:
        key = STATEFUL[element["type"]][0]
        said[key] = build_element_state(element, choice)[key]
        said |= {k: copy_json(element[k]) for k in ("placeholder", "confirm") if k in element}
    return said


def check_inputs(blocks: Iterable[JSON], values: Mapping[str, Any]) -> dict[str, str]:
    """Return what Slack's own client refuses before it sends anything: the message shown at the input, by block id."""
    errors: dict[str, str] = {}
    for block in blocks:
        if block["type"] != "input":
            continue
        element = block["element"]
        entry = values.get(block["block_id"], {}).get(element["action_id"], {})
        value = entry.get(STATEFUL.get(element["type"], ("value", ""))[0])
        if problem := _check_input(element, value, optional=bool(block.get("optional"))):
            errors[block["block_id"]] = problem
    return errors


def _check_input(element: Mapping[str, Any], value: Any, *, optional: bool) -> str | None:
    if value in (None, "", []):
        return None if optional else "Please complete this required field."
    if element["type"] == "plain_text_input":
        if len(value) > element.get("max_length", 3000):
            return f"Must be at most {element.get('max_length', 3000)} characters"
        if len(value) < element.get("min_length", 0):
            return f"Must be at least {element['min_length']} characters"
    return None
