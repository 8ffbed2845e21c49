from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.alerts.alert import Alert, AlertState, Severity
from bot.domain.alerts.channel_settings import ACKNOWLEDGER, ChannelSettings
from bot.domain.alerts.notification import FIRES
from bot.domain.alerts.suppression import (
    ANSWERED,
    House,
    Mute,
    Muted,
    Outcome,
    Reach,
    Rule,
    admit,
    mutes,
    silences,
    title_of,
)
from bot.domain.incidents.lifecycle import IncidentState, Life, dismiss, ended, take_back
from tests.builders import an_alert

AT = datetime(2026, 11, 29, 23, 30, tzinfo=UTC)
KOLKATA = ZoneInfo("Asia/Kolkata")
BACKUP = an_alert(title="Nightly backup 2026-11-28 done", severity=Severity.WARNING, fingerprint="backup")
RULE = Rule("C1", "B1", "alertmanager", "Nightly backup 2026-11-28 done", "U1", AT, number=3)
MUTE = Mute("C1", Muted.FINGERPRINT, "fp-1", "GatewayErrors", AT + timedelta(hours=1), "deploy", "U1", AT)


def outcome(alert: Alert, house: House, *, source: str = "B1", at: datetime = AT, zone: Any = UTC) -> Outcome:
    return admit(alert, source, house, at, zone).outcome


def test_without_any_agreement_everything_is_answered() -> None:
    for state in AlertState:
        assert admit(an_alert(state=state), "B1", House(), AT, UTC) == ANSWERED


def test_only_listed_apps_count_whatever_their_posts_say() -> None:
    house = House(ChannelSettings(sources=frozenset({"B1", "B2"})))
    assert outcome(an_alert(), house) is Outcome.ANSWER
    assert outcome(an_alert(), house, source="B9") is Outcome.IGNORE
    assert outcome(an_alert(state=AlertState.RESOLVED), house, source="B9") is Outcome.IGNORE
    assert "app" in admit(an_alert(), "B9", house, AT, UTC).reason


@pytest.mark.parametrize(
    ("severity", "minimum", "expected"),
    [
        (Severity.INFO, Severity.WARNING, Outcome.COUNT_ONLY),
        (Severity.WARNING, Severity.WARNING, Outcome.ANSWER),
        (Severity.HIGH, Severity.CRITICAL, Outcome.COUNT_ONLY),
        (Severity.CRITICAL, Severity.CRITICAL, Outcome.ANSWER),
        (None, Severity.CRITICAL, Outcome.ANSWER),
        (Severity.INFO, None, Outcome.ANSWER),
    ],
)
def test_milder_ones_are_counted_only(severity: Severity | None, minimum: Severity | None, expected: Outcome) -> None:
    assert outcome(an_alert(severity=severity), House(ChannelSettings(minimum=minimum))) is expected


@pytest.mark.parametrize("severity", [*Severity, None])
def test_in_quiet_hours_warning_and_info_get_no_brief(severity: Severity | None) -> None:
    house = House(ChannelSettings(quiet=(time(22), time(7))))
    mild = severity in {Severity.WARNING, Severity.INFO}
    assert outcome(an_alert(severity=severity), house) is (Outcome.COUNT_ONLY if mild else Outcome.ANSWER)
    assert outcome(an_alert(severity=severity), house, at=AT + timedelta(hours=8)) is Outcome.ANSWER


def test_quiet_hours_are_local() -> None:
    house = House(ChannelSettings(quiet=(time(22), time(5))))
    warning = an_alert(severity=Severity.WARNING)
    assert outcome(warning, house) is Outcome.COUNT_ONLY
    assert outcome(warning, house, zone=KOLKATA) is Outcome.ANSWER  # 05:00 there: just over
    assert outcome(warning, house, at=AT - timedelta(minutes=1), zone=KOLKATA) is Outcome.COUNT_ONLY


@pytest.mark.parametrize("severity", [*Severity, None])
@pytest.mark.parametrize("tell", ["S1", ACKNOWLEDGER, None])
def test_told_for_critical_and_high_only(severity: Severity | None, tell: str | None) -> None:
    admission = admit(an_alert(severity=severity), "B1", House(ChannelSettings(tell=tell)), AT, UTC)
    assert admission.outcome is Outcome.ANSWER
    assert admission.tell == (tell if severity in {Severity.CRITICAL, Severity.HIGH} else None)


