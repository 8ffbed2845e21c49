"""One case per limit of Slack's: the largest that is taken, and one more, which is refused where it stands."""

from __future__ import annotations

from typing import Any

import pytest

from bot.playground import validate_message, validate_view
from bot.playground.blocks.limits import BLOCKS, ELEMENTS

JSON = dict[str, Any]


def plain(n: int) -> JSON:
    return {"type": "plain_text", "text": "x" * n}


def mrkdwn(n: int) -> JSON:
    return {"type": "mrkdwn", "text": "x" * n}


def option(n: int = 1, **more: Any) -> JSON:
    return {"text": plain(n), "value": "v", **more}


def options(n: int) -> list[JSON]:
    return [{"text": plain(1), "value": str(i)} for i in range(n)]


def button(**more: Any) -> JSON:
    return {"type": "button", "text": plain(1), **more}


def actions(*elements: JSON) -> list[JSON]:
    return [{"type": "actions", "elements": list(elements)}]


def section(**more: Any) -> list[JSON]:
    return [{"type": "section", **more}]


def confirm(**more: Any) -> list[JSON]:
    words = {"title": plain(1), "text": plain(1), "confirm": plain(1), "deny": plain(1)}
    return actions(button(confirm={**words, **more}))


def select(**more: Any) -> list[JSON]:
    return actions({"type": "static_select", "options": options(1), **more})


def text_input(**more: Any) -> list[JSON]:
    return [{"type": "input", "label": plain(1), "element": {"type": "plain_text_input", **more}}]


def image(**more: Any) -> list[JSON]:
    return [{"type": "image", "image_url": "https://x.example/y.png", "alt_text": "a", **more}]


def table(rows: int, cells: int = 1) -> JSON:
    return {"type": "table", "rows": [[{"type": "raw_text", "text": "x"}] * cells for _ in range(rows)]}


def feedback(n: int) -> JSON:
    return {
        "type": "feedback_buttons",
        "positive_button": {"text": plain(n), "value": "y"},
        "negative_button": {"text": plain(1), "value": "n"},
    }


