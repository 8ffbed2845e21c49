"""Answers from the record: each rests on what brief and record say, names its incidents, and calls unknown what is unknown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from bot.domain.assistant.answers import ANSWERS, CAN, answer
from bot.domain.assistant.current_answers import AnswerContext
from bot.domain.assistant.hypothesis import TriedFix
from bot.domain.assistant.intents import Intent, Reply
from bot.domain.brief.boundary import BoundaryCall
from bot.domain.brief.checks import SkippedCheck
from bot.domain.brief.decide import Brief, RootCause, add_evidence
from bot.domain.evidence.items import EvidenceKind, Observed, Unavailable
from bot.domain.incidents.record import Boundary, Incident, VerificationStatus
from tests.slack import cases
from tests.slack.cases import NOW, high, insufficient, memory_off, mixed, seen, view

FAILED, PARTIAL = VerificationStatus.FAILED, VerificationStatus.PARTIAL
BEST = "1. Switch payouts to the backup gateway\n2. Watch the error rate for 10 minutes"
OWN = "INC-81"
KNOWN = {"INC-61", "INC-55", "INC-42", "INC-12", OWN}
QUIET = replace(
    high(), recommendation=None, steps=(), alternatives=(), did_not_work=(), skip=(), later=(), root_cause=None,
    step_warnings=(), boundary=BoundaryCall(), history=None, possible=(),
)  # fmt: skip
CLOSED = replace(high(), skip=high().skip[:1], incident=view("cleared", cleared_at=NOW))
NAMED = replace(high(), skip=high().skip[:1])
BRIEFS = (
    NAMED,
    seen(),
    replace(mixed(), skip=()),
    insufficient(),
    memory_off(),
    QUIET,
    CLOSED,
    replace(NAMED, incident=None),
)


def said(reply: Reply) -> str:
    return "\n".join((*reply.sentences, *reply.items, reply.draft or ""))


def ask(intent: Intent, brief: Brief | None = None, **given: object) -> Reply:
    return answer(intent, AnswerContext(brief or high(), NOW, **given))  # type: ignore[arg-type]  # fields by name


@pytest.mark.parametrize("intent", list(Intent))
@pytest.mark.parametrize("brief", BRIEFS)
def test_no_answer_names_what_the_brief_does_not_or_speaks_of_the_past_without_a_name(
    brief: Brief, intent: Intent
) -> None:
    reply = ask(intent, brief)
    assert 1 <= len(reply.sentences) <= 6
    assert {*re.findall(r"INC-\d+", said(reply)), *reply.cites} <= KNOWN
    for line in (*reply.sentences, *reply.items):
        speaks = re.search(r"[Mm]emory.* says|\bworked\b|failed in \d|not the cause|similar outages? in", line)
        assert "INC-" in line or not speaks or line.endswith(":"), line
    if brief.memory_mode == "off":
        assert not reply.cites
        assert "INC-" not in said(reply).replace(OWN, "")


@pytest.mark.parametrize("intent", [Intent.NEXT, Intent.SKIP, Intent.FIXED, Intent.FAILED, Intent.CAUSE, Intent.SURE, Intent.BEFORE, Intent.SIDE, Intent.SOURCES])  # fmt: skip
def test_memory_that_is_off_or_knows_too_little_says_so(intent: Intent) -> None:
    assert "Memory is off for this brief" in said(ask(intent, memory_off()))
    assert "INSUFFICIENT_MEMORY: nothing close among 14 past incidents." in said(ask(intent, insufficient()))
    bare = replace(insufficient(), insufficient_memory=None)
    assert "INSUFFICIENT_MEMORY: nothing counts here." in said(ask(intent, bare))


def test_what_now_is_the_steps_with_their_record() -> None:
    reply = ask(Intent.NEXT)
    assert reply.items == ("Switch payouts to the backup gateway", "Watch the error rate for 10 minutes")
    assert (reply.numbered, reply.more) == (True, 0)
    assert "confidence HIGH: tried in 3 of 4" in said(reply)
    assert "Beware: written for ap-south-1" in said(reply)
    assert reply.cites == ("INC-61", "INC-55", "INC-42")
    assert ask(Intent.NEXT, replace(high(), steps=("a", "b", "c", "d", "e", "f", "g"))).more == 2
    assert ask(Intent.NEXT, CLOSED).sentences[0] == "The alert is cleared since 2026-11-29 03:00 UTC."
    assert "The alert is resolved." in said(ask(Intent.SEEN, replace(high(), incident=view("resolved"))))


def test_what_failed_in_this_incident_is_not_proposed_again() -> None:
    tried = (TriedFix("A1", "switched payouts to the backup gateway; watched the error rate for 10 min", FAILED),)
    assert high().recommendation
    worked = replace(high().alternatives[0], fix="Open the breaker; drain the queue", successes=1)
    reply = ask(Intent.NEXT, replace(high(), alternatives=(worked,)), tried=tried)
    assert "was tried in this incident and did not work" in said(reply)
    assert reply.items == ("Open the breaker", "drain the queue")
    nothing = ask(Intent.NEXT, tried=tried)
    assert "Nothing else in memory is known to have worked in INC-61, INC-55." in said(nothing)
    assert nothing.items == ()


def test_a_contradiction_leads_and_nothing_is_skipped_meanwhile() -> None:
    brief = seen()
    assert brief.contradictions
    for intent in (Intent.NEXT, Intent.SKIP, Intent.SIDE):
        assert ask(intent, brief).sentences[0].startswith("Now: ")
        assert ask(intent, brief).sentences[1].startswith("Memory (INC-55) says instead: ")
    assert "Skip nothing while that stands" in said(ask(Intent.SKIP, brief))


def test_checks_with_what_they_cost_and_those_for_later() -> None:
    items = ask(Intent.SKIP).items
    assert items[0] == "DB pool: not the cause in 3 of 3, 10–25 min then (INC-42)"
    assert items[2] == "Later, not never: TLS certificates: it was the cause in INC-12 (INC-12)"
    same = replace(high(), skip=(SkippedCheck("DNS", 1, 3, 5.0, (5.0, 5.0), ("INC-42",), 1),))
    assert "5 min then" in ask(Intent.SKIP, same).items[0]
    assert ask(Intent.SKIP, replace(high(), skip=())).sentences == ("Memory knows no check to skip.",)
    assert "No wasted check is recorded in INC-61, INC-55." in said(ask(Intent.SKIP, QUIET))


def fixers(by: str | None) -> Brief:
    brief = high()
    assert brief.recommendation
    best = replace(brief.recommendation, resolved=("INC-61",))
    return replace(brief, recommendation=best, sources=(replace(brief.sources[0], fixed_by=by, date=None),))


@pytest.mark.parametrize(
    ("by", "shown"),
    [
        ("maya", "maya"),
        ("U0ALICE1", "Alice Adams"),
        ("U0GONE99", "somebody whose name Slack does not tell"),
        (None, "not recorded by whom"),
    ],
)
def test_who_fixed_it_is_a_name_that_calls_nobody(by: str | None, shown: str) -> None:
    reply = ask(Intent.FIXED, fixers(by), names={"U0ALICE1": "Alice Adams"})
    assert reply.items == (f"INC-61 (no date): {shown}",)
    assert "worked in 3 of 4 similar outages, last on 2026-11-02 (INC-61)." in said(reply)


def test_no_fix_that_was_seen_to_work() -> None:
    assert "No fix in INC-61, INC-55 is recorded as seen to work." in said(ask(Intent.FIXED))
    assert "“Restart payments-api” did not work (2 failures: INC-42, INC-55)." in said(ask(Intent.FIXED))


def test_what_did_not_work_then_and_now() -> None:
    tried = (TriedFix("A1", "flushed the cache", FAILED), TriedFix("A2", "rolled back", PARTIAL))
    assert ask(Intent.FAILED, tried=tried).items == (
        "flushed the cache: did not work in this incident",
        "Restart payments-api: failed in 2 outages (INC-42, INC-55)",
    )
    none_then = ask(Intent.FAILED, QUIET, tried=tried)
    assert none_then.sentences == ("No failed fix is recorded in INC-61, INC-55.", "In this incident:")
    assert "Nothing is known to have failed" in said(ask(Intent.FAILED, QUIET))
    assert ask(Intent.TRIED, tried=tried).items == ("flushed the cache: did not work", "rolled back: helped partly")
    assert "Nothing is recorded" in said(ask(Intent.TRIED))


def test_the_cause_of_then_is_not_the_cause_of_now() -> None:
    reply = ask(Intent.CAUSE)
    assert reply.sentences[0] == "Nobody has recorded a cause of this incident yet."
    assert reply.sentences[1].startswith("Memory says of INC-61, with a fix seen to work: Razorpay's")
    record = Incident(OWN, "x", root_cause="An expired certificate.")
    assert ask(Intent.CAUSE, record=record).sentences[0] == "Recorded for this incident: An expired certificate."
    reported = replace(high(), root_cause=RootCause("a leak", verified=False, incident_id="INC-55"))
    assert "Memory says of INC-55, as reported, not verified: a leak" in said(ask(Intent.CAUSE, reported))
    assert "No cause is recorded in INC-61, INC-55." in said(ask(Intent.CAUSE, QUIET))


def test_how_sure_and_why() -> None:
    reply = ask(Intent.SURE)
    assert reply.items[0] == "INC-61 (2026-11-29), 90%: same alert"
    bare = replace(QUIET, sources=(replace(QUIET.sources[0], why=()),))
    assert ask(Intent.SURE, bare).items == ("INC-61 (2026-11-29), 90%: by its wording",)
    assert ask(Intent.SURE, bare).sentences[0] == "No fix in INC-61 is known to have worked."
    near = insufficient()
    assert near.insufficient_memory
    near = replace(near, insufficient_memory=replace(near.insufficient_memory, nearest="INC-12 differs in region"))
    assert ask(Intent.SURE, near).sentences[1] == "Nearest: INC-12 differs in region."


def test_how_often_it_happened() -> None:
    reply = ask(Intent.BEFORE, replace(high(), outages=2))
    assert reply.sentences == (
        "Yes: 2 similar outages in memory (INC-61, INC-55).",
        "This alert fired 14× in 30 days before now, 12 of them cleared with no recorded fix.",
    )
    assert len(ask(Intent.BEFORE, insufficient()).sentences) == 1


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        (BoundaryCall(Boundary.VENDOR, {"vendor": 3, "internal": 1}, "region", "this alert is like them"), "Memory says the vendor in 3 of 4 outages (INC-61, INC-55)."),
        (BoundaryCall(Boundary.INTERNAL), "Memory says us (INC-61, INC-55)."),
        (BoundaryCall(Boundary.MIXED, {"mixed": 1}), "Memory says both in 1 of 1 outage (INC-61, INC-55)."),
        (BoundaryCall(), "I cannot tell which it is."),
    ],
)  # fmt: skip
def test_us_or_the_vendor(call: BoundaryCall, shown: str) -> None:
    page = Observed(EvidenceKind.VENDOR_STATUS, "page", "Razorpay's page", "statuspage", NOW, text="operational")
    reply = ask(Intent.SIDE, replace(high(), boundary=call, evidence=(page,)))
    assert shown in reply.sentences
    assert reply.sentences[0] == "Now: Razorpay's page operational."
    assert ("This alert is like them." in reply.sentences) == (call.this_alert is not None)


DEPLOY = Observed(EvidenceKind.DEPLOY, "deploy", "deploy of payments-api", "github", NOW, text="v142")
NONE = Observed(EvidenceKind.DEPLOY, "deploy", "deploys", "github", NOW, text="none", count=0)
BLIND = Unavailable(EvidenceKind.DEPLOY, "deploy", "deploys", "github", "HTTP 503")


@pytest.mark.parametrize(
    ("evidence", "shown"),
    [
        ((DEPLOY,), "1 deploy seen around the alert:"),
        ((BLIND,), "I cannot see deploys: HTTP 503."),
        ((NONE,), "The sources show no deploy around the alert."),
        ((), "I see no source of deploys for this alert, so whether anything changed is unknown to me."),
    ],
)
def test_what_changed(evidence: tuple[Observed | Unavailable, ...], shown: str) -> None:
    assert ask(Intent.CHANGED, replace(high(), evidence=evidence)).sentences[0] == shown


def test_what_is_seen() -> None:
    reply = ask(Intent.SEEN, seen())
    assert reply.sentences == ("The alert is firing since 2026-11-29 03:00 UTC.", "Seen at 03:00 UTC:")
    assert "pool in use 98 %, highest of 3, over now, peak 99 %" in reply.items
    assert "9× log lines refused" in reply.items
    assert "deploy of payments-api v142, 0 min before the alert" in reply.items
    assert "status page: unavailable: HTTP 503" in reply.items
    assert "so I see nothing more" in said(ask(Intent.SEEN, replace(high(), incident=None)))
    assert ask(Intent.SEEN, replace(high(), evidence=(BLIND,))).sentences[1] == "Seen:"
    late = replace(DEPLOY, at=NOW.replace(minute=4))
    assert "4 min after the alert" in said(ask(Intent.CHANGED, replace(high(), evidence=(late,))))
    assert ask(Intent.CHANGED, replace(high(), evidence=(DEPLOY,), now=None)).items == ("deploy of payments-api v142",)


def test_a_status_update_calls_unknown_what_is_unknown_and_tells_nothing_of_the_past() -> None:
    draft = ask(Intent.STATUS).draft or ""
    assert "INC-" not in draft
    for line in ("[ongoing] payments-api: GatewayErrors", "Customer impact: unknown", "Cause: unknown", "Seen: the alert alone", "Done so far: nothing recorded", "Expected recovery: unknown"):  # fmt: skip
        assert line in draft
    record = Incident(OWN, "x", root_cause="A full pool", customer_impact="Payouts are late")
    tried = (TriedFix("A1", "raised the pool", PARTIAL),)
    full = ask(Intent.STATUS, add_evidence(CLOSED, (DEPLOY,), NOW), record=record, tried=tried).draft or ""
    for line in ("[the alert cleared, recovery not confirmed]", "Customer impact: Payouts are late", "Cause: A full pool", "Done so far: raised the pool (helped partly)", "Seen: deploy of payments-api v142"):  # fmt: skip
        assert line in full
    bare = replace(high(), incident=None, alert=cases.alert(service=None, severity=None, title=None))
    assert "[ongoing] Service unknown: alert\nStarted: unknown\nSeverity: unknown" in (ask(Intent.STATUS, bare).draft or "")  # fmt: skip


def test_sources_and_those_that_do_not_count() -> None:
    reply = ask(Intent.SOURCES)
    assert reply.sentences == ("Possibly related, not counted: INC-12.", "The brief rests on 2 past incidents:")
    assert reply.items[0] == "INC-61 (2026-11-29): Razorpay 504s"
    assert reply.cites == ("INC-61", "INC-55", "INC-12")
    many = replace(high(), sources=tuple(replace(high().sources[0], incident_id=f"INC-{n}") for n in range(7)))
    assert ask(Intent.SOURCES, many).items[-1] == "+2 more in Details"


def test_it_does_nothing_records_nothing_and_asks_back_what_it_does_not_know() -> None:
    assert "I change nothing" in said(ask(Intent.DO))
    assert "I record nothing from what is said here" in said(ask(Intent.RECORD))
    assert CAN in said(ask(Intent.HELP))
    unknown = ask(Intent.UNKNOWN)
    assert unknown.asks
    assert unknown.sentences[-1].endswith("?")
    assert not any(ask(intent).asks for intent in _answered())


def _answered() -> Iterator[Intent]:
    yield from ANSWERS
