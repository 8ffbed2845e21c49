from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.incidents.record import (
    Announcement,
    Attempt,
    Boundary,
    FailedCheck,
    Incident,
    Runbook,
    Source,
    VerificationStatus,
)
from bot.ports.errors import RecordRejected
from bot.records.incident_json import MAX_LINE, read_line, read_record, write_record

BASE = {"incident_id": "INC-1", "title": "Timeouts"}
NATIVE: dict[str, Any] = {
    "incident_id": "INC-12",
    "title": "Payments time out",
    "service": "payments-api",
    "vendor": "razorpay",
    "region": "ap-south-1",
    "environment": "production",
    "severity": "critical",
    "symptoms": ["504 from the gateway"],
    "customer_impact": "checkouts fail",
    "started_at": "2026-11-23T08:00:00Z",
    "resolved_at": "2026-11-23T08:40:00Z",
    "boundary": "vendor",
    "root_cause": "vendor outage",
    "attempts": [
        {
            "fix": "Fail over; verify",
            "status": "VERIFIED",
            "note": None,
            "runbook_id": "rb-1",
            "by": "U1",
            "at": "2026-11-23T08:30:00Z",
            "how": "modal",
            "suggested": True,
        }
    ],
    "runbooks": [{"id": "rb-1", "title": "Fail over", "steps": ["one", "two"]}],
    "failed_checks": [{"check": "DB pool", "minutes": 12.5}],
    "lesson": "ask the vendor first",
    "evidence": {"p95": "4.2 s"},
    "alerts": [
        {"fingerprint": "fp", "tool": "grafana", "title": "T", "labels": {"job": "pay"}, "url": "https://x.example"}
    ],
    "source": {"kind": "slack", "url": "https://s.example", "channel": "C1", "visibility": "private:G1"},
}


def test_the_native_form_comes_back_key_for_key() -> None:
    assert write_record(read_record(NATIVE)) == NATIVE
    apart = {**NATIVE, "apart_from": ["INC-2"]}
    assert write_record(read_record(apart)) == apart
    assert list(write_record(read_record(NATIVE))) == list(NATIVE)


def test_absent_null_and_blank_are_unknown() -> None:
    bare = read_record(BASE)
    assert bare == Incident("INC-1", "Timeouts")
    blanks = (
        dict.fromkeys(NATIVE, None) | BASE | {"service": " ", "symptoms": ["", "a"], "boundary": "", "started_at": ""}
    )
    assert read_record(blanks) == Incident("INC-1", "Timeouts", symptoms=("a",))
    written = write_record(bare)
    assert written["service"] is None
    assert written["symptoms"] == []


def test_numbers_become_text_where_text_is_meant() -> None:
    read = read_record({"incident_id": 17, "title": "T", "alerts": [{"labels": {"port": 443, "empty": ""}}]})
    assert read.incident_id == "17"
    assert read.alerts[0].labels == {"port": "443"}


def test_times_are_in_utc() -> None:
    read = read_record(BASE | {"started_at": "2026-11-23T10:00:00+02:00", "resolved_at": "2026-11-23 09:00"})
    assert read.started_at == datetime(2026, 11, 23, 8, tzinfo=UTC)
    assert write_record(read)["resolved_at"] == "2026-11-23T09:00:00Z"


def test_who_decided_is_written_where_nobody_said() -> None:
    row = BASE | {"attempts": [{"fix": "a"}, {"fix": "b", "how": "modal"}]}
    assert [a.how for a in read_record(row).attempts] == ["import", "modal"]
    assert [a.how for a in read_record(row, how=None).attempts] == [None, "modal"]


def test_a_post_mortem_export() -> None:
    read = read_record(
        {
            "id": "PM-3",
            "alert_title": "Payment 504s",
            "service": "payments-api",
            "classification": "vendor_side",
            "actual_root_cause": "vendor outage",
            "successful_fix": "switch gateway; verify; tell support",
            "failed_checks": ["DB pool", "", {"check": "DNS", "minutes": 5}],
            "timestamp_start": "2026-11-23T08:00:00Z",
            "time_to_resolution_minutes": 45,
            "symptoms": "504 from the gateway",
        }
    )
    assert read == Incident(
        "PM-3",
        "Payment 504s",
        service="payments-api",
        symptoms=("504 from the gateway",),
        started_at=datetime(2026, 11, 23, 8, tzinfo=UTC),
        resolved_at=datetime(2026, 11, 23, 8, 45, tzinfo=UTC),
        boundary=Boundary.VENDOR,
        root_cause="vendor outage",
        attempts=(Attempt("switch gateway; verify; tell support", VerificationStatus.VERIFIED, how="import"),),
        failed_checks=(FailedCheck("DB pool"), FailedCheck("DNS", 5)),
    )