# name, limit, blocks of a given size, pointer of the refusal
BLOCK_LIMITS: list[tuple[str, int, Any, str]] = [
    ("blocks per message", 50, lambda n: [{"type": "divider"}] * n, "/blocks"),
    ("section text", 3000, lambda n: section(text=mrkdwn(n)), "/blocks/0/text/text"),
    ("section fields", 10, lambda n: section(fields=[mrkdwn(1)] * n), "/blocks/0/fields"),
    ("section field text", 2000, lambda n: section(fields=[mrkdwn(n)]), "/blocks/0/fields/0/text"),
    ("block_id", 255, lambda n: section(text=plain(1), block_id="x" * n), "/blocks/0/block_id"),
    ("action_id", 255, lambda n: actions(button(action_id="x" * n)), "/blocks/0/elements/0/action_id"),
    ("header text", 150, lambda n: [{"type": "header", "text": plain(n)}], "/blocks/0/text/text"),
    ("context elements", 10, lambda n: [{"type": "context", "elements": [plain(1)] * n}], "/blocks/0/elements"),
    ("context text", 3000, lambda n: [{"type": "context", "elements": [mrkdwn(n)]}], "/blocks/0/elements/0/text"),
    ("actions elements", 25, lambda n: actions(*[button()] * n), "/blocks/0/elements"),
    ("button text", 75, lambda n: actions(button(text=plain(n))), "/blocks/0/elements/0/text/text"),
    ("button value", 2000, lambda n: actions(button(value="x" * n)), "/blocks/0/elements/0/value"),
    ("button url", 3000, lambda n: actions(button(url="x" * n)), "/blocks/0/elements/0/url"),
    ("button label", 75, lambda n: actions(button(accessibility_label="x" * n)), "/blocks/0/elements/0/accessibility_label"),
    ("select options", 100, lambda n: select(options=options(n)), "/blocks/0/elements/0/options"),
    ("select groups", 100, lambda n: actions({"type": "static_select", "option_groups": [{"label": plain(1), "options": options(1)}] * n}), "/blocks/0/elements/0/option_groups"),
    ("group label", 75, lambda n: actions({"type": "static_select", "option_groups": [{"label": plain(n), "options": options(1)}]}), "/blocks/0/elements/0/option_groups/0/label/text"),
    ("placeholder", 150, lambda n: select(placeholder=plain(n)), "/blocks/0/elements/0/placeholder/text"),
    ("option text", 75, lambda n: select(options=[option(n)]), "/blocks/0/elements/0/options/0/text/text"),
    ("option value", 150, lambda n: select(options=[option(value="x" * n)]), "/blocks/0/elements/0/options/0/value"),
    ("option description", 75, lambda n: select(options=[option(description=plain(n))]), "/blocks/0/elements/0/options/0/description/text"),
    ("option url", 3000, lambda n: actions({"type": "overflow", "options": [option(url="x" * n)]}), "/blocks/0/elements/0/options/0/url"),
    ("overflow options", 5, lambda n: actions({"type": "overflow", "options": options(n)}), "/blocks/0/elements/0/options"),
    ("checkboxes", 10, lambda n: actions({"type": "checkboxes", "options": options(n)}), "/blocks/0/elements/0/options"),
    ("radio buttons", 10, lambda n: actions({"type": "radio_buttons", "options": options(n)}), "/blocks/0/elements/0/options"),
    ("confirm title", 100, lambda n: confirm(title=plain(n)), "/blocks/0/elements/0/confirm/title/text"),
    ("confirm text", 300, lambda n: confirm(text=plain(n)), "/blocks/0/elements/0/confirm/text/text"),
    ("confirm yes", 30, lambda n: confirm(confirm=plain(n)), "/blocks/0/elements/0/confirm/confirm/text"),
    ("confirm no", 30, lambda n: confirm(deny=plain(n)), "/blocks/0/elements/0/confirm/deny/text"),
    ("image alt text", 2000, lambda n: image(alt_text="x" * n), "/blocks/0/alt_text"),
    ("image title", 2000, lambda n: image(title=plain(n)), "/blocks/0/title/text"),
    ("image url", 3000, lambda n: image(image_url="x" * n), "/blocks/0/image_url"),
    ("table rows", 100, lambda n: [table(n)], "/blocks/0/rows"),
    ("table cells", 20, lambda n: [table(1, n)], "/blocks/0/rows/0"),
    ("tables", 1, lambda n: [table(1)] * n, "/blocks"),
    ("charts", 2, lambda n: [{"type": "data_visualization"}] * n, "/blocks"),
    ("context_actions", 5, lambda n: [{"type": "context_actions", "elements": [feedback(1)] * n}], "/blocks/0/elements"),
    ("feedback text", 75, lambda n: [{"type": "context_actions", "elements": [feedback(n)]}], "/blocks/0/elements/0/positive_button/text/text"),
    ("card title", 150, lambda n: [{"type": "card", "title": plain(n)}], "/blocks/0/title/text"),
    ("card body", 200, lambda n: [{"type": "card", "body": plain(n)}], "/blocks/0/body/text"),
    ("carousel cards", 10, lambda n: [{"type": "carousel", "elements": [{}] * n}], "/blocks/0/elements"),
    ("container title", 150, lambda n: [{"type": "container", "title": plain(n)}], "/blocks/0/title/text"),
    ("plan tasks", 50, lambda n: [{"type": "plan", "tasks": [{}] * n}], "/blocks/0/tasks"),
]  # fmt: skip


@pytest.mark.parametrize(("most", "build", "pointer"), [c[1:] for c in BLOCK_LIMITS], ids=[c[0] for c in BLOCK_LIMITS])
def test_a_message_may_have_just_so_much(most: int, build: Any, pointer: str) -> None:
    assert validate_message({"blocks": build(most)}) == []
    refused = validate_message({"blocks": build(most + 1)})
    assert [(p.pointer, p.error) for p in refused] == [(pointer, "invalid_blocks")]


def view(**more: Any) -> JSON:
    return {"type": "modal", "title": plain(1), "submit": plain(1), "blocks": [], **more}


