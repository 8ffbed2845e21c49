"""Slack's limits and structures of Block Kit, as tables; `validate` applies them.

A shape lists the keys that an object may have. Numbers count characters in text and items in lists.
"""

from __future__ import annotations

from dataclasses import dataclass, field

MESSAGE, MODAL, HOME = "message", "modal", "home"
EVERYWHERE = frozenset({MESSAGE, MODAL, HOME})
ONLY_MESSAGES = frozenset({MESSAGE})

BLOCKS_MOST = {MESSAGE: 50, MODAL: 100, HOME: 100}
ATTACHMENTS_MOST = 100
# Slack documents no limit for all block text of one message; it was seen to refuse from about 11,300 characters on.
MESSAGE_BLOCK_TEXT_MOST = 11_000
MARKDOWN_TEXT_MOST = 12_000
TABLE_ROWS_MOST, TABLE_CELLS_MOST = 100, 20
# How many blocks of a kind one message may have.
KIND_MOST = {"table": 1, "data_visualization": 2}


@dataclass(frozen=True, slots=True)
class Key:
    """The values that a key accepts."""

    # string, integer, boolean, list (of strings), plain, text (plain or mrkdwn), one (an object), many (a list of
    # objects) or any
    kind: str
    required: bool = False
    least: int = 0
    most: int | None = None
    # the shapes of objects, or the words that a string may be
    of: frozenset[str] = frozenset()
    text_least: int = 1
    text_most: int | None = None


@dataclass(frozen=True, slots=True)
class Shape:
    """The keys of an object."""

    keys: dict[str, Key]
    # refuse any other key
    closed: bool = True
    # at least one of these must be present
    needs_one_of: tuple[str, ...] = ()
    surfaces: frozenset[str] = field(default=EVERYWHERE)


def _string(most: int, *, required: bool = False, least: int = 0) -> Key:
    return Key("string", required=required, least=least, most=most)


def _word(*words: str, required: bool = False) -> Key:
    return Key("string", required=required, of=frozenset(words))


def _plain(most: int, *, required: bool = False) -> Key:
    return Key("plain", required=required, least=1, most=most)


def _text(most: int, *, required: bool = False) -> Key:
    return Key("text", required=required, least=1, most=most)


def _one(*shapes: str, required: bool = False) -> Key:
    return Key("one", required=required, of=frozenset(shapes))


def _many(most: int | None, *shapes: str, required: bool = False, least: int = 1) -> Key:
    return Key("many", required=required, least=least, most=most, of=frozenset(shapes))


BOOLEAN, ANY, STRINGS = Key("boolean"), Key("any"), Key("list")
_ID = _string(255, least=1)
_ACTION = {"action_id": _ID, "confirm": _one("confirm"), "focus_on_load": BOOLEAN}
_PLACEHOLDER = {"placeholder": _plain(150)}
_DISPATCH = {"dispatch_action_config": ANY}
_OPTIONS = {"options": _many(100, "option"), "option_groups": _many(100, "option_group")}
_FILTER = {"default_to_current_conversation": BOOLEAN, "response_url_enabled": BOOLEAN, "filter": ANY}
_SELECT = {**_ACTION, **_PLACEHOLDER}
_MULTI = {**_SELECT, "max_selected_items": Key("integer", least=1)}
_RANGE = {"min_length": Key("integer", least=0, most=3000), "max_length": Key("integer", least=1, most=3000)}

OBJECTS: dict[str, Shape] = {
    "option": Shape(
        {
            "text": _text(75, required=True),
            "value": _string(150, required=True, least=1),
            "description": _text(75),
            "url": _string(3000),
        }
    ),
    "option_group": Shape({"label": _plain(75, required=True), "options": _many(100, "option", required=True)}),
    "confirm": Shape(
        {
            "title": _plain(100, required=True),
            "text": _text(300, required=True),
            "confirm": _plain(30, required=True),
            "deny": _plain(30, required=True),
            "style": _word("primary", "danger"),
        }
    ),
    "feedback_button": Shape(
        {
            "text": _plain(75, required=True),
            "value": _string(2000, required=True),
            "accessibility_label": _string(75),
        }
    ),
}

