"""What tells past cases apart, and which of them an alert is like."""

from __future__ import annotations

import pytest

from bot.domain.recall.contrast import Likeness, describe_contrast, find_likeness
from tests.builders import an_alert, an_incident


def said(these, those) -> str | None:
    return describe_contrast(these, those, "vendor", "internal")


def test_nothing_is_told_of_an_empty_group() -> None:
    assert said([], [an_incident()]) is None
    assert said([an_incident()], []) is None


def test_a_field_that_some_leave_open_still_tells_and_says_how_many_state_it() -> None:
    these = [an_incident("a", region="ap-south-1"), an_incident("b")]
    assert said(these, [an_incident("c", region="eu-west-1")]) == (
        "region ap-south-1 (vendor, 1 of 2 say) or eu-west-1 (internal)"
    )


def test_values_are_compared_by_their_form() -> None:
    these, those = [an_incident("a", environment="prod")], [an_incident("b", environment="Production")]
    assert said(these, those) is None


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (
            ["status page says all operational", "their status page: no incident"],
            ["status page degraded since 3", "status page showed an outage"],
            "status page green (vendor only); status page not green (internal only)",
        ),
        (
            ["errors after deploy 41", "errors since the rollout of web"],
            ["errors, no deploy today", "errors without a release"],
            "a deploy named (vendor only); no deploy, as noted (internal only)",
        ),
        (["answers 504", "504 seen"], ["answers 401", "401 seen"], "504 (vendor only); 401 (internal only)"),
        (["answers 12345", "12345 seen"], ["answers 99999", "99999 seen"], None),
    ],
)
def test_what_the_symptoms_say(one, other, expected: str | None) -> None:
    these, those = ([an_incident(str(n), symptoms=(s,)) for n, s in enumerate(texts)] for texts in (one, other))
    assert said(these, those) == expected


def test_what_tells_by_a_word_already_is_told_once() -> None:
    these, those = [an_incident("a", symptoms=("bad deploy",))], [an_incident("b", symptoms=("at night",))]
    assert said(these, those) == "bad, deploy (vendor only); night (internal only)"


def test_a_sign_stands_in_the_place_of_its_words() -> None:
    these, those = [an_incident("a", symptoms=("status page green, webhooks hang",))], [an_incident("b")]
    assert said(these, those) == "status page green, webhook, hang (vendor only)"


def test_evidence_noted_then_tells_too() -> None:
    these = [an_incident("a", evidence={"deploys": "deploy of web 10 min before"})]
    assert said(these, [an_incident("b")]) == "a deploy named (vendor only)"


GROUPS = {
    "vendor": [an_incident("a", symptoms=("status page green", "webhook signature refused"))],
    "internal": [an_incident("b", symptoms=("egress proxy full", "deploy of the proxy"))],
}


def test_one_group_is_like_nothing() -> None:
    assert find_likeness(an_alert(), {"vendor": GROUPS["vendor"]}) == Likeness()


def test_without_fields_the_alerts_words_tell() -> None:
    found = find_likeness(an_alert(text="the egress proxy is full"), GROUPS)
    assert (found.group, found.because) == ("internal", "proxy, egress, full")
    assert found.said == "this alert is proxy, egress, full, as in the internal one"


def test_one_word_in_common_is_not_enough() -> None:
    assert find_likeness(an_alert(text="proxy"), GROUPS) == Likeness()


def test_what_the_alert_says_of_a_deploy_tells() -> None:
    found = find_likeness(an_alert(text="error rate up right after a rollout"), GROUPS)
    assert (found.group, found.because) == ("internal", "a deploy named")


def test_a_field_tells_only_if_every_group_states_it_and_one_alone_has_the_value() -> None:
    here, there = an_incident("a", region="eu-west-1"), an_incident("b", region="ap-south-1")
    alert = an_alert(region="eu-west-1", text="")
    assert find_likeness(alert, {"x": [here], "y": [there]}).group == "x"
    assert find_likeness(alert, {"x": [here], "y": [an_incident("c")]}).group is None
    assert find_likeness(alert, {"x": [here], "y": [there, here]}).group is None
    assert find_likeness(an_alert(region=None, text=""), {"x": [here], "y": [there]}).group is None
