"""What a person says is kept once, durably, and told in the thread."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.domain.alerts.alert import Alert, AlertState
from bot.domain.delivery.kinds import Operation
from bot.domain.incidents.lifecycle import IncidentState
from bot.domain.incidents.record import Boundary, FailedCheck, Incident, Runbook, VerificationStatus
from bot.domain.recall.query import OPERATOR, Query
from bot.domain.resolutions.suggestions import SuggestedFix
from bot.ports.chat import Channel
from bot.ports.delivery.outbox import Destination
from bot.ports.errors import IncidentNotFound, RecordRejected
from bot.ports.unit_of_work import Changes
from bot.slack.views.surfaces import SlackSurfaces
from bot.workflows.resolutions.resolve import FixOutcome, Resolution, Resolve, Subject
from tests.workflows.world import World, fed, world


@pytest.fixture
async def w(tmp_path: Path) -> AsyncIterator[World]:
    async with world(tmp_path) as made:
        await made.post(severity="critical")
        await made.drain_outbox()
        yield made


async def test_a_resolution_is_kept_with_who_when_and_how(w: World) -> None:
    said = Resolution(
        FixOutcome.RECOVERED,
        "INC-1",
        fix=" Restart it ",
        root_cause="a leak",
        boundary=Boundary.INTERNAL,
        failed_checks=(FailedCheck("DB pool", 20),),
        lesson="watch it",
        customer_impact="none",
    )
    recorded = await w.resolve(said, "U1", "view:1")
    kept = await w.memory.incidents.read_record("INC-1")
    assert kept == recorded.incident
    (attempt,) = kept.attempts
    assert (attempt.fix, attempt.status, attempt.by, attempt.at, attempt.how) == (
        "Restart it",
        "VERIFIED",
        "U1",
        w.clock.now(),
        "modal",
    )
    assert (kept.boundary, kept.root_cause, kept.failed_checks, kept.lesson) == (
        "internal",
        "a leak",
        (FailedCheck("DB pool", 20),),
        "watch it",
    )
    assert (await w.memory.incidents.read_lifecycle("INC-1")).state == "resolved"
    assert [r.entry.operation for r in await w.drain_outbox()] == ["post", "update"]


@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        (FixOutcome.PARTLY, VerificationStatus.PARTIAL),
        (FixOutcome.NO, VerificationStatus.FAILED),
        (FixOutcome.NOT_SURE, VerificationStatus.UNVERIFIED),
    ],
)
async def test_what_was_not_seen_to_work_is_not_verified(
    w: World, outcome: FixOutcome, status: VerificationStatus
) -> None:
    recorded = await w.resolve(Resolution(outcome, "INC-1", fix="Restart it"), "U1", "view:1")
    assert [a.status for a in recorded.incident.attempts] == [status]


async def test_a_fix_that_failed_is_remembered_and_ends_nothing(w: World) -> None:
    """The alert goes on: its brief stays open, and the next firing is no new incident."""
    failed = await w.resolve(Resolution(FixOutcome.NO, "INC-1", fix="Restart it"), "U1", "view:1")
    life = await w.memory.incidents.read_lifecycle("INC-1")
    assert (life.state, life.resolved_at, failed.incident.resolved_at) == (IncidentState.OPEN, None, None)
    payloads = repr([row.entry.payload for row in await w.drain_outbox()])
    assert "It stays open." in payloads
    assert "resolved;" not in payloads
    found = await w.memory.recall.precedents(Query("x", fingerprint=life.fingerprint), OPERATOR)
    assert [a.status for p in found.precedents for a in p.incident.attempts] == ["FAILED"]
    await w.post(ts="1795921500.000000", severity="critical")
    assert (await w.memory.incidents.read_lifecycle("INC-1")).fired == 2
    await w.resolve(Resolution(FixOutcome.RECOVERED, "INC-1", fix="Raise the limit"), "U2", "view:2")
    assert (await w.memory.incidents.read_lifecycle("INC-1")).state is IncidentState.RESOLVED


async def test_cleared_by_itself_is_no_attempt(w: World) -> None:
    recorded = await w.resolve(Resolution(FixOutcome.BY_ITSELF, "INC-1"), "U1", "view:1")
    assert recorded.incident.attempts == ()
    assert recorded.summary == "it cleared by itself"


async def test_the_same_submission_twice_is_kept_once(w: World) -> None:
    said = Resolution(FixOutcome.RECOVERED, "INC-1", fix="Restart it")
    first = await w.resolve(said, "U1", "view:1")
    again = await w.resolve(said, "U1", "view:1")
    assert (first.again, again.again) == (False, True)
    assert len((await w.memory.incidents.read_record("INC-1")).attempts) == 1


async def test_a_second_resolution_adds_and_what_it_leaves_open_stays(w: World) -> None:
    await w.resolve(
        Resolution(FixOutcome.NO, "INC-1", fix="Restart it", root_cause="a leak", failed_checks=(FailedCheck("DNS"),)),
        "U1",
        "view:1",
    )
    second = await w.resolve(
        Resolution(FixOutcome.RECOVERED, "INC-1", fix="Raise the limit", failed_checks=(FailedCheck("dns", 5),)),
        "U2",
        "view:2",
    )
    assert [(a.fix, a.status) for a in second.incident.attempts] == [
        ("Restart it", "FAILED"),
        ("Raise the limit", "VERIFIED"),
    ]
    assert second.incident.root_cause == "a leak"
    assert second.incident.failed_checks == (FailedCheck("dns", 5),)


@pytest.mark.parametrize(
    ("said", "field"),
    [
        (Resolution(FixOutcome.RECOVERED, "INC-1"), "fix"),
        (Resolution(FixOutcome.NO, "INC-1", fix="  "), "fix"),
        (Resolution(FixOutcome.RECOVERED, "INC-1", fix="x", root_cause="y" * 3001), "root_cause"),
        (Resolution(FixOutcome.RECOVERED, "INC-1", fix="x", failed_checks=(FailedCheck("a", -1),)), "failed_checks"),
    ],
)
async def test_what_cannot_be_recorded_names_its_field_and_changes_nothing(
    w: World, said: Resolution, field: str
) -> None:
    with pytest.raises(RecordRejected) as refused:
        await w.resolve(said, "U1", "view:1")
    assert refused.value.field == field
    assert (await w.memory.incidents.read_record("INC-1")).attempts == ()


async def test_an_unknown_incident_is_told_so(w: World) -> None:
    with pytest.raises(IncidentNotFound):
        await w.resolve(Resolution(FixOutcome.BY_ITSELF, "INC-99"), "U1", "view:1")
    with pytest.raises(IncidentNotFound):
        await w.resolve(Resolution(FixOutcome.BY_ITSELF), "U1", "view:1")


async def test_a_message_without_an_incident_gets_one(w: World) -> None:
    alert = Alert("test", AlertState.FIRING, "disk/full", title="Disk full", service="reports")
    subject = Subject(Channel("C2"), "1795900000.000100", "Disk full", alert, "https://x.example/1")
    recorded = await w.resolve(Resolution(FixOutcome.RECOVERED, subject=subject, fix="Delete old logs"), "U1", "view:9")
    assert recorded.incident.service == "reports"
    assert recorded.incident.alerts[0].fingerprint == "disk/full"
    assert await w.memory.incidents.find_incident("C2", "1795900000.000100") == recorded.incident.incident_id
    (told,) = [r for r in await w.drain_outbox() if r.entry.operation == Operation.POST]
    assert (told.entry.payload["channel"], told.entry.payload["thread_ts"]) == ("C2", "1795900000.000100")


async def test_a_plain_message_becomes_a_record_of_its_words(w: World) -> None:
    subject = Subject(Channel("C2"), "nonsense", "It was slow")
    recorded = await w.resolve(Resolution(FixOutcome.BY_ITSELF, subject=subject), "U1", "view:9")
    assert recorded.incident.title == "It was slow"
    assert recorded.incident.started_at == w.clock.now()


async def test_a_resolution_of_a_quiet_incident_is_told_where_it_was_recorded(w: World) -> None:
    w.clock.advance(seconds=1)
    await w.post(fingerprint="quiet", severity="warning")
    await w.drain_outbox()
    await w.resolve(Resolution(FixOutcome.BY_ITSELF, "INC-2", thread=("C1", "1795921200.000000")), "U1", "view:5")
    (told,) = [r for r in await w.drain_outbox() if r.entry.operation == Operation.POST]
    assert told.entry.payload["thread_ts"] == "1795921200.000000"


async def test_a_remote_bank_is_owed_the_record(w: World) -> None:
    resolve = Resolve(store=fed(w.memory.store.incidents), surfaces=SlackSurfaces(), clock=w.clock)
    await resolve(Resolution(FixOutcome.BY_ITSELF, "INC-1"), "U1", "view:1")
    (row,) = await w.memory.outbox.claim(Destination.BANK, 5)
    assert (row.entry.operation, row.entry.key, row.entry.payload["incident_id"]) == ("retain", "INC-1", "INC-1")


async def test_the_form_offers_what_the_brief_knows(w: World) -> None:
    await w.resolve(
        Resolution(FixOutcome.RECOVERED, "INC-1", fix="Restart it", failed_checks=(FailedCheck("DNS", 5),)),
        "U1",
        "view:1",
    )
    w.clock.advance(days=2)
    await w.post(severity="critical")
    form = await w.resolve.open_form("INC-2")
    assert (form.known_fixes, form.usual_checks) == ((SuggestedFix("Restart it"),), ("DNS",))
    assert await w.resolve.find_suggested_fix("INC-2") == "Restart it"
    assert await w.resolve.find_suggested_fix("INC-1") is None
    w.clock.advance(seconds=1)
    await w.post(fingerprint="quiet", severity="warning", title="Other")
    assert (await w.resolve.open_form("INC-3")).known_fixes == ()


async def test_an_imported_record_can_be_added_to(w: World) -> None:
    known = Incident("OLD-1", "Gateway errors", started_at=w.clock.now())
    await w.memory.incidents.commit(Changes(records=(known,), recallable=frozenset({"OLD-1"})))
    await w.resolve(Resolution(FixOutcome.RECOVERED, "OLD-1", fix="Restart it"), "U1", "view:1")
    assert len((await w.memory.incidents.read_record("OLD-1")).attempts) == 1
    assert (await w.memory.incidents.read_lifecycle("OLD-1")).state == "resolved"
    assert await w.drain_outbox() == []


async def test_a_secret_that_somebody_typed_is_not_kept(w: World) -> None:
    secret = "xoxb-" + "1234567890-abcdefghijkl"
    said = Resolution(
        FixOutcome.RECOVERED,
        "INC-1",
        fix=f"export TOKEN={secret}",
        root_cause=f"the token {secret}",
        failed_checks=(FailedCheck(f"curl with {secret}"),),
        lesson=f"rotate {secret}",
    )
    recorded = await w.resolve(said, "U1", "view:1")
    assert secret not in repr(recorded)
    assert secret not in repr(await w.memory.incidents.read_record("INC-1"))
    rows = await w.drain_outbox()
    assert all(secret not in repr(row) for row in rows)
    assert recorded.summary.endswith("export TOKEN=[masked:slack_token]. 4 secrets masked: rotate them.")
    assert "rotate them" in repr(rows)


async def test_who_records_a_secret_of_the_thread_is_told_that_it_is_still_there(w: World) -> None:
    subject = Subject(Channel("C1"), "1900000000.000100", "down, password=[masked:secret]")
    said = Resolution(FixOutcome.RECOVERED, subject=subject, fix="use token=[masked:secret]")
    told = await w.resolve(said, "U1", "view:1")
    assert told.summary.endswith(". 1 secret masked; it is still in the thread: rotate it.")
    memo = Resolution(FixOutcome.RECOVERED, "INC-1", fix="use token=[masked:secret]", how="reaction")
    assert (await w.resolve(memo, "U1", "memo:1")).summary.endswith("it is still in the thread: rotate it.")


async def test_recording_once_more_tells_what_it_changed(w: World) -> None:
    first = Resolution(FixOutcome.NO, "INC-1", fix="Restart it", root_cause="a leak", boundary=Boundary.VENDOR)
    await w.resolve(first, "U1", "view:1")
    (told, _) = await w.drain_outbox()
    assert "→" not in repr(told.entry.payload)
    second = Resolution(FixOutcome.RECOVERED, "INC-1", fix="Raise the limit", root_cause="the limit <!channel>")
    await w.resolve(second, "U2", "view:2")
    text = repr([row.entry.payload for row in await w.drain_outbox()])
    assert "*Root cause*: a leak → the limit &lt;!channel&gt;" in text
    assert "*Fault*" not in text
    await w.resolve(Resolution(FixOutcome.RECOVERED, "INC-1", fix="Raise the limit"), "U3", "view:3")
    assert "→" not in repr(await w.drain_outbox())


async def test_a_runbook_and_another_attempt_are_kept(w: World) -> None:
    book = Runbook("RB-7", "Failover", ("Drain", "Switch"))
    said = Resolution(
        FixOutcome.RECOVERED,
        "INC-1",
        fix="Drain",
        runbook=book,
        also=("Reboot", VerificationStatus.FAILED),
        how="reaction",
    )
    kept = (await w.resolve(said, "U1", "view:1")).incident
    assert kept.runbooks == (book,)
    assert [(a.fix, a.status, a.runbook_id, a.how) for a in kept.attempts] == [
        ("Reboot", "FAILED", None, "reaction"),
        ("Drain", "VERIFIED", "RB-7", "reaction"),
    ]
    again = await w.resolve(replace(said, runbook=replace(book, title="other")), "U2", "view:2")
    assert again.incident.runbooks == (book,)
    with pytest.raises(RecordRejected) as refused:
        await w.resolve(replace(said, also=("y" * 3001, VerificationStatus.FAILED)), "U1", "view:3")
    assert refused.value.field == "also"
