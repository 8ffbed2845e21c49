"""Names, words and signs: the forms in which things are compared."""

from __future__ import annotations

import pytest

from bot.domain.text.error_codes import (
    choose_telling_names,
    find_codes,
    find_metric_names,
    list_code_words,
    normalize_code,
)
from bot.domain.text.format import cut, fit_one_line, format_count, join_names
from bot.domain.text.names import find_content_words, normalize_environment, normalize_name, normalize_title, split_name


@pytest.mark.parametrize(
    ("name", "form"), [("Razorpay", "razorpay"), ("  EU-West-1 ", "eu-west-1"), ("", None), (None, None), (" ; ", None)]
)
def test_names_are_compared_without_case_and_spaces(name: str | None, form: str | None) -> None:
    assert normalize_name(name) == form


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("prod", "Production", True),
        ("stg", "staging", True),
        ("dev", "development", True),
        ("prod", "staging", False),
        ("eu-prod", "production", False),
    ],
)
def test_environments_have_short_names(one: str, other: str, same: bool) -> None:
    assert (normalize_environment(one) == normalize_environment(other)) is same


def test_an_unknown_environment_has_no_form() -> None:
    assert normalize_environment(None) is None


def test_alert_names_are_compared_by_letters_and_digits() -> None:
    assert normalize_title("Payment Gateway: Error-Rate") == normalize_title("paymentGatewayErrorRate")
    assert normalize_title("") is None
    assert normalize_title("—") is None
    assert normalize_title(None) is None


@pytest.mark.parametrize(
    ("name", "parts"),
    [("RazorpayErrorRate", "Razorpay Error Rate"), ("HTTPServerDown", "HTTP Server Down"), ("db_pool", "db pool")],
)
def test_joined_names_are_parted(name: str, parts: str) -> None:
    assert split_name(name) == parts


def test_content_words_leave_out_how_something_was_looked_at() -> None:
    assert find_content_words("We checked the DB pools and access to Redis status") == {
        "database",
        "pool",
        "access",
        "redis",
        "status",
    }
    assert find_content_words("checked it") == frozenset()


def test_texts_are_cut_visibly() -> None:
    assert cut("abcdef", 6) == "abcdef"
    assert cut("abcdefg", 6) == "abcde…"
    assert fit_one_line(" a\n b\tc ", 10) == "a b c"


def test_lists_and_counts_read_well() -> None:
    assert join_names(["INC-1", "INC-2"]) == "INC-1, INC-2"
    assert join_names(["a", "b", "c", "d"], 2) == "a, b and 2 more"
    assert (format_count(1, "outage"), format_count(2, "outage")) == ("1 outage", "2 outages")


@pytest.mark.parametrize(
    ("code", "form"),
    [
        ("504", "504"),
        ("HTTP 504", "504"),
        ("504 Gateway Timeout", "504"),
        ("GATEWAY_TIMEOUT", "504"),
        ("Service Unavailable", "503"),
        ("OOMKilled", "oom"),
        ("ECONNREFUSED", "connection refused"),
        ("CrashLoopBackOff", "crashloopbackoff"),
        ("E1234", "e1234"),
    ],
)
def test_one_code_has_one_form(code: str, form: str) -> None:
    assert normalize_code(code) == form


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("captures return HTTP 502 & GATEWAY_TIMEOUT", {"502", "504"}),
        ("status 503, then 504.", {"503", "504"}),
        ("p95 is 503 ms over 500 requests, 429s and 504%", set()),
        ("port 10.0.0.1:503 and v1.504 and $500 and INC-404", set()),
        ("OOMKilled and ZeroDivisionError", {"oom", "zerodivisionerror"}),
        ("connect ECONNRESET", {"connection reset"}),
        ("all is well", set()),
    ],
)
def test_codes_are_found_in_text_but_not_numbers_with_units(text: str, codes: set[str]) -> None:
    assert find_codes(text) == codes


def test_metric_names_are_found_in_text() -> None:
    found = find_metric_names("payment_error_ratio and aws.s3.put_errors rose; see razorpay.com and well-known words")
    assert found == {"payment_error_ratio", "aws.s3.put_errors"}


def test_names_that_tell_nothing_are_left_out() -> None:
    assert choose_telling_names(["Value", "cpu", None, "", "Error  Ratio", "errors"]) == {"error ratio"}


def test_codes_have_words() -> None:
    assert list_code_words({"504", "429", "nonsense"}) == ("rate limit", "timeout")
