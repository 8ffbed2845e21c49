"""Records as documents and back: whole, in one chunk, and never more than the viewer may see."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bot.adapters.memory.documents import (
    CONTENT_CHARS,
    FORMAT,
    BankFact,
    build_content,
    build_hits,
    build_metadata,
    build_tags,
    build_viewer_tags,
    find_without_record,
    group_by_document,
    read_fact_record,
)
from bot.domain.access.visibility import Viewer
from bot.domain.incidents.record import Attempt, FailedCheck, Incident, Source, VerificationStatus
from bot.domain.recall.query import OPERATOR, Query
from bot.ports.memory import BankHit
from tests.builders import seed_incidents

PUBLIC = ("precedent", "scope:public")
RECORDS = tuple(seed_incidents().values())
ASKED = Query("gateway")


def fact(record: Incident, text: str = "a fact") -> BankFact:
    return BankFact(record.incident_id, text, build_metadata(record), tuple(build_tags(record)))


def recalled(facts: list[BankFact], viewer: Viewer = OPERATOR, query: Query = ASKED, limit: int = 50) -> list[BankHit]:
    return list(build_hits(group_by_document(facts, query, viewer), limit, viewer))


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.incident_id)
def test_a_record_comes_back_whole(record: Incident) -> None:
    metadata = build_metadata(record)
    assert all(isinstance(value, str) for value in metadata.values())
    assert read_fact_record(record.incident_id, fact(record)) == record


def test_a_long_record_goes_in_parts_and_its_content_is_one_chunk() -> None:
    long = replace(RECORDS[0], symptoms=tuple(f"line {n} of a log\x00 😀" for n in range(3000)))
    assert len(build_metadata(long)) > 5
    assert len(build_content(long)) <= CONTENT_CHARS
    assert "\x00" not in build_content(long)
    clean = replace(long, symptoms=tuple(s.replace("\x00", "") for s in long.symptoms))
    assert read_fact_record(clean.incident_id, fact(clean)) == clean


def test_another_outcome_changes_metadata_only() -> None:
    record = RECORDS[0]
    other = replace(record, attempts=(*record.attempts, Attempt("restart", VerificationStatus.FAILED)))
    assert build_content(other) == build_content(record)
    assert build_metadata(other) != build_metadata(record)


def test_each_document_once_in_the_order_of_its_best_fact_with_its_record() -> None:
    first, second, third = RECORDS[:3]
    bare = BankFact(second.incident_id, "a word", {}, PUBLIC)
    facts = [bare, fact(first), fact(second), fact(first), BankFact(None, "an observation", {}, PUBLIC), fact(third)]
    hits = recalled(facts)
    assert [hit.incident for hit in hits] == [second, first, third]
    assert [hit.incident for hit in recalled(facts, limit=2)] == [second, first]
    without = Query("gateway", exclude=frozenset({first.incident_id}))
    assert [hit.incident for hit in recalled(facts, query=without)] == [second, third]
    assert find_without_record(group_by_document([bare, fact(first)], ASKED, OPERATOR)) == (second.incident_id,)


def test_what_may_not_be_seen_is_left_out_by_tag_and_by_record() -> None:
    private = replace(RECORDS[0], incident_id="P-1", source=Source(visibility="private:G1"))
    mislabelled = BankFact("P-2", "a fact", build_metadata(replace(private, incident_id="P-2")), PUBLIC)
    untagged = BankFact("P-3", "a fact", build_metadata(RECORDS[0]), ())
    two = BankFact("P-4", "a fact", {}, ("scope:public", "scope:private:G1"))
    facts = [fact(private), mislabelled, untagged, two]
    assert recalled(facts, Viewer()) == []
    member = Viewer(frozenset({"public", "private:G1"}))
    assert [hit.incident_id for hit in recalled(facts, member)] == ["P-1", "P-2", "P-4"]
    assert build_viewer_tags(member) == ["scope:private:G1", "scope:public"]
    assert build_viewer_tags(OPERATOR)[0] == "precedent"


def test_plain_metadata_of_another_writer_is_a_record() -> None:
    plain = {
        "fix": "Fail over to stripe",
        "verification_status": "Verified",
        "root_cause": "their edge",
        "failed_checks": "db pool; redis ;",
        "symptoms": "504; slow",
        "vendor": "razorpay",
        "classification": "vendor_side",
        "whatever": "else",
        "attempts": "3",
    }
    read = read_fact_record("X-1", BankFact("X-1", "Gateway 504 in ap-south-1.\nMore", plain, ("scope:private:G1",)))
    assert read is not None
    assert (read.incident_id, read.title, read.vendor) == ("X-1", "Gateway 504 in ap-south-1. More", "razorpay")
    assert (read.root_cause, read.symptoms) == ("their edge", ("504", "slow"))
    assert read.failed_checks == (FailedCheck("db pool"), FailedCheck("redis"))
    assert read.attempts == (Attempt("Fail over to stripe", VerificationStatus.VERIFIED),)
    assert read.source == Source("bank", visibility="private:G1")
    unknown = read_fact_record("X-2", BankFact("X-2", "t", {"fix": "restart", "verification_status": "superb"}, PUBLIC))
    assert unknown is not None
    assert unknown.attempts[0].status is VerificationStatus.UNVERIFIED


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"vendor": "razorpay"},
        {FORMAT: "[1, 2]"},
        {FORMAT: '{"title": '},
        {FORMAT: json.dumps({"title": ""})},
        {FORMAT: "[" * 100_000},
        {"title": "t", "started_at": "yesterday"},
    ],
)
def test_what_is_no_record_is_text_with_secrets_masked(metadata: dict[str, str]) -> None:
    (hit,) = recalled([BankFact("N-1", "Refunds use it, too. password=hunter2secret", metadata, PUBLIC)])
    assert hit.incident is None
    assert hit.text is not None
    assert hit.text.startswith("Refunds use it, too.")
    assert "hunter2" not in hit.text


def test_secrets_in_records_of_others_are_masked() -> None:
    leaky = replace(RECORDS[0], root_cause="the key xoxb-123456789012-abcdefghij leaked", lesson=None)
    read = read_fact_record(leaky.incident_id, fact(leaky))
    assert read is not None
    assert "xoxb-1234" not in (read.root_cause or "")