def test_a_post_mortem_with_steps_as_a_list_and_its_own_end() -> None:
    row = {"classification": "mixed", "successful_fix": ["a", "b"], "timestamp_end": "2026-11-23T09:00:00Z"}
    read = read_record(row | {"symptoms": ["first line\nsecond"], "time_to_resolution_minutes": 5})
    assert (read.title, read.attempts[0].fix) == ("first line", "a; b")
    assert read.resolved_at == datetime(2026, 11, 23, 9, tzinfo=UTC)
    assert (
        read.incident_id
        == read_record(row | {"symptoms": ["first line\nsecond"], "time_to_resolution_minutes": 5}).incident_id
    )


@pytest.mark.parametrize(
    ("result", "status"),
    [
        ("success", VerificationStatus.VERIFIED),
        ("failure", VerificationStatus.FAILED),
        (None, VerificationStatus.UNVERIFIED),
    ],
)
def test_a_plain_note(result: str | None, status: VerificationStatus) -> None:
    read = read_record({"error": "disk full\nlog", "fix": "rotate logs", "result": result})
    assert read.incident_id.startswith("IMP-")
    assert (read.title, read.symptoms) == ("disk full", ("disk full\nlog",))
    assert read.attempts == (Attempt("rotate logs", status, how="import"),)


@pytest.mark.parametrize(
    ("row", "field", "reason"),
    [
        ([], "", "should be an object, not a list"),
        (None, "", "should be an object, not null"),
        ("x", "", "should be an object, not text"),
        (3, "", "should be an object, not a number"),
        ({"title": "T"}, "incident_id", "is missing; a record needs an id and a title"),
        ({"incident_id": "I", "title": " "}, "title", "is missing; a record needs an id and a title"),
        (BASE | {"title": 3}, "title", "should be text"),
        (BASE | {"incident_id": "x" * 201}, "incident_id", "is too long"),
        (BASE | {"incident_id": " x"}, "incident_id", "is not of the expected form"),
        (BASE | {"started_at": "9999-12-31T23:59:59-12:00"}, "started_at", "should be a time between the years 1900 and 2200"),
        (BASE | {"attempts": [{"fix": "x", "at": "0001-01-01T00:00:00+14:00"}]}, "attempts[0].at", "should be a time between the years 1900 and 2200"),
        (BASE | {"successful_fix": ["a", 1]}, "successful_fix", "should be text, or a list of texts"),
        (BASE | {"successful_fix": {"a": 1}}, "successful_fix", "should be text, or a list of texts"),
        (BASE | {"successful_fix": "a", "attempts": 5}, "attempts", "should be a list"),
        (BASE | {"evidence": {"\ud800": "v"}}, "evidence.\ufffd\ufffd\ufffd.[key]", "holds a character that is not text (NUL, or half of a surrogate pair)"),
        (BASE | {"alerts": [{"labels": {"\0": "v"}}]}, "alerts[0].labels.\0.[key]", "holds a character that is not text (NUL, or half of a surrogate pair)"),
        (BASE | {"failed_checks": [{"check": "a", "minutes": float("nan")}]}, "", "holds something that is not JSON"),
        (BASE | {"lesson": "x" * (MAX_LINE + 1)}, "", "is larger than 256 kB; shorten its longest text"),
        (BASE | {"attempts": [{"fix": "x"}] * 20_000}, "", "is larger than 256 kB; shorten its longest text"),
        (BASE | {"symptoms": "text"}, "symptoms", "should be a list"),
        (BASE | {"started_at": "yesterday"}, "started_at", "should be a time in ISO 8601, such as 2026-11-23T08:15:00Z"),
        (BASE | {"started_at": 5}, "started_at", "should be a time in ISO 8601, such as 2026-11-23T08:15:00Z"),
        (BASE | {"boundary": "theirs"}, "boundary", "should be one of 'vendor', 'internal', 'mixed' or 'unknown'"),
        (BASE | {"attempts": [{"fix": ""}]}, "attempts[0].fix", "should not be empty"),
        (BASE | {"attempts": [{}]}, "attempts[0].fix", "is missing"),
        (BASE | {"attempts": ["x"]}, "attempts[0]", "should be an object"),
        (BASE | {"failed_checks": [{"check": "a", "minutes": -1}]}, "failed_checks[0].minutes", "should not be negative"),
        (BASE | {"failed_checks": [{"check": "a", "minutes": "x"}]}, "failed_checks[0].minutes", "should be a number"),
        (BASE | {"evidence": "x"}, "evidence", "should be an object"),
        (BASE | {"root_cause": "a\x00b"}, "root_cause", "holds a character that is not text (NUL, or half of a surrogate pair)"),
        (BASE | {"source": {"visibility": "secret"}}, "source.visibility", "is not of the expected form"),
        (BASE | {"lesson": "x" * 300_000}, "", "is larger than 256 kB; shorten its longest text"),
        (BASE | {"lesson": {1, 2}}, "", "holds something that is not JSON"),
        (BASE | {"classification": "ours"}, "classification", "should be one of vendor_side, vendor, internal, internal_side, mixed, unknown"),
        ({"error": "e", "fix": "f", "result": 3}, "result", "should be one of success, failure, partial, unknown"),
        (
            BASE | {"timestamp_start": "x", "time_to_resolution_minutes": 5},
            "time_to_resolution_minutes",
            "should be a number, after a start in ISO 8601",
        ),
    ],
)  # fmt: skip
def test_a_bad_record_is_refused_in_plain_words(row: Any, field: str, reason: str) -> None:
    with pytest.raises(RecordRejected) as refused:
        read_record(row)
    assert (refused.value.field, refused.value.reason) == (field, reason)


