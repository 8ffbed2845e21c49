"""Fields of a record as text, what a correction changes, and what tells its words from others'."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.incidents.corrections import (
    FieldChange,
    apply_texts,
    compare_records,
    hash_text,
    is_author,
    is_newly_verified,
    list_quotable_lines,
    read_texts,
)
from bot.domain.incidents.record import Boundary, FailedCheck
from tests.builders import an_incident, tried

RECORD = an_incident(
    title="Ledger drifts",
    root_cause="a cron job ran twice",
    failed_checks=(FailedCheck("DB pool", 25.0), FailedCheck("DNS")),
    attempts=(tried("restart; wait", "FAILED", by="U1"), tried("flush the cache", "VERIFIED", by="U2", how="modal")),
)


def test_a_record_as_texts() -> None:
    assert read_texts(RECORD) == {
        "title": "Ledger drifts",
        "root_cause": "a cron job ran twice",
        "boundary": "unknown",
        "failed_checks": "DB pool, 25\nDNS",
        "lesson": "",
        "attempt.0": "FAILED",
        "attempt.1": "VERIFIED",
    }


def test_what_is_not_named_stays_and_what_is_emptied_is_unknown() -> None:
    assert apply_texts(RECORD, {}, None) == RECORD
    typed = {"title": "Other", "root_cause": "", "boundary": "vendor", "lesson": "look", "attempt.0": "FAILED"}
    after = apply_texts(RECORD, typed | {"attempt.1": "PARTIAL"}, (FailedCheck("TLS"),))
    assert (after.title, after.root_cause, after.boundary, after.lesson) == ("Other", None, Boundary.VENDOR, "look")
    assert after.failed_checks == (FailedCheck("TLS"),)
    assert after.attempts[0] == RECORD.attempts[0]
    assert (after.attempts[1].status, after.attempts[1].how, after.attempts[1].by) == ("PARTIAL", "edit", "U2")
    assert compare_records(RECORD, replace(after, failed_checks=RECORD.failed_checks)) == (
        FieldChange("title", "Ledger drifts", "Other"),
        FieldChange("root_cause", "a cron job ran twice", ""),
        FieldChange("boundary", "unknown", "vendor"),
        FieldChange("lesson", "", "look"),
        FieldChange("attempt.1", "VERIFIED", "PARTIAL"),
    )
    assert apply_texts(RECORD, {"lesson": ""}, None).lesson is None


@pytest.mark.parametrize(
    ("status", "is_new"), [("VERIFIED", True), ("PARTIAL", False), ("FAILED", False), ("UNVERIFIED", False)]
)
def test_what_becomes_verified(status: str, is_new: bool) -> None:
    assert is_newly_verified(RECORD, apply_texts(RECORD, {"attempt.0": status}, None)) is is_new
    added = replace(RECORD, attempts=(*RECORD.attempts, tried("more", status)))
    assert is_newly_verified(RECORD, added) is is_new


def test_whose_record_it_is() -> None:
    assert is_author(RECORD, "U1")
    assert not is_author(RECORD, "U3")
    assert not is_author(an_incident(), "U1")


def test_the_words_that_tell_a_record_from_others() -> None:
    record = replace(RECORD, lesson="- short\n• look at the cron table", customer_impact=None)
    assert list_quotable_lines(record) == (
        "Ledger drifts",
        "a cron job ran twice",
        "look at the cron table",
        "flush the cache",
    )


@given(st.text(), st.text())
def test_equal_texts_have_equal_marks_whatever_stands_around_them(one: str, other: str) -> None:
    assert hash_text(f"  {one}\n") == hash_text(one.strip())
    if one.strip() != other.strip():
        assert hash_text(one) != hash_text(other) or one.encode("utf-8", "replace") == other.encode("utf-8", "replace")
