"""What tests of bolt share with other tests."""

from __future__ import annotations

from typing import Any

MODAL = {
    "type": "modal",
    "callback_id": "record",
    "title": {"type": "plain_text", "text": "Record"},
    "submit": {"type": "plain_text", "text": "Save"},
    "blocks": [
        {
            "type": "input",
            "block_id": "cause",
            "label": {"type": "plain_text", "text": "Root cause"},
            "element": {"type": "plain_text_input", "action_id": "cause_text"},
        },
        {
            "type": "input",
            "block_id": "fixed",
            "optional": True,
            "label": {"type": "plain_text", "text": "Did it fix it?"},
            "element": {
                "type": "static_select",
                "action_id": "fixed_choice",
                "options": [
                    {"text": {"type": "plain_text", "text": "Yes"}, "value": "yes"},
                    {"text": {"type": "plain_text", "text": "No"}, "value": "no"},
                ],
            },
        },
    ],
}
BUTTONS: list[dict[str, Any]] = [
    {"type": "section", "text": {"type": "mrkdwn", "text": "*brief*"}},
    {
        "type": "actions",
        "elements": [
            {"type": "button", "action_id": "record", "text": {"type": "plain_text", "text": "Record…"}, "value": "7"}
        ],
    },
]
