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
    LONGEST_MUTE,
    MEMBERS_MUTE_FOR,
    ChannelPolicy,
    Disposition,
    Mute,
    MuteTarget,
    RuleScope,
    SilenceRule,
    decide_suppression,
    is_muted,
    is_silenced,
    name_alert,
)
from bot.domain.incidents.lifecycle import IncidentState, Lifecycle, dismiss, is_finished, undo_dismissal
from tests.builders import an_alert

AT = datetime(2026, 11, 29, 23, 30, tzinfo=UTC)
KOLKATA = ZoneInfo("Asia/Kolkata")
BACKUP = an_alert(title="Nightly backup 2026-11-28 done", severity=Severity.WARNING, fingerprint="backup")
RULE = SilenceRule("C1", "B1", "alertmanager", "Nightly backup 2026-11-28 done", "U1", AT, number=3)
MUTE = Mute("C1", MuteTarget.FINGERPRINT, "fp-1", "GatewayErrors", AT + timedelta(hours=1), "deploy", "U1", AT)


def outcome(
    alert: Alert, house: ChannelPolicy, *, source: str = "B1", at: datetime = AT, zone: Any = UTC
) -> Disposition:
    return decide_suppression(alert, source, house, at, zone).outcome


def test_without_any_agreement_everything_is_answered() -> None:
    for state in AlertState:
        assert decide_suppression(an_alert(state=state), "B1", ChannelPolicy(), AT, UTC) == ANSWERED


def test_only_listed_apps_count_whatever_their_posts_say() -> None:
    house = ChannelPolicy(ChannelSettings(sources=frozenset({"B1", "B2"})))
    assert outcome(an_alert(), house) is Disposition.ANSWER
    assert outcome(an_alert(), house, source="B9") is Disposition.IGNORE
    assert outcome(an_alert(state=AlertState.RESOLVED), house, source="B9") is Disposition.IGNORE
    assert "app" in decide_suppression(an_alert(), "B9", house, AT, UTC).reason


@pytest.mark.parametrize(
    ("severity", "minimum", "expected"),
    [
        (Severity.INFO, Severity.WARNING, Disposition.COUNT_ONLY),
        (Severity.WARNING, Severity.WARNING, Disposition.ANSWER),
        (Severity.HIGH, Severity.CRITICAL, Disposition.COUNT_ONLY),
        (Severity.CRITICAL, Severity.CRITICAL, Disposition.ANSWER),
        (None, Severity.CRITICAL, Disposition.ANSWER),
        (Severity.INFO, None, Disposition.ANSWER),
    ],
)
def test_milder_ones_are_counted_only(
    severity: Severity | None, minimum: Severity | None, expected: Disposition
) -> None:
    assert outcome(an_alert(severity=severity), ChannelPolicy(ChannelSettings(minimum=minimum))) is expected


@pytest.mark.parametrize("severity", [*Severity, None])
def test_in_quiet_hours_warning_and_info_get_no_brief(severity: Severity | None) -> None:
    house = ChannelPolicy(ChannelSettings(quiet=(time(22), time(7))))
    mild = severity in {Severity.WARNING, Severity.INFO}
    assert outcome(an_alert(severity=severity), house) is (Disposition.COUNT_ONLY if mild else Disposition.ANSWER)
    assert outcome(an_alert(severity=severity), house, at=AT + timedelta(hours=8)) is Disposition.ANSWER


def test_quiet_hours_are_local() -> None:
    house = ChannelPolicy(ChannelSettings(quiet=(time(22), time(5))))
    warning = an_alert(severity=Severity.WARNING)
    assert outcome(warning, house) is Disposition.COUNT_ONLY
    assert outcome(warning, house, zone=KOLKATA) is Disposition.ANSWER  # 05:00 there: just over
    assert outcome(warning, house, at=AT - timedelta(minutes=1), zone=KOLKATA) is Disposition.COUNT_ONLY


@pytest.mark.parametrize("severity", [*Severity, None])
@pytest.mark.parametrize("tell", ["S1", ACKNOWLEDGER, None])
def test_told_for_critical_and_high_only(severity: Severity | None, tell: str | None) -> None:
    admission = decide_suppression(
        an_alert(severity=severity), "B1", ChannelPolicy(ChannelSettings(tell=tell)), AT, UTC
    )
    assert admission.outcome is Disposition.ANSWER
    assert admission.tell == (tell if severity in {Severity.CRITICAL, Severity.HIGH} else None)


def test_a_rule_silences_its_title_of_its_app_and_tool() -> None:
    house = ChannelPolicy(rules=(replace(RULE, number=1, source="B7"), RULE))
    admission = decide_suppression(BACKUP, "B1", house, AT, UTC)
    assert (admission.outcome, admission.silenced_by) == (Disposition.IGNORE, RULE)
    assert outcome(replace(BACKUP, title="NIGHTLY  backup 2027-01-02 done"), house) is Disposition.IGNORE
    assert outcome(replace(BACKUP, title="Nightly backup 2026-11-28 failed"), house) is Disposition.ANSWER
    assert outcome(replace(BACKUP, tool="grafana"), house) is Disposition.ANSWER
    assert outcome(BACKUP, house, source="B2") is Disposition.ANSWER