def test_a_rule_silences_its_title_of_its_app_and_tool() -> None:
    house = House(rules=(replace(RULE, number=1, source="B7"), RULE))
    admission = admit(BACKUP, "B1", house, AT, UTC)
    assert (admission.outcome, admission.silenced_by) == (Outcome.IGNORE, RULE)
    assert outcome(replace(BACKUP, title="NIGHTLY  backup 2027-01-02 done"), house) is Outcome.IGNORE
    assert outcome(replace(BACKUP, title="Nightly backup 2026-11-28 failed"), house) is Outcome.ANSWER
    assert outcome(replace(BACKUP, tool="grafana"), house) is Outcome.ANSWER
    assert outcome(BACKUP, house, source="B2") is Outcome.ANSWER


def test_a_critical_one_must_have_the_very_title() -> None:
    critical = replace(BACKUP, severity=Severity.CRITICAL)
    for rule in (RULE, replace(RULE, reach=Reach.SOURCE)):
        assert silences(rule, critical, "B1")
        assert not silences(rule, replace(critical, title="Nightly backup 2026-11-29 done"), "B1")


def test_a_rule_about_a_whole_app_is_about_all_its_titles_and_tools() -> None:
    rule = replace(RULE, reach=Reach.SOURCE)
    assert silences(rule, an_alert(severity=Severity.HIGH, tool="grafana"), "B1")
    assert not silences(rule, an_alert(severity=Severity.HIGH), "B2")


WORDS = st.lists(st.sampled_from(["Disk", "full", "1", "2", "on", "db-1", "db-2", "!"]), min_size=1, max_size=4)


@given(title=WORDS, taught=WORDS, reach=st.sampled_from(Reach))
def test_no_rule_ever_silences_a_critical_alert_of_another_title(
    title: list[str], taught: list[str], reach: Reach
) -> None:
    alert = an_alert(title="  ".join(title).upper(), severity=Severity.CRITICAL)
    rule = replace(RULE, title=" ".join(taught), reach=reach)
    assert silences(rule, alert, "B1") is (title == taught)


def test_what_does_not_fire_is_asked_about_its_app_only() -> None:
    house = House(ChannelSettings(minimum=Severity.CRITICAL, tell="S1"), (replace(RULE, reach=Reach.SOURCE),), (MUTE,))
    for state in set(AlertState) - FIRES:
        assert outcome(an_alert(state=state, severity=Severity.WARNING), house) is Outcome.ANSWER
    for state in FIRES:
        assert outcome(an_alert(state=state, severity=Severity.WARNING), house) is Outcome.IGNORE


@pytest.mark.parametrize(
    ("changes", "alert", "expected"),
    [
        ({}, {}, True),
        ({}, {"fingerprint": "fp-2"}, False),
        ({"what": Muted.SERVICE, "value": "Payments-API"}, {"fingerprint": "fp-2"}, True),
        ({"what": Muted.SERVICE, "value": "payments-api"}, {"service": "search"}, False),
        ({"what": Muted.SERVICE, "value": "payments-api"}, {"service": None}, False),
        ({"what": Muted.CHANNEL, "value": ""}, {"service": None, "fingerprint": "x"}, True),
        ({"what": Muted.NUDGES}, {}, False),
    ],
)
def test_what_a_mute_is_about(changes: dict[str, Any], alert: dict[str, Any], expected: bool) -> None:
    assert mutes(replace(MUTE, **changes), an_alert(**alert), AT) is expected


def test_a_mute_ends_on_time_and_counts_meanwhile() -> None:
    house = House(mutes=(MUTE,))
    admission = admit(an_alert(), "B1", house, MUTE.until - timedelta(microseconds=1), UTC)
    assert (admission.outcome, admission.silenced_by) == (Outcome.COUNT_ONLY, MUTE)
    assert "U1" in admission.reason
    assert outcome(an_alert(), house, at=MUTE.until) is Outcome.ANSWER


def test_a_title_is_always_there_and_can_be_kept() -> None:
    assert title_of(an_alert(title=None, labels={"alertname": "Named"})) == "Named"
    assert title_of(an_alert(title=None)) == "fp-1"
    assert title_of(an_alert(title="a\x00b\ud800")) == "ab?"


def test_what_was_dismissed_is_new_again_once_its_rule_is_undone() -> None:
    life = Life("INC-1", "fp-1", "public", IncidentState.OPEN, AT - timedelta(hours=1), AT)
    gone = dismiss(life, AT)
    later = AT + timedelta(minutes=5)
    assert not ended(gone, later)
    back = take_back(gone, AT + timedelta(minutes=1))
    assert back.state is IncidentState.DISMISSED
    assert ended(back, later)
    assert not ended(back, AT)
    assert take_back(life, AT) == life