VIEW_LIMITS: list[tuple[str, int, Any, str]] = [
    ("blocks", 100, lambda n: view(blocks=[{"type": "divider"}] * n), "/view/blocks"),
    ("title", 24, lambda n: view(title=plain(n)), "/view/title/text"),
    ("submit", 24, lambda n: view(submit=plain(n)), "/view/submit/text"),
    ("close", 24, lambda n: view(close=plain(n)), "/view/close/text"),
    ("private_metadata", 3000, lambda n: view(private_metadata="x" * n), "/view/private_metadata"),
    ("callback_id", 255, lambda n: view(callback_id="x" * n), "/view/callback_id"),
    ("external_id", 255, lambda n: view(external_id="x" * n), "/view/external_id"),
    ("input label", 2000, lambda n: view(blocks=[{**text_input()[0], "label": plain(n)}]), "/view/blocks/0/label/text"),
    ("input hint", 2000, lambda n: view(blocks=[{**text_input()[0], "hint": plain(n)}]), "/view/blocks/0/hint/text"),
    ("max_length", 3000, lambda n: view(blocks=text_input(max_length=n)), "/view/blocks/0/element/max_length"),
    ("min_length", 3000, lambda n: view(blocks=text_input(min_length=n)), "/view/blocks/0/element/min_length"),
    ("input placeholder", 150, lambda n: view(blocks=text_input(placeholder=plain(n))), "/view/blocks/0/element/placeholder/text"),
    ("initial value", 3000, lambda n: view(blocks=text_input(initial_value="x" * n)), "/view/blocks/0/element/initial_value"),
    ("alert text", 200, lambda n: view(blocks=[{"type": "alert", "text": plain(n)}]), "/view/blocks/0/text/text"),
    ("home blocks", 100, lambda n: {"type": "home", "blocks": [{"type": "divider"}] * n}, "/view/blocks"),
]  # fmt: skip


@pytest.mark.parametrize(("most", "build", "pointer"), [c[1:] for c in VIEW_LIMITS], ids=[c[0] for c in VIEW_LIMITS])
def test_a_view_may_have_just_so_much(most: int, build: Any, pointer: str) -> None:
    assert validate_view(build(most)) == []
    refused = validate_view(build(most + 1))
    assert [(p.pointer, p.error) for p in refused] == [(pointer, "invalid_arguments")]


WRONG_BLOCKS: list[tuple[str, list[Any], str]] = [
    ("not an object", ["text"], "/blocks/0"),
    ("unknown type", [{"type": "paragraph"}], "/blocks/0/type"),
    ("unknown key", section(text=plain(1), colour="red"), "/blocks/0/colour"),
    ("unknown key in text", section(text={**mrkdwn(1), "emoji": True}), "/blocks/0/text/emoji"),
    ("unknown element", actions({"type": "knob"}), "/blocks/0/elements/0/type"),
    ("element not an object", actions("x"), "/blocks/0/elements/0"),  # type: ignore[arg-type]  # wrong on purpose
    ("elements not a list", [{"type": "actions", "elements": {}}], "/blocks/0/elements"),
    ("element in the wrong block", [{"type": "context", "elements": [button()]}], "/blocks/0/elements/0/type"),
    ("mrkdwn in a header", [{"type": "header", "text": mrkdwn(1)}], "/blocks/0/text"),
    ("mrkdwn on a button", actions(button(text=mrkdwn(1))), "/blocks/0/elements/0/text"),
    ("text no text", section(text={"type": "mrkdwn"}), "/blocks/0/text/text"),
    ("empty text", section(text=mrkdwn(0)), "/blocks/0/text/text"),
    ("section without content", section(), "/blocks/0"),
    ("no fields", [{"type": "section", "text": plain(1), "fields": []}], "/blocks/0/fields"),
    ("no elements", actions(), "/blocks/0/elements"),
    ("button without text", actions({"type": "button"}), "/blocks/0/elements/0/text"),
    ("unknown style", actions(button(style="loud")), "/blocks/0/elements/0/style"),
    ("value no string", actions(button(value=7)), "/blocks/0/elements/0/value"),
    ("select without options", actions({"type": "static_select"}), "/blocks/0/elements/0"),
    ("multiline no boolean", text_input(multiline="yes"), "/blocks/0/element/multiline"),
    ("length no integer", text_input(max_length="9"), "/blocks/0/element/max_length"),
    ("initial users no list", section(text=plain(1), accessory={"type": "multi_users_select", "initial_users": "U1"}), "/blocks/0/accessory/initial_users"),
    ("two equal block ids", [{"type": "divider", "block_id": "a"}] * 2, "/blocks"),
    ("two equal action ids", actions(button(action_id="a"), button(action_id="a")), "/blocks"),
    ("table without rows", [{"type": "table", "rows": []}], "/blocks/0/rows"),
    ("image without picture", [{"type": "image", "alt_text": "a"}], "/blocks/0"),
    ("modal block in a message", [{"type": "alert", "text": plain(1)}], "/blocks/0/type"),
]  # fmt: skip


