"""Steps verbatim, and what to beware of in them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.fixes.steps import find_step_warnings, normalize_fix, split_steps
from bot.domain.incidents.record import Announcement
from tests.builders import an_alert, an_incident


@pytest.mark.parametrize(
    ("fix", "steps"),
    [
        ("", ()),
        (" ; \n;", ()),
        ("restart it", ("restart it",)),
        ("Open the breaker; route to stripe;  watch ", ("Open the breaker", "route to stripe", "watch")),
        ("1. Open\n2) Route\n3: Watch", ("Open", "Route", "Watch")),
        ("- Open\n* Route\n• Watch", ("Open", "Route", "Watch")),
        ("Step 1: Open\nstep 2. Route", ("Open", "Route")),
        ("1. Open 2. Route 3. Watch", ("Open", "Route", "Watch")),
        ("Do this: 1) open 2) route", ("Do this:", "open", "route")),
        ("raise to 2. then 5. then stop", ("raise to 2. then 5. then stop",)),
        ('run `a; b` then "c; d"; done', ('run `a; b` then "c; d"', "done")),
        ('say "hi; bye', ('say "hi', "bye")),
        ("Keep  the Spacing, case & <tags>", ("Keep  the Spacing, case & <tags>",)),
        ("10.5 GB are enough", ("10.5 GB are enough",)),
    ],
)
def test_split(fix: str, steps: tuple[str, ...]) -> None:
    assert split_steps(fix) == steps


def test_separators_numbers_case_and_final_punctuation_do_not_make_another_fix() -> None:
    assert normalize_fix("1. Open the breaker.\n2. Route to Stripe") == normalize_fix(
        "open the breaker;  route to stripe!"
    )
    assert normalize_fix("a; b") != normalize_fix("b; a")


@settings(max_examples=80, derandomize=True, deadline=None)
@given(st.text(max_size=200))
def test_no_step_is_empty_and_every_one_is_in_the_text(fix: str) -> None:
    assert all(step and step in fix for step in split_steps(fix))


PAST = an_incident(region="ap-south-1", environment="production", service="payments-api", vendor="razorpay")


@pytest.mark.parametrize(
    ("step", "now", "warnings"),
    [
        (
            "restart the proxy in AP-SOUTH-1",
            {"region": "eu-west-1"},
            ("written for ap-south-1; this alert is eu-west-1",),
        ),
        ("restart the proxy in ap-south-1", {"region": "AP-SOUTH-1"}, ()),
        ("restart the proxy in ap-south-1", {"region": None}, ()),
        ("restart the proxy in ap-south-1a", {"region": "eu-west-1"}, ()),
        ("restart the proxy", {"region": "eu-west-1"}, ()),
        ("roll payments-api", {"service": "refunds-api"}, ("written for payments-api; this alert is refunds-api",)),
        ("call razorpay", {"vendor": "stripe"}, ("written for razorpay; this alert is stripe",)),
        ("use the production config", {"environment": "prod"}, ()),
        ("use the production config", {"environment": "stg"}, ("written for production; this alert is stg",)),
    ],
)
def test_words_of_the_past_alert_that_differ_now(
    step: str, now: dict[str, str | None], warnings: tuple[str, ...]
) -> None:
    assert find_step_warnings((step,), PAST, an_alert(**now)) == warnings


def test_labels_of_the_past_alert_that_differ_now() -> None:
    past = an_incident(
        alerts=(
            Announcement(labels={"cluster": "bom-1", "shard": "7", "az": "b1", "severity": "critical", "pod": "x-1"}),
            Announcement(labels={"cluster": "bom-1"}),
        )
    )
    alert = an_alert(labels={"cluster": "fra-2", "shard": "8", "az": "b2", "severity": "warning"})
    steps = ("cordon bom-1, shard 7, b1", "it is critical")
    assert find_step_warnings(steps, past, alert) == ("written for bom-1; this alert is fra-2",)


@pytest.mark.parametrize(
    ("step", "word"),
    [
        ("Delete the pod", "delete"),
        ("rm -rf /tmp/x", "delete"),
        ("rm -fr /tmp/x", "delete"),
        ("DROP TABLE x", "drop"),
        ("truncate the log", "truncate"),
        ("force the failover", "force"),
        ("git push --force", "force"),
        ("kill -9 42", "force"),
        ("scale checkout to zero", "scale to zero"),
        ("scale to 0", "scale to zero"),
        ("kubectl scale --replicas=0 deploy/x", "scale to zero"),
        ("FLUSHALL on the cache", "wipe"),
        ("purge the queue", "wipe"),
    ],
)
def test_destructive_steps_are_marked(step: str, word: str) -> None:
    assert find_step_warnings(("look", step), None, an_alert()) == (
        f"step 2 is destructive ({word}): make sure before you run it",
    )


@pytest.mark.parametrize(
    "step", ["scale to 10", "reinforce the point", "dropbox is fine", "undelete it", "kill -15 42"]
)
def test_harmless_steps_are_not(step: str) -> None:
    assert find_step_warnings((step,), PAST, an_alert()) == ()
