"""Matchers that nothing breaks out of, and thresholds taken off expressions as rules have them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.adapters.evidence.metric_templates import TEMPLATES, MetricTemplate, choose_templates, list_metrics
from bot.adapters.evidence.promql import SplitExpression, build_matchers, quote_promql, split_threshold


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("up == 0", SplitExpression("up", "==", 0)),
        ("errors:ratio > 0.05", SplitExpression("errors:ratio", ">", 0.05)),
        ("(sum(rate(a{code=~\"5..\"}[5m])) / sum(rate(a[5m]))) >= bool 5e-2", SplitExpression("(sum(rate(a{code=~\"5..\"}[5m])) / sum(rate(a[5m])))", ">=", 0.05)),
        ("((a < 10))", SplitExpression("a", "<", 10)),
        ("(a) > (b)", None),
        ("(a) - (b) > 1_000", SplitExpression("(a) - (b)", ">", 1000)),
        ("0.9 < pool", SplitExpression("pool", ">", 0.9)),
        ("0 == up", SplitExpression("up", "==", 0)),
        ("a > 5 and b > 3", None),
        ("a > 5 unless on (x) b", None),
        ("sum(a > 5) > 3", SplitExpression("sum(a > 5)", ">", 3)),
        ("sum(a or b) > 3", SplitExpression("sum(a or b)", ">", 3)),
        ("a > 1 < 5", SplitExpression("a > 1", "<", 5)),
        ("vendor_total > 3", SplitExpression("vendor_total", ">", 3)),
        ("a{x=\"> 5\\\" \"} != 2", SplitExpression("a{x=\"> 5\\\" \"}", "!=", 2)),
        ("a{x=`\\`} > 2 # > 9", None),
        ("a # b > 7\n> 2", SplitExpression("a # b > 7", ">", 2)),
        ("a > -.5", SplitExpression("a", ">", -0.5)),
        ("a > b", None),
        ("> 5", None),
        ("absent(up)", None),
        ("a > 5 * 60", None),
        ("", None),
        ("\"", None),
    ],
)  # fmt: skip
def test_thresholds(expression: str, found: SplitExpression | None) -> None:
    assert split_threshold(expression) == found


def test_low_values_are_what_some_rules_warn_of() -> None:
    assert [SplitExpression("a", op, 1).wants_low for op in (">", "<", ">=", "<=", "==")] == [
        False,
        True,
        False,
        True,
        False,
    ]


@given(st.text(max_size=40))
def test_any_text_is_read_without_error_and_no_value_ends_its_literal(text: str) -> None:
    split_threshold(text)
    literal = quote_promql(text)
    assert "\n" not in literal
    assert split_threshold(f"a{{x={literal}}} > 3") == SplitExpression(f"a{{x={literal}}}", ">", 3)


def test_matchers_are_escaped_and_many_values_match_literally() -> None:
    said = build_matchers({"service": ('pay"} or vector(1) #\\',), "job": ("a.b", "c|d"), "none": ()})
    assert said == 'job=~"a\\\\.b|c\\\\|d",service="pay\\"} or vector(1) #\\\\"'


def test_a_signal_is_taken_by_the_first_names_that_are_there_and_by_the_operators_own_before() -> None:
    classic = frozenset({"http_requests_total", "hikaricp_connections_active", "up"})
    assert [t.signal for t in choose_templates(classic)] == ["error_ratio", "traffic", "targets_up"]
    both = frozenset({"http_requests_total", "http_server_request_duration_seconds_count"})
    assert "http_response_status_code" in next(t.query for t in choose_templates(both) if t.signal == "error_ratio")
    own = MetricTemplate("traffic", "orders", "/s", "orders")
    (first, *_) = choose_templates(frozenset({"http_requests_total"}), (own,))
    assert (first.signal, first.query) == ("traffic", "orders")
    assert choose_templates(frozenset()) == ()
    assert all("$labels" in t.query or "$pods" in t.query for t in TEMPLATES)
    assert len(list_metrics()) == len(set(list_metrics()))
