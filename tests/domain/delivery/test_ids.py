"""Every delivery id names its kind, and what is taken apart again was put together here."""

from __future__ import annotations

from datetime import date

import pytest

from bot.domain.delivery import ids
from bot.domain.delivery.kinds import DeliveryKind, Operation, find_kind, read_operation

DAY = date(2026, 11, 30)
MADE = {
    DeliveryKind.BRIEF: ids.build_brief_id("INC-1", "C1"),
    DeliveryKind.REPEAT: ids.build_repeat_id("INC-1", "C1", "1.1"),
    DeliveryKind.LOOKED: ids.build_looked_id("C1", "INC-1"),
    DeliveryKind.STORM: ids.build_storm_id("C1/1.1"),
    DeliveryKind.INTAKE: ids.build_intake_id(ids.build_intake_key("C1", "abc"), 7),
    DeliveryKind.RECORDED: ids.build_recorded_id("view:1", "C1"),
    DeliveryKind.CORRECTED: ids.build_correction_id(ids.build_correction_key("purged", "INC-1", "1"), "INC-2", "C1"),
    DeliveryKind.MUTED: ids.build_muted_id("view:1"),
    DeliveryKind.FIRED_AGAIN: ids.build_recurrence_id(ids.build_recurrence_key("INC-1", 1), "C1"),
    DeliveryKind.NUDGE: ids.build_nudge_id("U1", DAY),
    DeliveryKind.POSTMORTEM: ids.build_postmortem_id("C1", "INC-1", "abc"),
    DeliveryKind.DIGEST: ids.build_digest_id("C1", DAY),
    DeliveryKind.CHART: ids.build_chart_id("C1", DAY),
    DeliveryKind.TALK: ids.build_talk_id("C1", "U1", "1.1", "say"),
    DeliveryKind.MENTION: ids.build_mention_id("C1", "1.1"),
    DeliveryKind.MEMO: ids.build_memo_id("C1", "1.1", "U1", "2.1"),
    DeliveryKind.SHARE: ids.build_share_id("V1"),
    DeliveryKind.HELLO: ids.build_hello_id("C1", "1.1"),
    DeliveryKind.HOME: ids.build_home_id("U1", 7),
    DeliveryKind.SETUP: ids.build_setup_id("abc"),
    DeliveryKind.LEFT_OUT: ids.build_left_out_id("C1", DAY),
}


def test_there_is_an_id_of_every_kind() -> None:
    assert MADE.keys() == set(DeliveryKind)


@pytest.mark.parametrize(("kind", "made"), MADE.items())
def test_an_id_names_its_kind(kind: DeliveryKind, made: str) -> None:
    assert find_kind(made) is kind
    assert made.startswith(kind.prefix)


def test_what_another_version_made_is_of_no_kind_and_passes() -> None:
    assert find_kind("sung/C1") is None
    assert read_operation("sing") == "sing"
    assert read_operation("post") is Operation.POST


def test_the_messages_of_a_brief_are_found_from_its_newest() -> None:
    newest = ids.build_superseding_id(ids.build_superseding_id("brief/INC-1/C1", 2), 3)
    assert ids.split_superseded(newest) == ["brief/INC-1/C1", "brief/INC-1/C1+2", "brief/INC-1/C1+2+3"]


def test_an_answer_is_taken_apart_and_nothing_else() -> None:
    assert ids.split_talk_id(MADE[DeliveryKind.TALK]) == ("C1", "U1", "1.1", "say")
    assert ids.split_talk_id("talk/C1/1.1") is None
    assert ids.split_talk_id("brief/C1/U1/1.1/say") is None


def test_rows_for_the_bank_are_named_after_the_act_or_stand_for_all_later_ones() -> None:
    assert ids.build_bank_id(Operation.RETAIN, "INC-1", "INC-1/view:1") == "retain/INC-1/view:1"
    assert ids.build_bank_id(Operation.RETRACT, "INC-1", None) == "retract/INC-1/import"
