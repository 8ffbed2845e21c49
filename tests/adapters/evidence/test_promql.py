"""Matchers that nothing breaks out of, and thresholds taken off expressions as rules have them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.adapters.evidence.metric_templates import TEMPLATES, Template, known_metrics, usable
from bot.adapters.evidence.promql import Split, matchers, quoted, split_threshold


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("up == 0", Split("up", "==", 0)),
        ("errors:ratio > 0.05", Split("errors:ratio", ">", 0.05)),
        ("(sum(rate(a{code=~\"5..\"}[5m])) / sum(rate(a[5m]))) >= bool 5e-2", Split("(sum(rate(a{code=~\"5..\"}[5m])) / sum(rate(a[5m])))", ">=", 0.05)),
        ("((a < 10))", Split("a", "<", 10)),
        ("(a) > (b)", None),
        ("(a) - (b) > 1_000", Split("(a) - (b)", ">", 1000)),
        ("0.9 < pool", Split("pool", ">", 0.9)),
        ("0 == up", Split("up", "==", 0)),
        ("a > 5 and b > 3", None),
        ("a > 5 unless on (x) b", None),
        ("sum(a > 5) > 3", Split("sum(a > 5)", ">", 3)),
        ("sum(a or b) > 3", Split("sum(a or b)", ">", 3)),
        ("a > 1 < 5", Split("a > 1", "<", 5)),
        ("vendor_total > 3", Split("vendor_total", ">", 3)),
        ("a{x=\"> 5\\\" \"} != 2", Split("a{x=\"> 5\\\" \"}", "!=", 2)),
        ("a{x=`\\`} > 2 # > 9", None),
        ("a # b > 7\n> 2", Split("a # b > 7", ">", 2)),
        ("a > -.5", Split("a", ">", -0.5)),
        ("a > b", None),
        ("> 5", None),
        ("absent(up)", None),
        ("a > 5 * 60", None),
        ("", None),
        ("\"", None),
    ],
)  # fmt: skip
def test_thresholds(expression: str, found: Split | None) -> None:
    assert split_threshold(expression) == found


def test_low_values_are_what_some_rules_warn_of() -> None:
    assert [Split("a", op, 1).wants_low for op in (">", "<", ">=", "<=", "==")] == [False, True, False, True, False]


@given(st.text(max_size=40))
def test_any_text_is_read_without_error_and_no_value_ends_its_literal(text: str) -> None:
    split_threshold(text)
    literal = quoted(text)
    assert "\n" not in literal
    assert split_threshold(f"a{{x={literal}}} > 3") == Split(f"a{{x={literal}}}", ">", 3)


def test_matchers_are_escaped_and_many_values_match_literally() -> None:
    said = matchers({"service": ('pay"} or vector(1) #\\',), "job": ("a.b", "c|d"), "none": ()})
    assert said == 'job=~"a\\\\.b|c\\\\|d",service="pay\\"} or vector(1) #\\\\"'


def test_a_signal_is_taken_by_the_first_names_that_are_there_and_by_the_operators_own_before() -> None:
    classic = frozenset({"http_requests_total", "hikaricp_connections_active", "up"})
    assert [t.signal for t in usable(classic)] == ["error_ratio", "traffic", "targets_up"]
    both = frozenset({"http_requests_total", "http_server_request_duration_seconds_count"})
    assert "http_response_status_code" in next(t.query for t in usable(both) if t.signal == "error_ratio")
    own = Template("traffic", "orders", "/s", "orders")
    (first, *_) = usable(frozenset({"http_requests_total"}), (own,))
    assert (first.signal, first.query) == ("traffic", "orders")
    assert usable(frozenset()) == ()
    assert all("$labels" in t.query or "$pods" in t.query for t in TEMPLATES)
    assert len(known_metrics()) == len(set(known_metrics()))
