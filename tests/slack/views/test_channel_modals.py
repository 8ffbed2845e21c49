"""What the answers of the modals of agreements mean, forged ones among them; and who people are. No Slack is needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from bot.domain.alerts.channel_settings import ChannelSettings
from bot.domain.alerts.suppression import MuteTarget, RuleScope
from bot.ports.errors import ChatAuthRejected, RecordRejected
from bot.slack import ids
from bot.slack.client.people import SlackPeople, is_outsider
from bot.slack.views.channel_modal import build_channel_view, read_channel_settings, read_quiet_hours
from bot.slack.views.silence_modals import build_mute_view, read_mute, read_reach
from tests.fakes import FakeClock
from tests.slack import cases

NOW = datetime(2026, 11, 30, 17, 0, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")


def view(**said: str | list[str]) -> dict[str, Any]:
    """A submitted view with these answers."""
    values = {}
    for block, value in said.items():
        given: dict[str, Any] = {"value": value} if isinstance(value, str) else {"selected_conversations": value}
        values[block] = {ids.INPUT: given}
    return {"state": {"values": values}, "blocks": [{"block_id": block} for block in said]}


@pytest.mark.parametrize(
    ("text", "until"),
    [
        ("18:30", datetime(2026, 11, 30, 17, 30, tzinfo=UTC)),
        ("18:00", datetime(2026, 12, 1, 17, 0, tzinfo=UTC)),
        ("7:05", datetime(2026, 12, 1, 6, 5, tzinfo=UTC)),
        ("2026-12-24 08:00", datetime(2026, 12, 24, 7, 0, tzinfo=UTC)),
        ("2026-12-24T08:00", datetime(2026, 12, 24, 7, 0, tzinfo=UTC)),
    ],
)
def test_until_a_time_as_people_there_see_it(text: str, until: datetime) -> None:
    form = read_mute(view(what="channel", until="at", until_time=text), NOW, BERLIN)
    assert (form.what, form.until, form.reason) == (MuteTarget.CHANNEL, until, "")


@pytest.mark.parametrize(("span", "hours"), [("1h", 1), ("4h", 4), ("24h", 24), ("7d", 168)])
def test_a_span_begins_now(span: str, hours: int) -> None:
    form = read_mute(view(what="fingerprint", until=span, until_time="nonsense", reason="r"), NOW, BERLIN)
    assert (form.what, form.until, form.reason) == (MuteTarget.FINGERPRINT, NOW + timedelta(hours=hours), "r")


@pytest.mark.parametrize(
    ("text", "zone"),
    [("0001-01-01 00:00", "Asia/Kolkata"), ("9999-12-31 23:59", "America/Los_Angeles"), ("25:00", "UTC")],
)
def test_a_time_that_there_is_not_is_told(text: str, zone: str) -> None:
    with pytest.raises(RecordRejected, match="no such time"):
        read_mute(view(what="channel", until="at", until_time=text), NOW, ZoneInfo(zone))


@pytest.mark.parametrize("said", [{}, {"what": "everything", "until": "1h"}, {"what": "fingerprint"}])
def test_a_forged_mute_is_refused(said: Mapping[str, str]) -> None:
    with pytest.raises(RecordRejected):
        read_mute(view(**said), NOW, UTC)


def test_what_is_to_be_learned() -> None:
    assert [read_reach(view(reach=said)) for said in ("this", "title", "source")] == [
        None,
        RuleScope.TITLE,
        RuleScope.SOURCE,
    ]
    for forged in ({}, {"reach": "everything"}):
        with pytest.raises(RecordRejected):
            read_reach(view(**forged))


def test_a_service_is_offered_where_the_alert_names_one() -> None:
    def things(service: str | None) -> list[str]:
        said = replace(cases.answered(), alert=cases.alert(service=service))
        return [o["value"] for o in build_mute_view(said, {}, UTC)["blocks"][0]["element"]["options"]]

    assert things("payments-api") == ["fingerprint", "service", "channel"]
    assert things(None) == ["fingerprint", "channel"]


@pytest.mark.parametrize(
    ("text", "quiet"),
    [
        ("", None),
        ("22:00-07:00", (time(22), time(7))),
        ("22 – 7:30", (time(22), time(7, 30))),
        ("20:15 to 24", (time(20, 15), time(0))),
    ],
)
def test_quiet_hours_as_people_write_them(text: str, quiet: tuple[time, time] | None) -> None:
    assert read_quiet_hours(text) == quiet


@pytest.mark.parametrize("text", ["22:00-24:30", "25-7", "22:61-7", "night", "7-7"])
def test_quiet_hours_that_are_none_are_told(text: str) -> None:
    with pytest.raises(RecordRejected):
        read_quiet_hours(text)


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"digest_hour": "9"}, ids.DIGEST_DAY),
        ({"digest_day": "someday", "digest_hour": "9"}, ids.DIGEST_DAY),
        ({"digest_day": "mon"}, ids.DIGEST_HOUR),
        ({"digest_day": "mon", "digest_hour": "24"}, ids.DIGEST_HOUR),
        ({"digest_day": "mon", "digest_hour": "²"}, ids.DIGEST_HOUR),
    ],
)
def test_forged_settings_are_refused(said: dict[str, str], field: str) -> None:
    with pytest.raises(RecordRejected) as refused:
        read_channel_settings(view(**said))
    assert refused.value.field == field


def test_a_pool_that_was_not_asked_for_is_left_alone() -> None:
    said = {"digest_day": "none", "digest_hour": "9"}
    settings, pool = read_channel_settings(view(**said))
    assert (settings, pool) == (ChannelSettings(digest_day="none", digest_hour=9), None)
    assert read_channel_settings(view(**said, pool=[]))[1] == ()
    assert read_channel_settings(view(**said, pool=["C2"]))[1] == ("C2",)


def test_a_group_that_is_gone_stays_chosen() -> None:
    shown = replace(cases.channel_settings(), groups=())
    element = next(b for b in build_channel_view(shown, {})["blocks"] if b["block_id"] == ids.MENTION)["element"]
    assert element["initial_option"]["value"] == "S0ONCALL"


@pytest.mark.parametrize(
    ("user", "outside"),
    [
        ({"team_id": "T1"}, False),
        ({}, False),
        ({"team_id": "T2"}, True),
        ({"team_id": "T1", "is_stranger": True}, True),
        ({"team_id": "E1", "enterprise_user": {"teams": ["T1", "T3"]}}, False),
        ({"team_id": "E2", "enterprise_user": {"teams": ["T9"]}}, True),
    ],
)
def test_who_belongs_to_another_organisation(user: Mapping[str, Any], outside: bool) -> None:
    assert is_outsider(user, "T1") is outside


class Refusing:
    """A chat whose app may ask about people, and not about user groups."""

    def __init__(self) -> None:
        self.client = self
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return lambda **_: name

    async def ask(self, operation: str, call: Any) -> Mapping[str, Any]:
        self.asked.append(operation)
        if operation == "user":
            return {"user": {"team_id": "T1"}}
        raise ChatAuthRejected("The app lacks the scope usergroups:read.", "missing_scope")


async def test_without_the_optional_scope_nobody_is_a_steward_by_group_and_no_group_is_offered() -> None:
    chat: Any = Refusing()
    people = SlackPeople(chat, FakeClock(), "T1", "S1")
    assert (await people.read_person("U1")).groups == frozenset()
    assert await people.list_groups() == ()
    assert await people.read_app_names(["B1", "U2"]) == {}
    await people.read_person("U1")
    assert chat.asked.count("user") == 1