@pytest.mark.parametrize(("blocks", "pointer"), [c[1:] for c in WRONG_BLOCKS], ids=[c[0] for c in WRONG_BLOCKS])
def test_wrong_structure_is_refused_where_it_stands(blocks: list[Any], pointer: str) -> None:
    assert [p.pointer for p in validate_message({"blocks": blocks})] == [pointer]


def test_blocks_and_attachments_must_be_lists() -> None:
    assert validate_message({"blocks": "x", "attachments": {}})[0].error == "invalid_blocks_format"
    for attachments in ("x", ["x"]):
        assert validate_message({"blocks": [], "attachments": attachments})[0].error == "invalid_attachments"


def test_blocks_in_attachments_are_checked_and_attachments_counted() -> None:
    bad = {"attachments": [{"text": "fine"}, {"blocks": section()}]}
    assert [p.pointer for p in validate_message(bad)] == ["/attachments/1/blocks/0"]
    assert validate_message({"attachments": [{}] * 100}) == []
    assert validate_message({"attachments": [{}] * 101})[0].error == "too_many_attachments"


def test_all_block_text_of_a_message_together_is_limited_of_a_view_not() -> None:
    long = [{"type": "section", "text": mrkdwn(2750)}] * 4
    assert validate_message({"blocks": long}) == []
    assert [p.error for p in validate_message({"blocks": [*long, *section(text=mrkdwn(1))]})] == ["msg_blocks_too_long"]
    assert validate_view(view(blocks=long * 2)) == []


def test_markdown_of_one_message_is_limited_over_all_its_blocks() -> None:
    blocks = [{"type": "markdown", "text": "x" * 6001}] * 2
    assert {p.error for p in validate_message({"blocks": blocks})} == {"invalid_blocks", "msg_blocks_too_long"}


@pytest.mark.parametrize("metadata", [{"event_type": "x"}, {"event_type": "", "event_payload": {}}, "x"])
def test_metadata_needs_type_and_payload(metadata: Any) -> None:
    assert [p.error for p in validate_message({"metadata": metadata})] == ["invalid_metadata_format"]
    assert validate_message({"metadata": {"event_type": "brief", "event_payload": {"id": 1}}}) == []


def test_a_modal_with_an_input_needs_submit() -> None:
    bad = view(blocks=text_input())
    del bad["submit"]
    assert [p.pointer for p in validate_view(bad)] == ["/view/submit"]
    assert validate_view({"type": "home", "blocks": text_input()}) == []


def test_a_view_has_a_known_type_and_only_known_blocks_for_it() -> None:
    assert validate_view({"type": "window", "blocks": []})[0].pointer == "/view/type"
    assert [p.pointer for p in validate_view(view(blocks=[table(1)]))] == ["/view/blocks/0/type"]
    assert [p.pointer for p in validate_view(view(blocks=[{"type": "markdown", "text": "x"}]))] == [
        "/view/blocks/0/type"
    ]
    assert [p.pointer for p in validate_view({"type": "home", "blocks": [], "submit": plain(1)})] == ["/view/submit"]


def test_every_element_that_a_block_names_is_described() -> None:
    named = {
        kind
        for shape in BLOCKS.values()
        for key in shape.keys.values()
        if key.kind in ("one", "many")
        for kind in key.of
    }
    assert named - ELEMENTS.keys() == {"text", "rich_text_input", "file_input"}