ELEMENTS: dict[str, Shape] = {
    "button": Shape(
        {
            "action_id": _ID,
            "confirm": _one("confirm"),
            "text": _plain(75, required=True),
            "value": _string(2000),
            "url": _string(3000),
            "style": _word("primary", "danger"),
            "accessibility_label": _string(75),
        }
    ),
    "overflow": Shape({"action_id": _ID, "confirm": _one("confirm"), "options": _many(5, "option", required=True)}),
    "static_select": Shape(
        {**_SELECT, **_OPTIONS, "initial_option": _one("option")}, needs_one_of=("options", "option_groups")
    ),
    "multi_static_select": Shape(
        {**_MULTI, **_OPTIONS, "initial_options": _many(100, "option")}, needs_one_of=("options", "option_groups")
    ),
    "external_select": Shape({**_SELECT, "initial_option": _one("option"), "min_query_length": Key("integer")}),
    "users_select": Shape({**_SELECT, "initial_user": _string(255)}),
    "multi_users_select": Shape({**_MULTI, "initial_users": STRINGS}),
    "channels_select": Shape({**_SELECT, "initial_channel": _string(255), "response_url_enabled": BOOLEAN}),
    "conversations_select": Shape({**_SELECT, **_FILTER, "initial_conversation": _string(255)}),
    "multi_conversations_select": Shape({**_MULTI, **_FILTER, "initial_conversations": STRINGS}),
    "checkboxes": Shape(
        {**_ACTION, "options": _many(10, "option", required=True), "initial_options": _many(10, "option")}
    ),
    "radio_buttons": Shape(
        {**_ACTION, "options": _many(10, "option", required=True), "initial_option": _one("option")}
    ),
    "datepicker": Shape({**_SELECT, "initial_date": _string(10)}),
    "timepicker": Shape({**_SELECT, "initial_time": _string(5), "timezone": _string(255)}),
    "datetimepicker": Shape({**_ACTION, "initial_date_time": Key("integer")}),
    "plain_text_input": Shape(
        {
            "action_id": _ID,
            **_PLACEHOLDER,
            **_RANGE,
            **_DISPATCH,
            "initial_value": _string(3000),
            "multiline": BOOLEAN,
            "focus_on_load": BOOLEAN,
        }
    ),
    "number_input": Shape(
        {
            "action_id": _ID,
            **_PLACEHOLDER,
            **_DISPATCH,
            "is_decimal_allowed": Key("boolean", required=True),
            "initial_value": _string(3000),
            "min_value": _string(3000),
            "max_value": _string(3000),
            "focus_on_load": BOOLEAN,
        }
    ),
    "url_text_input": Shape(
        {
            "action_id": _ID,
            **_PLACEHOLDER,
            **_DISPATCH,
            "initial_value": _string(3000),
            "focus_on_load": BOOLEAN,
        }
    ),
    "email_text_input": Shape(
        {
            "action_id": _ID,
            **_PLACEHOLDER,
            **_DISPATCH,
            "initial_value": _string(3000),
            "focus_on_load": BOOLEAN,
        }
    ),
    "image": Shape(
        {"image_url": _string(3000), "slack_file": ANY, "alt_text": _string(2000, required=True)},
        needs_one_of=("image_url", "slack_file"),
    ),
    "feedback_buttons": Shape(
        {
            "action_id": _ID,
            "positive_button": _one("feedback_button", required=True),
            "negative_button": _one("feedback_button", required=True),
        }
    ),
    "icon_button": Shape(
        {
            "action_id": _ID,
            "icon": _word("trash", required=True),
            "text": _plain(75, required=True),
            "value": _string(2000),
            "confirm": _one("confirm"),
            "accessibility_label": _string(75),
            "visible_to_user_ids": STRINGS,
        }
    ),
}

_CHOICES = (
    "static_select", "multi_static_select", "external_select", "users_select", "multi_users_select", "channels_select",
    "conversations_select", "multi_conversations_select", "checkboxes", "radio_buttons", "datepicker", "timepicker",
)  # fmt: skip
_TEXT_INPUTS = ("plain_text_input", "number_input", "url_text_input", "email_text_input")
_BLOCK = {"block_id": _string(255, least=1)}

