"""Log lines that are alike are counted once, masked, and no line is too hostile for that."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.evidence.items import Observed
from bot.domain.evidence.log_templates import (
    MOST_GROUPS,
    MOST_LINES,
    LogLine,
    clean_line,
    extract_template,
    group_lines,
    observe_logs,
)

AT = datetime(2026, 11, 23, 8, 0, tzinfo=UTC)


def lines(*texts: str) -> list[LogLine]:
    """One a second, the last at AT."""
    return [LogLine(AT - timedelta(seconds=len(texts) - 1 - n), text) for n, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("request 12 took 840 ms", "request 9131 took 1,204.5 ms"),
        ("trace 0af7651916cd43dd8448eb211c80319c lost", "trace b7ad6b7169203331aa00000000000001 lost"),
        ("order 5f2b7c1e-8f5e-4c39-9c75-0d6f0f2f4a11 failed", "order 11111111-2222-3333-4444-555555555555 failed"),
        ('user "anna" not found', 'user "bob the third" not found'),
        ("table 'orders' is locked", "table 'users' is locked"),
        ("10.2.3.4:5432 refused", "10.9.9.9:5432 refused"),
        ("at 0xDEADBEEF", "at 0x1f"),
        ("api_key=Zq9Xw7LeAk12 refused", "api_key=Aa1Bb2Cc3Dd4 refused"),
        ("\x1b[31mERROR\x1b[0m  pool\texhausted", "ERROR pool exhausted"),
    ],
)
def test_lines_that_differ_in_values_are_alike(one: str, other: str) -> None:
    found, left_out = group_lines(lines(one, other))
    assert [(t.count, t.sample) for t in found] == [(2, clean_line(other))]
    assert left_out is False


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("HTTP 504 from gateway", "HTTP 500 from gateway"),
        ('status: 502 "bad"', 'status: 503 "bad"'),
        ("pool exhausted", "queue exhausted"),
        ('{"user": 1}', '{"host": 1}'),
    ],
)
def test_what_tells_errors_apart_stays(one: str, other: str) -> None:
    assert len(group_lines(lines(one, other))[0]) == 2


def test_the_most_frequent_five_with_their_times_and_the_latest_sample() -> None:
    texts = [f"kind {'abcdefg'[n % 7]} in {n} ms" for n in range(21)] + ["kind g in 77 ms"]
    found = observe_logs(lines(*texts), "ledger", "loki", AT)
    assert len(found) == 5
    first = found[0]
    assert isinstance(first, Observed)
    assert (first.count, first.text, first.last) == (4, "kind g in 77 ms", AT)
    assert first.first == AT - timedelta(seconds=15)
    assert (first.what, first.window, first.truncated) == ("error lines of ledger", "15 min", False)
    again = observe_logs(lines("kind g in 5 ms"), "ledger", "loki", AT)
    assert again[0].signal == first.signal
    assert len({one.signal for one in found}) == 5


def test_what_lies_outside_the_window_does_not_count_and_nothing_is_an_observation() -> None:
    old = [
        LogLine(AT - timedelta(minutes=16), "old"),
        LogLine(AT + timedelta(seconds=1), "later"),
        LogLine(AT, " \x00 "),
    ]
    (none,) = observe_logs(old, "ledger", "loki", AT)
    assert isinstance(none, Observed)
    assert (none.signal, none.text, none.count, none.truncated) == ("log_none", "none", 0, False)
    assert observe_logs([], "ledger", "loki", AT, truncated=True)[0] != none


def test_secrets_are_masked_before_anything_is_cut() -> None:
    pem = "-----BEGIN RSA PRIVATE KEY-----" + "MIIEpAIBAAKCAQEA" * 400 + "-----END RSA PRIVATE KEY-----"
    token = "xoxb-" + "1234567890-" * 20 + "SECRETEND"
    for text in (f"{'x' * 280} {token}", f"key {pem}", "retry password=hunter2secret", "Bearer " + "a1" * 500):
        (only,) = observe_logs(lines(text), "s", "loki", AT)
        assert isinstance(only, Observed)
        assert "[masked" in clean_line(text)
        assert not any(part in repr(only) for part in ("xoxb-1", "MIIE", "hunter2", "a1a1a1a1"))


def test_one_line_masks_to_the_same_template_whatever_the_secret_was() -> None:
    texts = [f"login failed for password={a}{b}tail" for a in "abcdef" for b in "uvwxyz"]
    assert [t.count for t in group_lines(lines(*texts))[0]] == [36]


def test_a_flood_of_kinds_is_bounded_and_said_to_be() -> None:
    words = [f"{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}{'q' * (n // 676)} broke" for n in range(MOST_GROUPS + 50)]
    found, left_out = group_lines(lines(*words))
    assert (len(found), left_out) == (5, True)
    many = observe_logs([LogLine(AT, "same")] * (MOST_LINES + 1), "s", "loki", AT)[0]
    assert isinstance(many, Observed)
    assert (many.count, many.truncated) == (MOST_LINES, True)


@pytest.mark.parametrize("text", ['"' * 10**6, "'a" * 500_000, "`x" * 500_000, "deadbee" * 10**5, "1," * 500_000, "password=" * 10**5, "\x1b[" * 500_000])  # fmt: skip
def test_a_hostile_megabyte_takes_no_time(text: str) -> None:
    started = time.process_time()
    observe_logs([LogLine(AT, text)], "s", "loki", AT)
    assert time.process_time() - started < 0.5


@settings(max_examples=25, deadline=None)
@given(st.lists(st.text(max_size=60), max_size=8))
def test_any_lines_are_counted_and_none_twice(texts: list[str]) -> None:
    found, _ = group_lines(lines(*texts), limit=100)
    assert sum(t.count for t in found) <= len(texts)
    assert all(t.first <= t.last and t.text and len(t.sample) <= 300 for t in found)
    assert all("\n" not in t.sample and "\x1b" not in t.sample for t in found)


def test_a_template_of_a_template_is_itself() -> None:
    one = extract_template("a 1 \"x\" 'y' HTTP 504 [masked:secret] 0af7651916cd43dd")
    assert one == "a # \"…\" '…' HTTP 504 [masked:secret] #"
    assert extract_template(one) == one


def test_kinds_that_masking_makes_one_keep_the_first_and_the_last_time() -> None:
    texts = [
        "password=hunter1111 is refused",
        "password=longhunterpass is refused",
        "password=other_one_99x is refused",
    ]
    said = [LogLine(AT - timedelta(minutes=m), t) for m, t in zip((9, 2, 5), texts, strict=True)]
    (one,), _ = group_lines(said)
    assert (one.count, one.first, one.last) == (3, AT - timedelta(minutes=9), AT - timedelta(minutes=2))


def test_of_too_many_lines_the_latest_are_looked_at() -> None:
    old = [LogLine(AT - timedelta(minutes=10), "error old one")] * MOST_LINES
    found = observe_logs([*old, *[LogLine(AT, "error new one")] * MOST_LINES], "web", "loki", AT)
    assert [(i.text, i.count, i.truncated) for i in found if isinstance(i, Observed)] == [
        ("error new one", MOST_LINES, True)
    ]
