"""Names, words and signs: the forms in which things are compared."""

from __future__ import annotations

import pytest

from bot.domain.text.error_codes import code_form, code_words, codes_in, metric_names_in, telling_names
from bot.domain.text.names import (
    content_words,
    counted,
    cut,
    environment_form,
    listed,
    one_line,
    parted,
    same_form,
    title_form,
)


@pytest.mark.parametrize(
    ("name", "form"), [("Razorpay", "razorpay"), ("  EU-West-1 ", "eu-west-1"), ("", None), (None, None), (" ; ", None)]
)
def test_names_are_compared_without_case_and_spaces(name: str | None, form: str | None) -> None:
    assert same_form(name) == form


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
    assert (environment_form(one) == environment_form(other)) is same


def test_an_unknown_environment_has_no_form() -> None:
    assert environment_form(None) is None


def test_alert_names_are_compared_by_letters_and_digits() -> None:
    assert title_form("Payment Gateway: Error-Rate") == title_form("paymentGatewayErrorRate")
    assert title_form("") is None
    assert title_form("—") is None
    assert title_form(None) is None


@pytest.mark.parametrize(
    ("name", "parts"),
    [("RazorpayErrorRate", "Razorpay Error Rate"), ("HTTPServerDown", "HTTP Server Down"), ("db_pool", "db pool")],
)
def test_joined_names_are_parted(name: str, parts: str) -> None:
    assert parted(name) == parts


def test_content_words_leave_out_how_something_was_looked_at() -> None:
    assert content_words("We checked the DB pools and access to Redis status") == {
        "database",
        "pool",
        "access",
        "redis",
        "status",
    }
    assert content_words("checked it") == frozenset()


def test_texts_are_cut_visibly() -> None:
    assert cut("abcdef", 6) == "abcdef"
    assert cut("abcdefg", 6) == "abcde…"
    assert one_line(" a\n b\tc ", 10) == "a b c"


def test_lists_and_counts_read_well() -> None:
    assert listed(["INC-1", "INC-2"]) == "INC-1, INC-2"
    assert listed(["a", "b", "c", "d"], 2) == "a, b and 2 more"
    assert (counted(1, "outage"), counted(2, "outage")) == ("1 outage", "2 outages")


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
    assert code_form(code) == form


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
    assert codes_in(text) == codes


def test_metric_names_are_found_in_text() -> None:
    found = metric_names_in("payment_error_ratio and aws.s3.put_errors rose; see razorpay.com and well-known words")
    assert found == {"payment_error_ratio", "aws.s3.put_errors"}


def test_names_that_tell_nothing_are_left_out() -> None:
    assert telling_names(["Value", "cpu", None, "", "Error  Ratio", "errors"]) == {"error ratio"}


def test_codes_have_words() -> None:
    assert code_words({"504", "429", "nonsense"}) == ("rate limit", "timeout")