BLOCKS: dict[str, Shape] = {
    "section": Shape(
        {
            **_BLOCK,
            "text": _text(3000),
            "fields": Key("many", least=1, most=10, of=frozenset({"text"}), text_most=2000),
            "accessory": _one("button", "overflow", "image", *_CHOICES),
            "expand": BOOLEAN,
        },
        needs_one_of=("text", "fields"),
    ),
    "context": Shape(
        {
            **_BLOCK,
            "elements": Key("many", required=True, least=1, most=10, of=frozenset({"text", "image"}), text_most=3000),
        }
    ),
    "actions": Shape(
        {**_BLOCK, "elements": _many(25, "button", "overflow", "datetimepicker", *_CHOICES, required=True)}
    ),
    "header": Shape({**_BLOCK, "text": _plain(150, required=True)}),
    "divider": Shape({**_BLOCK}),
    "input": Shape(
        {
            **_BLOCK,
            "label": _plain(2000, required=True),
            "element": _one("datetimepicker", "rich_text_input", "file_input", *_CHOICES, *_TEXT_INPUTS, required=True),
            "hint": _plain(2000),
            "optional": BOOLEAN,
            "dispatch_action": BOOLEAN,
        }
    ),
    "image": Shape(
        {
            **_BLOCK,
            "image_url": _string(3000),
            "slack_file": ANY,
            "alt_text": _string(2000, required=True),
            "title": _plain(2000),
        },
        needs_one_of=("image_url", "slack_file"),
    ),
    "rich_text": Shape({**_BLOCK, "elements": Key("any", required=True)}),
    "markdown": Shape({**_BLOCK, "text": _string(MARKDOWN_TEXT_MOST, required=True, least=1)}, surfaces=ONLY_MESSAGES),
    "table": Shape(
        {**_BLOCK, "rows": Key("any", required=True), "column_settings": Key("many", most=20)},
        surfaces=frozenset({MESSAGE, HOME}),
    ),
    "context_actions": Shape(
        {**_BLOCK, "elements": _many(5, "feedback_buttons", "icon_button", required=True)}, surfaces=ONLY_MESSAGES
    ),
    "alert": Shape(
        {
            **_BLOCK,
            "text": _text(200, required=True),
            "level": _word("default", "info", "warning", "error", "success"),
        },
        surfaces=frozenset({MODAL}),
    ),
    "video": Shape({**_BLOCK}, closed=False),
    "file": Shape({**_BLOCK}, closed=False, surfaces=ONLY_MESSAGES),
    "card": Shape(
        {**_BLOCK, "title": _text(150), "subtitle": _text(150), "body": _text(200), "actions": _many(3, "button")},
        closed=False,
    ),
    "carousel": Shape(
        {**_BLOCK, "elements": Key("many", required=True, least=1, most=10)},
        closed=False,
        surfaces=frozenset({MESSAGE, HOME}),
    ),
    "container": Shape({**_BLOCK, "title": _text(150), "subtitle": _text(150)}, closed=False, surfaces=ONLY_MESSAGES),
    "data_table": Shape({**_BLOCK, "caption": Key("any", required=True)}, closed=False),
    "task_card": Shape({**_BLOCK}, closed=False, surfaces=ONLY_MESSAGES),
    "plan": Shape({**_BLOCK, "tasks": Key("many", most=50)}, closed=False, surfaces=ONLY_MESSAGES),
    "data_visualization": Shape({**_BLOCK, "title": _string(50)}, closed=False, surfaces=ONLY_MESSAGES),
}

# Elements that this emulator accepts without looking inside.
UNCHECKED_ELEMENTS = frozenset({"rich_text_input", "file_input"})

_VIEW = {
    "callback_id": _string(255),
    "private_metadata": _string(3000),
    "external_id": _string(255),
    "blocks": Key("any", required=True),
}
VIEWS: dict[str, Shape] = {
    MODAL: Shape(
        {
            **_VIEW,
            "title": _plain(24, required=True),
            "submit": _plain(24),
            "close": _plain(24),
            "clear_on_close": BOOLEAN,
            "notify_on_close": BOOLEAN,
            "submit_disabled": BOOLEAN,
        }
    ),
    HOME: Shape(_VIEW),
}
