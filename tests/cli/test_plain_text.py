from __future__ import annotations

import pytest

from bot.cli.plain_text import format_message, strip_markup


@pytest.mark.parametrize(
    ("mrkdwn", "text"),
    [
        ("*bold* and a*b*c", "bold and a*b*c"),
        ("<https://x.example/a|a label>", "a label (https://x.example/a)"),
        ("<https://x.example/a>", "https://x.example/a"),
        ("<@U0MAYA> did it", "@U0MAYA did it"),
        ("<!date^1795921200^{time}|03:00 UTC>", "03:00 UTC"),
        ("1 &lt; 2 &amp;&amp; 3 &gt; 2", "1 < 2 && 3 > 2"),
        ("&amp;lt;", "&lt;"),
    ],
)
def test_marks_and_escapes_are_taken_off(mrkdwn: str, text: str) -> None:
    assert strip_markup(mrkdwn) == text


def test_every_kind_of_block_is_a_line() -> None:
    blocks = [
        {"type": "header", "text": {"type": "plain_text", "text": "Head"}},
        {
            "type": "section",
            "text": {"type": "mrkdwn", "text": "one\ntwo"},
            "fields": [{"type": "mrkdwn", "text": "*f*"}],
        },
        {"type": "section", "fields": [{"type": "mrkdwn", "text": "g"}]},
        {
            "type": "context",
            "elements": [{"type": "mrkdwn", "text": "a"}, {"type": "image"}, {"type": "mrkdwn", "text": "b"}],
        },
        {"type": "divider"},
        {
            "type": "actions",
            "elements": [{"type": "button", "text": {"type": "plain_text", "text": "Go"}}, {"type": "overflow"}],
        },
        {"type": "image"},
    ]
    assert format_message({"blocks": blocks}).splitlines() == [
        "Head",
        "one",
        "two",
        "f",
        "g",
        "a · b",
        "—" * 20,
        "[Go]",
    ]


def test_a_message_without_blocks_is_its_text() -> None:
    assert format_message({"text": "*hello*"}) == "hello"
