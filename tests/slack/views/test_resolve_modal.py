"""What the resolve modal asks, and what its answers mean."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bot.domain.incidents.record import Attempt, Boundary, FailedCheck, Incident, Runbook, VerificationStatus
from bot.domain.resolutions.suggestions import SuggestedFix
from bot.domain.text.tokens import hash_wording
from bot.playground.blocks.validate import validate_view
from bot.ports.chat import Channel, ThreadMessage
from bot.ports.errors import RecordRejected
from bot.slack import ids
from bot.slack.payload import decode, encode, read_text
from bot.slack.views import forms, resolve_form, resolve_modal
from bot.slack.views.forms import read_block_base
from bot.workflows.resolutions.resolve import FixOutcome, ResolveForm, Subject
from tests.slack import cases

FIX = "1. Switch the gateway\n2. Watch"
LONG = "Fail over to the backup gateway of the other region " * 60
RUNBOOK = Runbook("RB-7", "Gateway failover", ("Drain the primary", "Switch"))
OFFERED = ResolveForm(
    "INC-81", "t", (SuggestedFix(FIX), SuggestedFix(LONG, "RB-7"), SuggestedFix("Reboot", failed=True)), ("DB pool", "a" * 140),
    runbooks=(RUNBOOK,),
)  # fmt: skip


def submission(metadata: dict[str, Any] | None = None, **said: str) -> dict[str, Any]:
    chosen = {ids.OUTCOME, ids.KNOWN_FIX, ids.BOUNDARY, ids.INCIDENT, ids.RUNBOOK, ids.ALSO_OUTCOME}
    values = {
        block: {ids.INPUT: {"selected_option": {"value": value}} if block in chosen else {"value": value}}
        for block, value in said.items()
    }
    blocks = [{"type": "input", "block_id": b} for b in ("outcome", "fix", "failed_checks")]
    return {
        "private_metadata": encode(metadata if metadata is not None else {"i": "INC-81", "c": "C1"}),
        "state": {"values": values},
        "blocks": blocks,
    }


def test_everything_that_was_said_is_read() -> None:
    view = submission(
        outcome="partly", known_fix=ids.SOMETHING_ELSE, fix="a\nb", root_cause=" cause ", boundary="vendor",
        failed_checks="DB pool, 25\nDNS", lesson="look at the vendor first",
    )  # fmt: skip
    said = resolve_modal.read_submission(view)
    assert (said.outcome, said.incident_id, said.fix, said.note) == (FixOutcome.PARTLY, "INC-81", "a\nb", None)
    assert (said.root_cause, said.boundary, said.lesson) == ("cause", Boundary.VENDOR, "look at the vendor first")
    assert said.failed_checks == (FailedCheck("DB pool", 25), FailedCheck("DNS"))
    assert said.suggested is False


def test_a_known_fix_is_recorded_verbatim_and_what_was_typed_is_a_note_on_it() -> None:
    view = submission(outcome="recovered", known_fix=hash_wording(FIX), fix="took two tries")
    said = resolve_modal.read_submission(view, OFFERED)
    assert (said.fix, said.note) == (FIX, "took two tries")


def test_a_fix_no_longer_offered_is_refused() -> None:
    view = submission(outcome="recovered", known_fix="gone")
    with pytest.raises(RecordRejected) as refused:
        resolve_modal.read_submission(view, OFFERED)
    assert refused.value.field == "known_fix"


@pytest.mark.parametrize("outcome", [{}, {"outcome": "maybe"}])
def test_without_an_outcome_nothing_is_read(outcome: dict[str, Any]) -> None:
    with pytest.raises(RecordRejected) as refused:
        resolve_modal.read_submission(submission(**outcome))
    assert refused.value.field == "outcome"


def test_what_is_empty_stays_unknown() -> None:
    said = resolve_modal.read_submission(submission(outcome="by_itself", fix="  ", root_cause="\x00"))
    assert (said.fix, said.root_cause, said.boundary, said.failed_checks) == (None, None, Boundary.UNKNOWN, ())


def test_a_message_without_an_incident_is_the_subject() -> None:
    subject = Subject(Channel("C1"), "1.2", "title")
    said = resolve_modal.read_submission(
        submission({"c": "C1", "ts": "1.2"}, outcome="no", fix="x"), resolve_modal.NOTHING, subject
    )
    assert (said.subject, said.incident_id) == (subject, None)


def test_nothing_in_the_modal_is_the_bots_verdict() -> None:
    form = ResolveForm(
        "INC-81", "t", (SuggestedFix(FIX),), ("DB pool",), Incident("INC-81", "t", root_cause="vendor", lesson="l")
    )
    view = resolve_modal.build_resolve_view(form, {"i": "INC-81"})
    elements = [b["element"] for b in view["blocks"] if b["type"] == "input"]
    assert [e["initial_option"]["value"] for e in elements if "initial_option" in e] == ["unknown"]
    assert all("initial_value" not in e for e in elements)
    assert {e["type"] for e in elements} <= {"plain_text_input", "static_select", "multi_static_select"}
    text = cases.shown(view)
    assert "The record says: vendor" in text
    assert "DB pool" in text


def test_options_of_equal_fixes_are_one() -> None:
    view = resolve_modal.build_resolve_view(
        ResolveForm("INC-1", "t", (SuggestedFix("Restart it."), SuggestedFix("restart it"))), {}
    )
    options = next(b["element"]["options"] for b in view["blocks"] if b.get("block_id") == ids.KNOWN_FIX)
    assert len({o["value"] for o in options}) == len(options) == 2


@pytest.mark.parametrize(
    ("field", "block"), [("fix", "fix"), ("customer_impact", "outcome"), ("", "outcome"), ("lesson", "outcome")]
)
def test_errors_stand_at_an_input_that_is_there(field: str, block: str) -> None:
    assert resolve_modal.find_block(field, submission()) == block
    assert resolve_modal.find_block(field, {"blocks": []}) == ids.OUTCOME


@pytest.mark.parametrize("text", [None, "", "no json", "[1]", '"x"', "[" * 100_000])
def test_values_that_are_not_ours_are_empty(text: str | None) -> None:
    assert decode(text) == {}
    assert read_text({"i": 7}, "i") is None


def test_a_value_that_does_not_fit_is_never_cut() -> None:
    assert decode(encode({"i": "INC-1"})) == {"i": "INC-1"}
    with pytest.raises(ValueError, match="do not fit"):
        encode({"i": "x" * 2000})


# choices: recorded verbatim and in full, though their labels are cut


def test_a_long_fix_and_its_runbook_are_recorded_in_full() -> None:
    view = resolve_modal.build_resolve_view(OFFERED, {"i": "INC-81"})
    offered = {
        o["value"]: o for b in view["blocks"] if b.get("block_id") == ids.KNOWN_FIX for o in b["element"]["options"]
    }
    assert max(len(o["text"]["text"]) for o in offered.values()) <= 75
    assert [o["text"]["text"] for o in offered.values() if "description" in o] == ["Reboot"]
    said = resolve_modal.read_submission(submission(outcome="recovered", known_fix=hash_wording(LONG)), OFFERED)
    assert (said.fix, said.runbook) == (LONG, RUNBOOK)
    assert validate_view(view) == []


def test_a_runbook_alone_is_fixed_by_its_steps() -> None:
    said = resolve_modal.read_submission(submission(outcome="recovered", runbook=hash_wording("RB-7")), OFFERED)
    assert (said.fix, said.runbook) == ("Drain the primary\nSwitch", RUNBOOK)
    typed = resolve_modal.read_submission(
        submission(outcome="recovered", runbook=hash_wording("RB-7"), fix="x"), OFFERED
    )
    assert (typed.fix, typed.runbook) == ("x", RUNBOOK)
    with pytest.raises(RecordRejected, match="no longer offered"):
        resolve_modal.read_submission(submission(outcome="recovered", runbook="gone"), OFFERED)


def test_a_chosen_check_is_recorded_in_its_own_words_with_the_minutes_typed() -> None:
    view = submission(outcome="no", fix="x", failed_checks="checked the db pool, 25\nDNS")
    picked = [{"value": hash_wording("DB pool")}, {"value": hash_wording("a" * 140)}]
    view["state"]["values"][ids.KNOWN_CHECKS] = {ids.INPUT: {"selected_options": picked}}
    said = resolve_modal.read_submission(view, OFFERED)
    assert said.failed_checks == (FailedCheck("DB pool", 25), FailedCheck("a" * 140), FailedCheck("DNS"))
    with pytest.raises(RecordRejected, match="no longer offered"):
        resolve_modal.read_submission(view)


def test_another_attempt_and_the_impact_are_read() -> None:
    said = resolve_modal.read_submission(
        submission(outcome="recovered", fix="x", also="reboot", also_outcome="FAILED", customer_impact="slow")
    )
    assert (said.also, said.customer_impact) == (("reboot", VerificationStatus.FAILED), "slow")
    unsaid = resolve_modal.read_submission(submission(outcome="recovered", fix="x", also="reboot"))
    assert unsaid.also == ("reboot", VerificationStatus.UNVERIFIED)


def test_what_is_recorded_already_is_told_and_nothing_of_it_before() -> None:
    tried = tuple(Attempt(f"fix {n}", VerificationStatus.FAILED, by="U0BOB", at=cases.NOW) for n in range(7))
    record = Incident("INC-1", "t", resolved_at=cases.NOW, attempts=tried)
    told = cases.shown(resolve_modal.build_resolve_view(ResolveForm("INC-1", "t", record=record), {}))
    assert "Recorded already" in told
    assert "The last 5" in told
    assert "fix 6 (did not work)" in told
    assert "fix 1" not in told
    by_itself = ResolveForm("INC-1", "t", record=replace(record, attempts=()))
    assert "no fix" in cases.shown(resolve_modal.build_resolve_view(by_itself, {}))
    opened = ResolveForm("INC-1", "t", record=replace(record, attempts=(), resolved_at=None))
    assert "Recorded already" not in cases.shown(resolve_modal.build_resolve_view(opened, {}))


# what the buttons inside the modal do


def opened(**typed: str) -> dict[str, Any]:
    """The modal as Slack sends it with a button, with what was typed so far."""
    view = resolve_modal.build_resolve_view(OFFERED, {"i": "INC-81", "c": "C1", "ts": "1.2"})
    values = {block: {ids.INPUT: {"value": text}} for block, text in typed.items()}
    return {**view, "id": "V1", "hash": "h", "state": {"values": values}}


def test_lines_of_the_thread_come_behind_what_was_typed_under_a_new_id() -> None:
    said = [ThreadMessage("U1", "2.1", "Drain the primary\nSwitch"), ThreadMessage("U2", "2.2", "I did this")]
    first = resolve_form.fill_lines(opened(fix="I did this"), ids.FIX, said)
    assert validate_view(first) == []
    (block,) = [b for b in first["blocks"] if read_block_base(str(b.get("block_id"))) == ids.FIX]
    assert (block["block_id"], block["element"]["initial_value"]) == ("fix#1", "I did this\nDrain the primary\nSwitch")
    assert "2 lines of the thread are in" in cases.shown(first)
    again = resolve_form.fill_lines(
        {**first, "state": {"values": {"fix#1": {ids.INPUT: {"value": "kept"}}}}}, ids.FIX, said[:1]
    )
    assert [b["block_id"] for b in again["blocks"] if "fix#" in str(b.get("block_id"))] == ["fix#2"]
    assert cases.shown(again).count("lines of the thread") == 1
    answered = {**again, "state": {"values": {"fix#2": {ids.INPUT: {"value": "the end"}}}}}
    assert forms.read_answers(answered)[ids.FIX] == "the end"
    assert resolve_modal.find_block("fix", again) == "fix#2"


def test_only_what_fits_is_put_in_the_newest_first() -> None:
    said = [ThreadMessage("U1", f"2.{n}", f"{n:03} " + "x" * 96) for n in range(40)]
    view = resolve_form.fill_lines(opened(root_cause="y" * 500), ids.ROOT_CAUSE, said)
    (block,) = [b for b in view["blocks"] if b.get("block_id") == "root_cause#1"]
    text = block["element"]["initial_value"]
    assert text.startswith("y" * 500)
    assert text.endswith("039 " + "x" * 96)
    assert len(text) <= 3000
    assert "older ones did not fit" in cases.shown(view)
    assert validate_view(view) == []


def test_a_pasted_log_does_not_push_out_what_people_said() -> None:
    said = [ThreadMessage("U1", "2.1", "failed over"), ThreadMessage("U1", "2.2", "L" * 3500)]
    view = resolve_form.fill_lines(opened(fix="typed " * 200), ids.FIX, said)
    (block,) = [b for b in view["blocks"] if b.get("block_id") == "fix#1"]
    put = block["element"]["initial_value"].splitlines()
    assert put[-2] == "failed over"
    assert put[-1].startswith("LLL")
    assert put[-1].endswith("…")


def test_choices_that_begin_alike_show_how_they_end() -> None:
    long = [LONG + "of Mumbai", LONG + "of <Frankfurt>"]
    form = replace(OFFERED, known_fixes=tuple(SuggestedFix(fix) for fix in (*long, FIX)), usual_checks=("a" * 99, "b"))
    view = resolve_modal.build_resolve_view(form, {})
    assert validate_view(view) == []
    asked = {b["block_id"]: b["element"] for b in view["blocks"] if b["type"] == "input"}
    told = [o.get("description", {}).get("text", "") for o in asked[ids.KNOWN_FIX]["options"]]
    assert told[0].endswith("of Mumbai")
    assert told[1].endswith("of &lt;Frankfurt&gt;")
    assert told[2:] == ["", ""]
    assert all("description" not in o for o in asked[ids.KNOWN_CHECKS]["options"])


def test_the_fields_that_are_seldom_needed_take_the_place_of_their_button() -> None:
    view = resolve_form.add_more_fields(opened())
    assert [b.get("block_id") for b in view["blocks"]][-3:] == [ids.ALSO, ids.ALSO_OUTCOME, ids.IMPACT]
    assert validate_view(view) == []
    assert resolve_form.add_note(opened(), "a")["blocks"] != resolve_form.add_note(opened(), "b")["blocks"]
