"""Masking over two lists: everything that must go, and everything that only looks like it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.domain.text.redaction import count_marks, format_masked_note, mask

HERE = Path(__file__).parent / "masking"
CUT = "¦"  # stands inside some tokens, so that no scanner takes this list for a leak
LISTED = [
    {key: value.replace(CUT, "") for key, value in json.loads(line).items()}
    for line in (HERE / "secrets.jsonl").read_text("utf-8").splitlines()
]
LOOK_ALIKES = (HERE / "look_alikes.txt").read_text("utf-8").splitlines()
MARKS = ["see {} there", '{{"log":"{}"}}', "• {}", "\n{}\n"]


def test_the_lists_are_long_and_without_doubles() -> None:
    assert len({one["text"] for one in LISTED}) == len(LISTED) >= 180
    assert len(set(LOOK_ALIKES)) == len(LOOK_ALIKES) >= 250


def test_every_secret_is_masked_by_its_rule_and_its_mark_stays_as_it_is() -> None:
    for one in LISTED:
        masked, counts = mask(one["text"])
        assert one["secret"] not in masked, one["text"]
        assert sum(counts.values()) >= 1
        assert set(count_marks(masked)) >= set(counts)
        assert not one.get("rule") or one["rule"] in counts, (one["text"], counts)
        assert mask(masked) == (masked, {}), masked


def test_no_look_alike_is_touched() -> None:
    assert [(text, mask(text)[0]) for text in LOOK_ALIKES if mask(text) != (text, {})] == []


@pytest.mark.parametrize("around", MARKS)
def test_what_stands_around_a_look_alike_does_not_make_it_a_secret(around: str) -> None:
    texts = [around.format(text) for text in LOOK_ALIKES if '"' not in text and "{" not in text]
    assert [(text, mask(text)[0]) for text in texts if mask(text)[1]] == []


def test_secrets_are_found_in_the_middle_of_a_log() -> None:
    for one in LISTED:
        text = f"2026-11-29T20:14:00Z ERROR pool is full\n{one['text']}\n2026-11-29T20:14:01Z INFO done"
        masked, _ = mask(text)
        assert one["secret"] not in masked, one["text"]
        assert masked.startswith("2026-11-29T20:14:00Z ERROR pool is full\n")


def test_whoever_wrote_a_secret_is_told_to_rotate_it() -> None:
    assert format_masked_note({}) is None
    assert format_masked_note({"jwt": 1}) == "1 secret masked; it is still in the thread: rotate it."
    two = {"jwt": 1, "secret": 1, "email": 2}
    assert (
        format_masked_note(two)
        == "2 secrets masked; they are still in the thread: rotate them. 2 personal details masked."
    )
    assert format_masked_note(count_marks("x [masked:secret]"), None) == "1 secret masked: rotate it."
    assert format_masked_note({"phone": 1}) == "1 personal detail masked."
