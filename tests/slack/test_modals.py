"""What the resolve modal asks, and what its answers mean."""

from __future__ import annotations

from typing import Any

import pytest

from bot.domain.incident import Boundary, FailedCheck, Incident
from bot.ports import RecordRejected
from bot.ports.chat import Channel
from bot.slack import ids, modals
from bot.workflows.resolve import Outcome, ResolveForm, Subject
from tests.slack import cases

FIX = "1. Switch the gateway\n2. Watch"


def submission(metadata: dict[str, Any] | None = None, **said: str) -> dict[str, Any]:
    chosen = {ids.OUTCOME, ids.KNOWN_FIX, ids.BOUNDARY, ids.INCIDENT}
    values = {
        block: {ids.INPUT: {"selected_option": {"value": value}} if block in chosen else {"value": value}}
        for block, value in said.items()
    }
    blocks = [{"type": "input", "block_id": b} for b in ("outcome", "fix", "failed_checks")]
    return {
        "private_metadata": ids.encode(metadata if metadata is not None else {"i": "INC-81", "c": "C1"}),
        "state": {"values": values},
        "blocks": blocks,
    }


def test_everything_that_was_said_is_read() -> None:
    view = submission(
        outcome="partly", known_fix=ids.SOMETHING_ELSE, fix="a\nb", root_cause=" cause ", boundary="vendor",
        failed_checks="DB pool, 25\nDNS", lesson="look at the vendor first",
    )  # fmt: skip
    said = modals.read_submission(view)
    assert (said.outcome, said.incident_id, said.fix, said.note) == (Outcome.PARTLY, "INC-81", "a\nb", None)
    assert (said.root_cause, said.boundary, said.lesson) == ("cause", Boundary.VENDOR, "look at the vendor first")
    assert said.failed_checks == (FailedCheck("DB pool", 25), FailedCheck("DNS"))
    assert said.suggested is False


def test_a_known_fix_is_recorded_verbatim_and_what_was_typed_is_a_note_on_it() -> None:
    view = submission(outcome="recovered", known_fix=ids.fix_key(FIX), fix="took two tries")
    said = modals.read_submission(view, [FIX, "other"])
    assert (said.fix, said.note) == (FIX, "took two tries")


def test_a_fix_no_longer_offered_is_refused() -> None:
    view = submission(outcome="recovered", known_fix="gone")
    with pytest.raises(RecordRejected) as refused:
        modals.read_submission(view, [FIX])
    assert refused.value.field == "known_fix"


@pytest.mark.parametrize("outcome", [{}, {"outcome": "maybe"}])
def test_without_an_outcome_nothing_is_read(outcome: dict[str, Any]) -> None:
    with pytest.raises(RecordRejected) as refused:
        modals.read_submission(submission(**outcome))
    assert refused.value.field == "outcome"


def test_what_is_empty_stays_unknown() -> None:
    said = modals.read_submission(submission(outcome="by_itself", fix="  ", root_cause="\x00"))
    assert (said.fix, said.root_cause, said.boundary, said.failed_checks) == (None, None, Boundary.UNKNOWN, ())


def test_a_message_without_an_incident_is_the_subject() -> None:
    subject = Subject(Channel("C1"), "1.2", "title")
    said = modals.read_submission(submission({"c": "C1", "ts": "1.2"}, outcome="no", fix="x"), (), subject)
    assert (said.subject, said.incident_id) == (subject, None)


@pytest.mark.parametrize(
    ("line", "check", "minutes"),
    [
        ("DB pool, 25", "DB pool", 25),
        ("DB pool 25m", "DB pool", 25),
        ("DB pool - 25 min", "DB pool", 25),
        ("• DB pool (25 min)", "DB pool", 25),
        ("DB pool: 1.5 h", "DB pool", 90),
        ("DB pool 2 hours.", "DB pool", 120),
        ("restart worker 3", "restart worker 3", None),
        ("p95 latency", "p95 latency", None),
        ("DNS", "DNS", None),
    ],
)
def test_minutes_need_a_unit_or_a_mark(line: str, check: str, minutes: float | None) -> None:
    assert modals.failed_checks(line) == (FailedCheck(check, minutes),)


@pytest.mark.parametrize("text", ["\n".join(["check"] * 21), "x" * 201, "25", ", 5", "DNS\n-3", "(10 min)"])
def test_too_much_of_it_or_no_name_is_refused_at_its_field(text: str) -> None:
    with pytest.raises(RecordRejected) as refused:
        modals.failed_checks(text)
    assert refused.value.field == "failed_checks"


def test_nothing_in_the_modal_is_the_bots_verdict() -> None:
    form = ResolveForm("INC-81", "t", (FIX,), ("DB pool",), Incident("INC-81", "t", root_cause="vendor", lesson="l"))
    view = modals.resolve_view(form, {"i": "INC-81"})
    elements = [b["element"] for b in view["blocks"] if b["type"] == "input"]
    assert [e["initial_option"]["value"] for e in elements if "initial_option" in e] == ["unknown"]
    assert all("initial_value" not in e for e in elements)
    assert {e["type"] for e in elements} <= {"plain_text_input", "static_select"}
    text = cases.shown(view)
    assert "The record says: vendor" in text
    assert "Last time: DB pool" in text


def test_options_of_equal_fixes_are_one() -> None:
    view = modals.resolve_view(ResolveForm("INC-1", "t", ("Restart it.", "restart it")), {})
    options = next(b["element"]["options"] for b in view["blocks"] if b.get("block_id") == ids.KNOWN_FIX)
    assert len({o["value"] for o in options}) == len(options) == 2


@pytest.mark.parametrize(
    ("field", "block"), [("fix", "fix"), ("customer_impact", "outcome"), ("", "outcome"), ("lesson", "outcome")]
)
def test_errors_stand_at_an_input_that_is_there(field: str, block: str) -> None:
    assert modals.block_of(field, submission()) == block
    assert modals.block_of(field, {"blocks": []}) == ids.OUTCOME


@pytest.mark.parametrize("text", [None, "", "no json", "[1]", '"x"', "[" * 100_000])
def test_values_that_are_not_ours_are_empty(text: str | None) -> None:
    assert ids.decode(text) == {}
    assert ids.text_of({"i": 7}, "i") is None


def test_a_value_that_does_not_fit_is_never_cut() -> None:
    assert ids.decode(ids.encode({"i": "INC-1"})) == {"i": "INC-1"}
    with pytest.raises(ValueError, match="do not fit"):
        ids.encode({"i": "x" * 2000})