TEXT = st.text(min_size=1, max_size=30).filter(
    lambda t: t.strip() and not any(c == "\0" or "\ud800" <= c <= "\udfff" for c in t)
)
MAYBE = st.none() | TEXT
MOMENT = st.none() | st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1)).map(lambda t: t.replace(tzinfo=UTC))
RECORDS = st.builds(
    Incident,
    incident_id=st.from_regex(r"[A-Z]{1,4}-[0-9]{1,6}", fullmatch=True),
    title=TEXT,
    service=MAYBE,
    symptoms=st.lists(TEXT, max_size=3).map(tuple),
    started_at=MOMENT,
    boundary=st.sampled_from(Boundary),
    attempts=st.lists(st.builds(Attempt, fix=TEXT, status=st.sampled_from(VerificationStatus), by=MAYBE, at=MOMENT, how=MAYBE), max_size=3).map(tuple),
    runbooks=st.lists(st.builds(Runbook, id=st.just("rb"), title=TEXT, steps=st.lists(TEXT, max_size=2).map(tuple)), max_size=1).map(tuple),
    failed_checks=st.lists(st.builds(FailedCheck, check=TEXT, minutes=st.none() | st.floats(0, 1e6)), max_size=2).map(tuple),
    evidence=st.dictionaries(TEXT, TEXT, max_size=2),
    alerts=st.lists(st.builds(Announcement, fingerprint=MAYBE, labels=st.dictionaries(TEXT, TEXT, max_size=2)), max_size=2).map(tuple),
    source=st.builds(Source, url=MAYBE, visibility=st.sampled_from(["public", "private:G1"])),
)  # fmt: skip


@settings(max_examples=60, deadline=timedelta(seconds=5))
@given(RECORDS)
def test_every_record_comes_back_exactly(record: Incident) -> None:
    assert read_record(json.loads(json.dumps(write_record(record))), how=None) == record


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"n": ' + "9" * 5_000 + "}", "holds a number that is too long"),
        ('{"n": NaN}', "is not JSON: NaN is no number"),
        ('{"n": -Infinity}', "is not JSON: -Infinity is no number"),
        ('{"n": 1e999}', "holds something that is not JSON"),
        ("[" * 100_000, "is nested too deeply"),
        (b'{"title": "\xff"}'.decode("utf-8", "surrogateescape"), "is not UTF-8 at column 12"),
        ('"' + "x" * MAX_LINE + '"', "is longer than 1024 kB"),
        ("{broken", "is not JSON: Expecting property name enclosed in double quotes at column 2"),
        ('\ufeff{"a": 1}', "is not JSON: Unexpected UTF-8 BOM (decode using utf-8-sig) at column 1"),
    ],
)
def test_a_bad_line_is_refused_in_plain_words(line: str, reason: str) -> None:
    with pytest.raises(RecordRejected) as refused:
        read_line(line)
    assert (refused.value.field, refused.value.reason) == ("", reason)


KEYS = [*NATIVE, "classification", "successful_fix", "timestamp_start", "timestamp_end", "time_to_resolution_minutes", "error", "fix", "result",
        "check", "minutes", "labels", "status", "at", "visibility", "lessons_learned", "id", "steps", "\ud800", "\0"]  # fmt: skip
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8) | st.just("\ud800")
    | st.sampled_from(["VERIFIED", "vendor", "success", "2026-01-01T00:00:00Z", "9999-12-31T23:59:59-12:00", "0001-01-01", "1e30", "5", 10**400, "private:C1"])
)  # fmt: skip
ANY = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4), max_leaves=10
)  # fmt: skip
ROWS = ANY | st.dictionaries(st.sampled_from(KEYS), ANY, max_size=6).map(lambda more: BASE | more)


@settings(max_examples=150, deadline=None)
@given(ROWS)
def test_any_line_is_a_record_that_comes_back_or_is_refused(row: Any) -> None:
    try:
        record = read_line(json.dumps(row))
    except RecordRejected as refused:
        str(refused).encode()
        return
    assert read_line(json.dumps(write_record(record), ensure_ascii=False)) == record
    json.dumps(write_record(record), ensure_ascii=False).encode()