def test_a_critical_one_must_have_the_very_title() -> None:
    critical = replace(BACKUP, severity=Severity.CRITICAL)
    for rule in (RULE, replace(RULE, reach=RuleScope.SOURCE)):
        assert is_silenced(rule, critical, "B1")
        assert not is_silenced(rule, replace(critical, title="Nightly backup 2026-11-29 done"), "B1")


def test_a_rule_about_a_whole_app_is_about_all_its_titles_and_tools() -> None:
    rule = replace(RULE, reach=RuleScope.SOURCE)
    assert is_silenced(rule, an_alert(severity=Severity.HIGH, tool="grafana"), "B1")
    assert not is_silenced(rule, an_alert(severity=Severity.HIGH), "B2")


WORDS = st.lists(st.sampled_from(["Disk", "full", "1", "2", "on", "db-1", "db-2", "!"]), min_size=1, max_size=4)


@given(title=WORDS, taught=WORDS, reach=st.sampled_from(RuleScope))
def test_no_rule_ever_silences_a_critical_alert_of_another_title(
    title: list[str], taught: list[str], reach: RuleScope
) -> None:
    alert = an_alert(title="  ".join(title).upper(), severity=Severity.CRITICAL)
    rule = replace(RULE, title=" ".join(taught), reach=reach)
    assert is_silenced(rule, alert, "B1") is (title == taught)


def test_what_does_not_fire_is_asked_about_its_app_only() -> None:
    house = ChannelPolicy(
        ChannelSettings(minimum=Severity.CRITICAL, tell="S1"), (replace(RULE, reach=RuleScope.SOURCE),), (MUTE,)
    )
    for state in set(AlertState) - FIRES:
        assert outcome(an_alert(state=state, severity=Severity.WARNING), house) is Disposition.ANSWER
    for state in FIRES:
        assert outcome(an_alert(state=state, severity=Severity.WARNING), house) is Disposition.IGNORE


@pytest.mark.parametrize(
    ("changes", "alert", "expected"),
    [
        ({}, {}, True),
        ({}, {"fingerprint": "fp-2"}, False),
        ({"what": MuteTarget.SERVICE, "value": "Payments-API"}, {"fingerprint": "fp-2"}, True),
        ({"what": MuteTarget.SERVICE, "value": "payments-api"}, {"service": "search"}, False),
        ({"what": MuteTarget.SERVICE, "value": "payments-api"}, {"service": None}, False),
        ({"what": MuteTarget.CHANNEL, "value": ""}, {"service": None, "fingerprint": "x"}, True),
        ({"what": MuteTarget.NUDGES}, {}, False),
    ],
)
def test_what_a_mute_is_about(changes: dict[str, Any], alert: dict[str, Any], expected: bool) -> None:
    assert is_muted(replace(MUTE, **changes), an_alert(**alert), AT) is expected


def test_a_mute_ends_on_time_and_counts_meanwhile() -> None:
    house = ChannelPolicy(mutes=(MUTE,))
    admission = decide_suppression(an_alert(), "B1", house, MUTE.until - timedelta(microseconds=1), UTC)
    assert (admission.outcome, admission.silenced_by) == (Disposition.COUNT_ONLY, MUTE)
    assert "U1" in admission.reason
    assert outcome(an_alert(), house, at=MUTE.until) is Disposition.ANSWER


def test_a_title_is_always_there_and_can_be_kept() -> None:
    assert name_alert(an_alert(title=None, labels={"alertname": "Named"})) == "Named"
    assert name_alert(an_alert(title=None)) == "fp-1"
    assert name_alert(an_alert(title="a\x00b\ud800")) == "ab?"


def test_what_was_dismissed_is_new_again_once_its_rule_is_undone() -> None:
    life = Lifecycle("INC-1", "fp-1", "public", IncidentState.OPEN, AT - timedelta(hours=1), AT)
    gone = dismiss(life, AT)
    later = AT + timedelta(minutes=5)
    assert not is_finished(gone, later)
    back = undo_dismissal(gone, AT + timedelta(minutes=1))
    assert back.state is IncidentState.DISMISSED
    assert is_finished(back, later)
    assert not is_finished(back, AT)
    assert undo_dismissal(life, AT) == life


def test_a_member_mutes_for_a_day_and_nobody_for_more_than_three_months() -> None:
    assert timedelta(hours=24) == MEMBERS_MUTE_FOR
    assert timedelta(days=90) == LONGEST_MUTE


def test_what_is_not_stored_yet_has_no_number_and_has_silenced_nothing() -> None:
    rule = SilenceRule("C1", "B1", "alertmanager", "Backup", "U1", AT)
    assert (rule.number, rule.silenced, MUTE.number, MUTE.silenced) == (0, 0, 0, 0)
