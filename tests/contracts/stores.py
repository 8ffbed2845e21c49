"""What any store must do, whichever database holds it. The bindings are in `test_contracts`."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import date, timedelta

import pytest

from bot.adapters.store import Store
from bot.adapters.store.database.schema import HEAD
from bot.domain.access.visibility import Viewer
from bot.domain.alerts.alert import Alert, AlertState, Severity, Symptom
from bot.domain.brief.boundary import BoundaryCall
from bot.domain.brief.checks import SkippedCheck
from bot.domain.brief.decide import Brief, SourceLine
from bot.domain.delivery.kinds import Operation
from bot.domain.incidents.alert_history import AlertHistory
from bot.domain.incidents.lifecycle import IncidentState, Lifecycle
from bot.domain.incidents.opening import IncidentView
from bot.domain.incidents.record import Announcement, Attempt, Boundary, Incident, Source, VerificationStatus
from bot.domain.recall.query import OPERATOR, KnownNames, Query
from bot.domain.recall.ranking import MissingPart
from bot.ports.audit import AuditLine
from bot.ports.delivery.inbox import ReceivedEvent
from bot.ports.delivery.outbox import Destination, OutboxEntry
from bot.ports.errors import IncidentNotFound, StoreConflict
from bot.ports.posts import IncidentPost, PostedBrief
from bot.ports.unit_of_work import Changes
from tests.fakes import START, FakeClock

PUBLIC = Viewer()
INCIDENT = Incident(
    "INC-7",
    "Payments time out ✗ 決済",
    service="payments-api",
    vendor="razorpay",
    symptoms=("gateway timeout 504",),
    started_at=START,
    attempts=(Attempt("failover; verify", VerificationStatus.VERIFIED, by="U1", at=START, how="modal"),),
    alerts=(Announcement("fp-1", "grafana", "GatewayErrors", {"job": "pay"}),),
)
LIFE = Lifecycle("INC-7", "fp-1", "public", IncidentState.OPEN, START, START)
BRIEF = Brief(
    verdict="payments-api: vendor 3 of 3",
    alert=Alert(
        "grafana", AlertState.FIRING, "fp-1", severity=Severity.CRITICAL, symptoms=(Symptom("metric", "p95", "4.2"),)
    ),
    incident=IncidentView("INC-7", IncidentState.OPEN, 1, START),
    boundary=BoundaryCall(Boundary.VENDOR, {"vendor": 3}),
    skip=(SkippedCheck("DB pool", 3, 3, 15.0, (10.0, 25.0), ("INC-1",)),),
    sources=(SourceLine("INC-1", "t", Boundary.VENDOR, "strong", 0.91, START, ("the same alert",)),),
    missing=(MissingPart("evidence", "not set up"),),
    history=AlertHistory(30, 14, 12, 8.5),
    now=START,
)


def owed(delivery_id: str = "d1", key: str = "k", **other: object) -> OutboxEntry:
    payload = other.pop("payload", {"text": delivery_id})
    return OutboxEntry(Destination.SLACK, Operation.POST, key, delivery_id, payload, **other)  # type: ignore[arg-type]  # a test's shorthand


def received(number: int, body: dict[str, object] | None = None) -> ReceivedEvent:
    return ReceivedEvent(f"Ev{number}", f"T1/C1/{number}", "message", {"n": number} if body is None else body)


class StoreContract:
    """Subclasses give `store` and `clock`."""

    @pytest.fixture
    def clock(self) -> FakeClock:
        return FakeClock()

    # records and lives

    async def test_a_record_comes_back_equal(self, store: Store) -> None:
        assert await store.incidents.commit(Changes(records=(INCIDENT,)))
        assert await store.incidents.read_record("INC-7") == INCIDENT

    async def test_an_unknown_record_or_life_is_not_found(self, store: Store) -> None:
        with pytest.raises(IncidentNotFound):
            await store.incidents.read_record("INC-1")
        with pytest.raises(IncidentNotFound):
            await store.incidents.read_lifecycle("INC-1")

    async def test_ids_are_new_and_never_those_of_an_import(self, store: Store) -> None:
        first = await store.incidents.new_incident_id()
        await store.incidents.commit(Changes(records=(replace(INCIDENT, incident_id="INC-41"),)))
        second = await store.incidents.new_incident_id()
        assert (first, second) == ("INC-1", "INC-42")
        many = await asyncio.gather(*(store.incidents.new_incident_id() for _ in range(20)))
        assert len(set(many)) == 20

    async def test_private_records_are_seen_by_their_channel_and_the_operator(self, store: Store) -> None:
        private = replace(INCIDENT, incident_id="INC-8", source=Source(visibility="private:G1"))
        await store.incidents.commit(Changes(records=(INCIDENT, private), recallable=frozenset({"INC-8"})))
        assert await store.incidents.list_records(PUBLIC) == (INCIDENT,)
        member = Viewer(frozenset({"public", "private:G1"}))
        assert [r.incident_id for r in await store.incidents.list_records(member)] == ["INC-7", "INC-8"]
        assert await store.incidents.list_records(OPERATOR, recallable_only=True) == (private,)

    async def test_export_gives_every_record_once_by_id(self, store: Store) -> None:
        records = tuple(replace(INCIDENT, incident_id=f"X-{n:04}") for n in range(1203))
        await store.incidents.commit(Changes(records=records))
        exported = [record async for record in store.incidents.stream_records(OPERATOR)]
        assert tuple(exported) == records

    async def test_a_stale_life_is_refused_and_nothing_of_its_commit_is_written(self, store: Store) -> None:
        await store.incidents.commit(Changes(lifecycles=(LIFE,)))
        held = await store.incidents.read_lifecycle("INC-7")
        assert held == replace(LIFE, version=1)
        await store.incidents.commit(Changes(lifecycles=(replace(held, fired=2),)))
        with pytest.raises(StoreConflict):
            await store.incidents.commit(
                Changes(records=(INCIDENT,), deliveries=(owed(),), lifecycles=(replace(held, fired=9),))
            )
        with pytest.raises(StoreConflict):
            await store.incidents.commit(Changes(lifecycles=(LIFE,)))
        assert (await store.incidents.read_lifecycle("INC-7")).fired == 2
        assert await store.incidents.list_records(OPERATOR) == ()
        assert await store.outbox.claim(Destination.SLACK, 5) == ()

    async def test_of_many_writers_with_the_same_version_one_wins(self, store: Store) -> None:
        await store.incidents.commit(Changes(lifecycles=(LIFE,)))
        held = await store.incidents.read_lifecycle("INC-7")
        tries = (store.incidents.commit(Changes(lifecycles=(replace(held, fired=n),))) for n in range(10))
        results = await asyncio.gather(*tries, return_exceptions=True)
        assert sum(result is True for result in results) == 1
        assert sum(isinstance(result, StoreConflict) for result in results) == 9

    async def test_once_happens_once(self, store: Store) -> None:
        assert await store.incidents.commit(Changes(once="view-1", deliveries=(owed("a"),)))
        assert not await store.incidents.commit(Changes(once="view-1", deliveries=(owed("b", "k2"),)))
        assert [row.entry.delivery_id for row in await store.outbox.claim(Destination.SLACK, 9)] == ["a"]

    async def test_the_latest_life_is_that_of_the_same_visibility(self, store: Store) -> None:
        later = replace(LIFE, incident_id="INC-8", opened_at=START + timedelta(hours=1))
        hidden = replace(LIFE, incident_id="INC-9", opened_at=START + timedelta(hours=2), visibility="private:G1")
        await store.incidents.commit(Changes(lifecycles=(LIFE, later, hidden)))
        latest = await store.incidents.find_latest_lifecycle("fp-1", "public")
        assert latest is not None
        assert latest.incident_id == "INC-8"
        assert await store.incidents.find_latest_lifecycle("fp-2", "public") is None

    async def test_lives_by_time_and_those_not_finished(self, store: Store) -> None:
        made = (
            LIFE,
            replace(LIFE, incident_id="B", opened_at=START + timedelta(hours=1), state=IncidentState.CLEARED),
            replace(LIFE, incident_id="C", opened_at=START + timedelta(hours=2), state=IncidentState.RESOLVED),
            replace(LIFE, incident_id="D", opened_at=START + timedelta(hours=3), visibility="private:G1"),
        )
        await store.incidents.commit(Changes(lifecycles=made))
        until = START + timedelta(hours=3)
        assert [life.incident_id for life in await store.incidents.list_lifecycles(START, until, OPERATOR)] == [
            "INC-7",
            "B",
            "C",
        ]
        assert [life.incident_id for life in await store.incidents.list_open_lifecycles(PUBLIC)] == ["B", "INC-7"]
        assert len(await store.incidents.list_open_lifecycles(OPERATOR)) == 3

    async def test_history_counts_what_alerts_alone_tell(self, store: Store) -> None:
        cleared = replace(LIFE, state=IncidentState.CLEARED, cleared_at=START + timedelta(minutes=10))
        made = (
            cleared,
            replace(cleared, incident_id="B", state=IncidentState.RESOLVED, resolved_at=START + timedelta(minutes=99)),
            replace(cleared, incident_id="C", state=IncidentState.DISMISSED),
            replace(LIFE, incident_id="D"),
            replace(LIFE, incident_id="old", opened_at=START - timedelta(days=40)),
            replace(cleared, incident_id="E", visibility="private:G1"),
        )
        await store.incidents.commit(Changes(lifecycles=made))
        now = START + timedelta(days=1)
        told = await store.incidents.read_alert_history("fp-1", "public", now, 30, "D")
        assert told == AlertHistory(30, times=2, unrecorded=1, median_minutes=10.0)
        assert (await store.incidents.read_alert_history("fp-1", "public", now, 30, None)).times == 3
        assert await store.incidents.read_alert_history("none", "public", now, 30, None) == AlertHistory(30, 0, 0, None)

    # briefs and posts

    async def test_a_brief_comes_back_equal_with_its_message(self, store: Store, clock: FakeClock) -> None:
        posted = PostedBrief("INC-7", "C1", "10.1", "brief/INC-7/C1", BRIEF)
        await store.incidents.commit(Changes(briefs=(posted,), deliveries=(owed("brief/INC-7/C1"),)))
        assert await store.incidents.list_briefs("INC-7") == (posted,)
        (row,) = await store.outbox.claim(Destination.SLACK, 5)
        assert await store.outbox.acknowledge(row, "10.2")
        assert await store.incidents.list_briefs("INC-7") == (replace(posted, message_ts="10.2"),)
        newer = replace(posted, brief=replace(BRIEF, verdict="changed"))
        clock.move(60)
        await store.incidents.commit(Changes(briefs=(newer,)))
        assert await store.incidents.list_briefs("INC-7") == (replace(newer, message_ts="10.2"),)
        assert await store.incidents.list_brief_channels(START) == ("C1",)
        assert await store.incidents.list_brief_channels(START + timedelta(seconds=1)) == ()

    async def test_a_message_finds_its_incident(self, store: Store) -> None:
        posted = PostedBrief("INC-7", "C1", "10.1", "brief", BRIEF)
        seen = IncidentPost("C1", "11.1", "INC-7")
        await store.incidents.commit(Changes(briefs=(posted,), deliveries=(owed("brief"),), posts=(seen, seen)))
        (row,) = await store.outbox.claim(Destination.SLACK, 5)
        await store.outbox.acknowledge(row, "10.2")
        for ts in ("10.1", "10.2", "11.1"):
            assert await store.incidents.find_incident("C1", ts) == "INC-7"
            assert await store.incidents.find_incident("C2", ts) is None

    # inbox

    async def test_the_same_event_or_fact_is_received_once(self, store: Store) -> None:
        assert await store.inbox.receive(received(1))
        assert not await store.inbox.receive(received(1))
        assert not await store.inbox.receive(replace(received(1), event_id="other"))
        assert len(await store.inbox.claim(5)) == 1

    async def test_parallel_receives_of_one_event_keep_one(self, store: Store) -> None:
        results = await asyncio.gather(*(store.inbox.receive(received(1)) for _ in range(10)))
        assert sum(results) == 1

    async def test_what_is_not_ours_keeps_its_id_only(self, store: Store) -> None:
        assert await store.inbox.receive(ReceivedEvent("Ev1", "k", "message", None))
        assert not await store.inbox.receive(ReceivedEvent("Ev1", "k", "message", None))

    async def test_what_is_told_of_one_alert_is_worked_on_in_order(self, store: Store, clock: FakeClock) -> None:
        for number, key in enumerate(("a", "a", "b", None, None), 1):
            assert await store.inbox.receive(ReceivedEvent(f"Ev{number}", f"k{number}", "message", {"n": number}, key))
        taken = await store.inbox.claim(10)
        assert [row.body["n"] for row in taken] == [1, 3, 4, 5]
        assert await store.inbox.claim(10) == ()
        for other in taken[1:]:
            await store.inbox.acknowledge(other)
        await store.inbox.retry_later(taken[0], 60, "an outage")
        assert await store.inbox.claim(10) == ()
        clock.move(61)
        (again,) = await store.inbox.claim(10)
        assert again.body["n"] == 1
        await store.inbox.acknowledge(again)
        (next_one,) = await store.inbox.claim(10)
        assert next_one.body["n"] == 2
        assert await store.inbox.claim(5) == ()

    async def test_rows_are_taken_oldest_first_under_a_lease(self, store: Store, clock: FakeClock) -> None:
        for number in range(3):
            await store.inbox.receive(received(number))
        first = await store.inbox.claim(2)
        assert [row.body["n"] for row in first] == [0, 1]
        assert [row.body["n"] for row in await store.inbox.claim(5)] == [2]
        assert await store.inbox.claim(5) == ()
        clock.move(61)
        again = await store.inbox.claim(5)
        assert [(row.body["n"], row.attempts) for row in again] == [(0, 2), (1, 2), (2, 2)]
        await store.inbox.acknowledge(first[0])
        clock.move(61)
        assert len(await store.inbox.claim(5)) == 3

    async def test_retry_give_up_and_settle(self, store: Store, clock: FakeClock) -> None:
        for number in range(3):
            await store.inbox.receive(received(number))
        later, dead, done = await store.inbox.claim(3)
        await store.inbox.retry_later(later, 30, "busy")
        await store.inbox.give_up(dead, "broken")
        await store.inbox.acknowledge(done)
        assert await store.inbox.claim(5) == ()
        clock.move(31)
        assert [row.body["n"] for row in await store.inbox.claim(5)] == [0]
        assert await store.inbox.delete_settled(START + timedelta(hours=1)) == 1

    async def test_a_commit_settles_its_inbox_row_only_under_the_lease(self, store: Store, clock: FakeClock) -> None:
        await store.inbox.receive(received(1))
        (row,) = await store.inbox.claim(1)
        clock.move(61)
        (newer,) = await store.inbox.claim(1)
        with pytest.raises(StoreConflict):
            await store.incidents.commit(Changes(done=row, deliveries=(owed(),)))
        assert await store.outbox.claim(Destination.SLACK, 5) == ()
        assert await store.incidents.commit(Changes(done=newer, deliveries=(owed(),)))
        clock.move(61)
        assert await store.inbox.claim(5) == ()

    # outbox

    async def test_keys_go_in_order_and_urgent_ones_first(self, store: Store) -> None:
        rows = (owed("a1", "a"), owed("a2", "a"), owed("b1", "b"), owed("c1", "c", urgent=True))
        await store.incidents.commit(Changes(deliveries=rows))
        first = await store.outbox.claim(Destination.SLACK, 10)
        assert [row.entry.delivery_id for row in first] == ["c1", "a1", "b1"]
        assert await store.outbox.claim(Destination.SLACK, 10) == ()
        await store.outbox.acknowledge(first[1], "1.1")
        assert [row.entry.delivery_id for row in await store.outbox.claim(Destination.SLACK, 10)] == ["a2"]

    async def test_a_dead_row_does_not_block_and_a_postponed_one_does(self, store: Store, clock: FakeClock) -> None:
        await store.incidents.commit(
            Changes(deliveries=(owed("a1", "a"), owed("a2", "a"), owed("b1", "b"), owed("b2", "b")))
        )
        dead, late = await store.outbox.claim(Destination.SLACK, 10)
        assert await store.outbox.dead_letter(dead, "refused")
        assert await store.outbox.postpone(late, 30, "busy", uncertain=False)
        assert [row.entry.delivery_id for row in await store.outbox.claim(Destination.SLACK, 10)] == ["a2"]
        clock.move(31)
        (again,) = await store.outbox.claim(Destination.SLACK, 10)
        assert (again.entry.delivery_id, again.attempts, again.uncertain) == ("b1", 2, False)
        assert await store.outbox.count_rows() == {"slack.dead": 1, "slack.pending": 1, "slack.sending": 2}
        assert await store.outbox.find_oldest_pending() == START

    async def test_what_was_not_tried_does_not_count(self, store: Store) -> None:
        await store.incidents.commit(Changes(deliveries=(owed(),)))
        (row,) = await store.outbox.claim(Destination.SLACK, 1)
        await store.outbox.postpone(row, 0, "", uncertain=False, tried=False)
        (again,) = await store.outbox.claim(Destination.SLACK, 1)
        assert again.attempts == 1

    async def test_a_row_of_a_dead_worker_comes_back_uncertain_and_fenced(self, store: Store, clock: FakeClock) -> None:
        await store.incidents.commit(Changes(deliveries=(owed(),)))
        (row,) = await store.outbox.claim(Destination.SLACK, 1)
        assert not row.uncertain
        clock.move(61)
        (again,) = await store.outbox.claim(Destination.SLACK, 1)
        assert again.uncertain
        assert not await store.outbox.acknowledge(row, "1.1")
        assert not await store.outbox.postpone(row, 0, "", uncertain=False)
        assert not await store.outbox.dead_letter(row, "")
        assert await store.outbox.acknowledge(again, "1.2")
        assert await store.outbox.find_oldest_pending() is None

    async def test_owing_again_changes_nothing_unless_it_replaces(self, store: Store, clock: FakeClock) -> None:
        await store.incidents.commit(Changes(deliveries=(owed(payload={"v": 1}),)))
        await store.incidents.commit(Changes(deliveries=(owed(payload={"v": 2}),)))
        (row,) = await store.outbox.claim(Destination.SLACK, 1)
        assert row.entry.payload == {"v": 1}
        await store.outbox.acknowledge(row, "1.1")
        await store.incidents.commit(Changes(deliveries=(owed(payload={"v": 3}),)))
        assert await store.outbox.claim(Destination.SLACK, 1) == ()
        await store.incidents.commit(Changes(deliveries=(owed(payload={"v": 4}, replaces=True),)))
        (again,) = await store.outbox.claim(Destination.SLACK, 1)
        assert (again.entry.payload, again.own_result, again.attempts) == ({"v": 4}, "1.1", 1)

    async def test_a_row_replaced_in_flight_waits_for_the_call_and_is_sent_again(self, store: Store) -> None:
        await store.incidents.commit(Changes(deliveries=(owed(payload={"v": 1}),)))
        (row,) = await store.outbox.claim(Destination.SLACK, 1)
        await store.incidents.commit(Changes(deliveries=(owed(payload={"v": 2}, replaces=True),)))
        assert await store.outbox.claim(Destination.SLACK, 1) == ()
        assert not await store.outbox.acknowledge(row, "1.1")
        (again,) = await store.outbox.claim(Destination.SLACK, 1)
        assert (again.entry.payload, again.own_result, again.uncertain) == ({"v": 2}, "1.1", False)
        assert await store.outbox.acknowledge(again, "1.1")
        assert await store.outbox.count_rows() == {"slack.sent": 1}

    async def test_a_replaced_row_whose_call_was_lost_says_so(self, store: Store, clock: FakeClock) -> None:
        await store.incidents.commit(Changes(deliveries=(owed(payload={"v": 1}),)))
        (row,) = await store.outbox.claim(Destination.SLACK, 1)
        await store.incidents.commit(Changes(deliveries=(owed(payload={"v": 2}, replaces=True),)))
        assert not await store.outbox.postpone(row, 5, "lost", uncertain=True)
        (again,) = await store.outbox.claim(Destination.SLACK, 1)
        assert (again.uncertain, again.replaced) == (True, True)

    async def test_a_target_is_resolved_to_its_result(self, store: Store) -> None:
        edit = OutboxEntry(Destination.SLACK, Operation.UPDATE, "k", "edit", {"target": "first"})
        await store.incidents.commit(Changes(deliveries=(owed("first"), edit)))
        (row,) = await store.outbox.claim(Destination.SLACK, 5)
        await store.outbox.acknowledge(row, "1.5")
        (row,) = await store.outbox.claim(Destination.SLACK, 5)
        assert row.target_result == "1.5"

    async def test_destinations_do_not_wait_for_each_other(self, store: Store) -> None:
        to_bank = OutboxEntry(Destination.BANK, Operation.RETAIN, "k", "r1", {"incident_id": "INC-7"})
        await store.incidents.commit(Changes(deliveries=(owed("a", "k"), to_bank)))
        assert [row.entry.delivery_id for row in await store.outbox.claim(Destination.BANK, 5)] == ["r1"]

    async def test_fifty_parallel_claims_never_give_a_row_twice(self, store: Store) -> None:
        rows = tuple(owed(f"d{n}", f"k{n}") for n in range(100))
        await store.incidents.commit(Changes(deliveries=rows))
        claims = await asyncio.gather(*(store.outbox.claim(Destination.SLACK, 2) for _ in range(50)))
        given = [row.entry.delivery_id for rows in claims for row in rows]
        assert len(given) == len(set(given))
        while more := await store.outbox.claim(Destination.SLACK, 50):
            given += [row.entry.delivery_id for row in more]
        assert sorted(given) == sorted(f"d{n}" for n in range(100))

    async def test_fifty_parallel_takes_never_give_a_row_twice(self, store: Store) -> None:
        for number in range(20):
            await store.inbox.receive(received(number))
        takes = await asyncio.gather(*(store.inbox.claim(1) for _ in range(50)))
        given = [row.id for rows in takes for row in rows]
        assert len(given) == len(set(given))

    # claims and health

    async def test_periodic_work_has_one_owner(self, store: Store) -> None:
        day = date(2026, 11, 23)
        tries = (store.claims.claim("digest", "C1", day, Changes(deliveries=(owed(f"d{n}"),))) for n in range(8))
        results = await asyncio.gather(*tries)
        assert sum(results) == 1
        assert len(await store.outbox.claim(Destination.SLACK, 9)) == 1
        assert await store.claims.claim("digest", "C2", day, Changes())

    async def test_a_claim_whose_change_was_done_is_not_kept(self, store: Store) -> None:
        await store.incidents.commit(Changes(once="x"))
        day = date(2026, 11, 23)
        assert not await store.claims.claim("digest", "C1", day, Changes(once="x"))
        assert await store.claims.claim("digest", "C1", day, Changes())

    async def test_health_says_that_it_works(self, store: Store) -> None:
        await store.incidents.commit(Changes(records=(INCIDENT,), audit=(AuditLine("U1", "edit", "INC-7", "title"),)))
        status = await store.health.read_status()
        assert (status.writable, status.schema, status.records, status.problem) == (True, HEAD, 1, None)

    # index

    async def test_a_record_is_found_as_soon_as_its_commit_returned(self, store: Store) -> None:
        assert await store.index.find_candidates(Query("gateway timeout"), PUBLIC) == ()
        await store.incidents.commit(Changes(records=(INCIDENT,)))
        assert await store.index.find_candidates(Query("gateway timeout"), PUBLIC) == ()
        await store.incidents.commit(Changes(records=(INCIDENT,), recallable=frozenset({"INC-7"})))
        (found,) = await store.index.find_candidates(Query("gateway timeout"), PUBLIC)
        assert found.incident == INCIDENT
        assert 0 < found.score.bm25_share <= 1
        assert await store.index.count_records(PUBLIC) == 1
        names = await store.index.list_known_names()
        assert names == KnownNames(frozenset({"razorpay"}), frozenset({"payments-api"}))

    async def test_what_was_retracted_is_remembered_as_forgotten_until_it_is_recorded_again(self, store: Store) -> None:
        await store.incidents.commit(Changes(records=(INCIDENT,), retracted=("INC-8",)))
        await store.incidents.commit(Changes(retracted=(INCIDENT.incident_id,)))
        asked = (INCIDENT.incident_id, "INC-8", "INC-9", *(f"X-{n}" for n in range(600)))
        assert await store.incidents.find_retracted(asked) == {INCIDENT.incident_id, "INC-8"}
        await store.incidents.commit(Changes(records=(INCIDENT,)))
        assert await store.incidents.find_retracted(asked) == {"INC-8"}

    async def test_a_replaced_or_retracted_record_is_not_found_by_its_old_words(self, store: Store) -> None:
        await store.incidents.commit(Changes(records=(INCIDENT,), recallable=frozenset({"INC-7"})))
        await store.incidents.commit(Changes(records=(replace(INCIDENT, symptoms=("disk full",)),)))
        (found,) = await store.index.find_candidates(Query("disk"), PUBLIC)
        assert found.incident.symptoms == ("disk full",)
        assert await store.index.find_candidates(Query("504"), PUBLIC) == ()
        await store.incidents.commit(Changes(retracted=("INC-7", "unknown")))
        assert await store.index.find_candidates(Query("disk", fingerprint="fp-1"), PUBLIC) == ()
        assert await store.index.count_records(OPERATOR) == 0
        with pytest.raises(IncidentNotFound):
            await store.incidents.read_record("INC-7")
        await store.incidents.commit(Changes(records=(INCIDENT,), recallable=frozenset({"INC-7"})))
        assert len(await store.index.find_candidates(Query("gateway"), PUBLIC)) == 1

    async def test_what_a_viewer_may_not_see_changes_nothing_for_them(self, store: Store) -> None:
        await store.incidents.commit(Changes(records=(INCIDENT,), recallable=frozenset({"INC-7"})))
        asked = Query("gateway timeout 504 payments", fingerprint="fp-1")
        before = await store.index.find_candidates(asked, PUBLIC)
        hidden = tuple(
            replace(INCIDENT, incident_id=f"S-{n}", source=Source(visibility="private:G1")) for n in range(40)
        )
        await store.incidents.commit(Changes(records=hidden, recallable=frozenset(r.incident_id for r in hidden)))
        assert await store.index.find_candidates(asked, PUBLIC) == before
        assert await store.index.score_records(asked, PUBLIC, ("S-1", "INC-7")) == before
        assert len(await store.index.find_candidates(asked, Viewer(frozenset({"private:G1"})))) == 40

    async def test_the_same_alert_is_a_candidate_without_a_shared_word(self, store: Store) -> None:
        await store.incidents.commit(Changes(records=(INCIDENT,), recallable=frozenset({"INC-7"})))
        (found,) = await store.index.find_candidates(Query("zzz", fingerprint="fp-1"), PUBLIC, 0)
        assert (found.incident.incident_id, found.score.bm25_share) == ("INC-7", 0.0)
        excluded = Query("gateway", fingerprint="fp-1", exclude=frozenset({"INC-7"}))
        assert await store.index.find_candidates(excluded, PUBLIC) == ()
        assert await store.index.score_records(excluded, PUBLIC, ("INC-7",)) == ()
