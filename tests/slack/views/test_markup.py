"""The one boundary between data and Slack's text."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.text.visible import clean
from bot.slack.views import markup


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a\u202eb\u200bc\ufeffd\x00e\x1bf", "abcdef"),
        ("one\r\ntwo\u2028three", "one two three"),
        ("tab\tand\u00a0space", "tab and space"),
        ("\u3164\u115f", ""),
        ("\ud800lone", "lone"),
    ],
)
def test_clean_drops_what_cannot_be_seen(text: str, said: str) -> None:
    assert clean(text) == said


def test_clean_keeps_lines_and_spaces_when_asked() -> None:
    assert clean("a  b\n\n  c", lines=True) == "a b\nc"
    assert clean("a  b\n  c ", lines=True, exact=True) == "a  b\nc"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<!channel> & <@U1>", "&lt;!channel&gt; &amp; &lt;@U1&gt;"),
        ("*bold* ~gone~ `code`", "∗bold∗ ∼gone∼ ˋcodeˋ"),
        ("_it_ snake_case _x", "ˍitˍ snake_case ˍx"),
        (":fire: at 10:20:30", "꞉fire: at 10:20:30"),
        ("&lt;b&gt;", "&amp;lt;b&amp;gt;"),
    ],
)
def test_prose_has_no_power(text: str, said: str) -> None:
    assert markup.prose(text, 200) == said


def test_fit_counts_the_escaped_form_and_cuts_at_a_word() -> None:
    assert markup.fit("alpha beta gamma", 12) == "alpha beta…"
    assert markup.fit("<<<<<<", 10) == "&lt;&lt;…"
    assert markup.fit("abcdefghij", 5) == "abcd…"
    assert markup.fit("&&", 1) == "…"


@given(st.text(), st.integers(min_value=1, max_value=300))
def test_fit_never_exceeds_its_limit_nor_splits_an_entity(text: str, limit: int) -> None:
    said = markup.plain(text, limit)
    assert len(said) <= limit
    rest = said.replace("&amp;", "").replace("&lt;", "").replace("&gt;", "")
    assert not set("&<>") & set(rest)


@pytest.mark.parametrize(
    "url",
    [None, "", "javascript:alert(1)", "ftp://x/y", "https://evil|ok", "https://a b", "http://x>y", "slack://open",
     "https://x/\u202egnp", "https://" + "x" * 1001],
)  # fmt: skip
def test_what_is_no_plain_web_address_becomes_no_link(url: str | None) -> None:
    assert markup.link(url, "INC-1") == "INC-1"


def test_a_link_is_escaped_and_its_label_is_data() -> None:
    assert markup.link("https://x.example/?a=1&b=2", "*INC*<1>") == "<https://x.example/?a=1&amp;b=2|∗INC∗&lt;1&gt;>"


def test_a_person_is_mentioned_only_by_a_slack_id() -> None:
    assert markup.format_user("U0ABC") == "<@U0ABC>"
    assert markup.format_user("U0ABC>|x") == "U0ABC&gt;|x"
    assert markup.format_user(None) == "someone"


def test_times_are_shown_in_the_readers_zone_with_utc_beside() -> None:
    at = datetime(2026, 11, 29, 3, 5, tzinfo=UTC)
    assert markup.format_time(at) == "<!date^1795921500^{date_short_pretty} {time}|2026-11-29 03:05 UTC>"
    assert (markup.format_date(at), markup.format_date(None)) == ("2026-11-29", "no date")


def test_reading_is_what_a_person_sees_of_slacks_text() -> None:
    text = "<@U1> see <https://x.example/a|the page> and <https://y.example> <!here> a &lt;b&gt; &amp;amp;"
    assert markup.decode_text(text) == " see the page and https://y.example  a <b> &amp;"


def test_text_size_counts_nested_texts() -> None:
    blocks = [markup.header("abc"), markup.context("de"), markup.actions("x", [{"text": markup.plain_text("f")}])]
    assert markup.count_text(blocks) == 6
