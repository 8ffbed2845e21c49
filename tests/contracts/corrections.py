"""What any store must do where records are corrected: unchanged or refused, work for ourselves, audit, and purging."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
import sqlalchemy as sa

from bot.adapters.store import Store
from bot.adapters.store.database.tables import metadata
from bot.domain.alerts.alert import AlertState, PostDelivery
from bot.domain.alerts.notification import Notification
from bot.domain.brief.decide import SourceLine
from bot.domain.delivery.kinds import Operation
from bot.domain.incidents.lifecycle import IncidentState
from bot.domain.incidents.opening import IncidentView
from bot.domain.incidents.record import Attempt, Boundary, FailedCheck, VerificationStatus
from bot.domain.recall.query import OPERATOR, Query
from bot.ports.audit import AuditEntry, AuditLine, format_change
from bot.ports.delivery.inbox import ReceivedEvent
from bot.ports.delivery.outbox import Destination, OutboxEntry, build_outbox_entry
from bot.ports.errors import StoreConflict
from bot.ports.files import build_postmortem_upload
from bot.ports.posts import IncidentPost, PostedBrief
from bot.ports.unit_of_work import Changes
from tests.contracts.stores import BRIEF, INCIDENT, LIFE, received
from tests.fakes import START, FakeClock

MARK = "zanzibarquux"
SECRET = replace(
    INCIDENT,
    title=f"Ledger drifts {MARK}",
    root_cause=f"a {MARK} ran twice",
    attempts=(Attempt(f"restart the {MARK}\nwait", VerificationStatus.VERIFIED, note=f"note {MARK}"),),
    failed_checks=(FailedCheck(f"DNS of {MARK}", 5),),
    lesson=f"never trust {MARK}",
)


def slack(delivery_id: str, key: str, text: str, operation: Operation = Operation.POST) -> OutboxEntry:
    payload = {"operation": operation, "channel": key.partition("/")[0], "delivery_id": delivery_id, "text": text}
    return OutboxEntry(Destination.SLACK, operation, key, delivery_id, payload)


async def everything(store: Store) -> str:
    """All rows of all tables of the store, as text."""
    found = []
    async with store.database.read() as connection:
        for table in metadata.sorted_tables:
            found += [str(tuple(row)) for row in await connection.execute(sa.select(table))]
    return "\n".join(found)


async def filled(store: Store) -> None:
    """An incident whose words are everywhere, and another whose brief quotes it."""
    nine, ten = (replace(BRIEF, incident=IncidentView(f"INC-{n}", IncidentState.OPEN, 1, START)) for n in (9, 10))
    quoting = replace(nine, sources=(SourceLine("INC-7", SECRET.title, Boundary.VENDOR, "strong", 0.9),))
    alike = replace(ten, sources=(SourceLine("INC-70", "other", Boundary.VENDOR, "strong", 0.9),))
    await store.incidents.commit(
        Changes(
            lifecycles=(
                replace(LIFE, state=IncidentState.RESOLVED),
                replace(LIFE, incident_id="INC-9", fingerprint="f9"),
            ),
            records=(SECRET, replace(INCIDENT, incident_id="INC-70")),
            recallable=frozenset({"INC-7", "INC-70"}),
            briefs=(
                PostedBrief("INC-7", "C1", "10.1", "brief/INC-7/C1", replace(BRIEF, verdict=MARK)),
                PostedBrief("INC-9", "C1", "20.1", "brief/INC-9/C1", quoting),
                PostedBrief("INC-10", "C1", "30.1", "brief/INC-10/C1", alike),
            ),
            deliveries=(
                slack("brief/INC-7/C1", "C1/INC-7", MARK),
                slack("brief/INC-9/C1", "C1/INC-9", f"1. restart the {MARK}"),
                slack("digest/C1", "C1/digest", f"worked: restart the {MARK}"),
                slack("brief/INC-10/C1", "C1/INC-10", "other INC-70"),
                slack("brief/INC-9/C1/edit", "C1/INC-9", f"1. restart the {MARK}", Operation.UPDATE),
                slack("note/C2", "C2/note", f"see INC-7 {MARK}"),
            ),
            posts=(IncidentPost("C1", "10.1", "INC-7"),),
            notifications=(_notice("n1", "INC-7"),),
            audit=(
                AuditLine("U1", "resolve", "INC-7", f"said {MARK}"),
                AuditLine("U1", "resolve", "INC-70", "said other"),
            ),
        )
    )
    for row in await store.outbox.claim(Destination.SLACK, 9):
        if row.entry.delivery_id.startswith(("brief", "digest")):
            await store.outbox.acknowledge(row, f"{row.id}.5")
        else:
            await store.outbox.postpone(row, 0, "", uncertain=False, tried=False)
    for ts, number in (("10.1", 1), ("99.9", 2)):
        event = {"channel": "C1", "ts": ts, "text": MARK if number == 1 else "other"}
        await store.inbox.receive(ReceivedEvent(f"E{number}", f"T/C1/{ts}", "message", {"event": event}))


def _notice(key: str, incident_id: str) -> Notification:
    return Notification(
        key=key, incident_id=incident_id, fingerprint="fp-1", visibility="public", channel="C1", ts="10.1",
        root_ts="10.1", at=START, state=AlertState.FIRING, delivery=PostDelivery.POST,
    )  # fmt: skip


MARKS = (f"restart the {MARK}", SECRET.title)


class CorrectionsContract:
    """Subclasses give `store` and `clock`."""

    async def test_a_record_that_reads_otherwise_by_now_is_not_overwritten(self, store: Store) -> None:
        await store.incidents.commit(Changes(records=(INCIDENT,)))
        mine, theirs = replace(INCIDENT, lesson="mine"), replace(INCIDENT, lesson="theirs")
        await store.incidents.commit(Changes(records=(theirs,), expected=(INCIDENT,)))
        with pytest.raises(StoreConflict):
            await store.incidents.commit(Changes(records=(mine,), expected=(INCIDENT,)))
        with pytest.raises(StoreConflict):
            await store.incidents.commit(Changes(retracted=("INC-7",), expected=(INCIDENT,)))
        assert await store.incidents.read_record("INC-7") == theirs
        await store.incidents.commit(Changes(retracted=("INC-7",), expected=(theirs,)))
        with pytest.raises(StoreConflict):
            await store.incidents.commit(Changes(records=(mine,), expected=(theirs,)))
        assert await store.incidents.list_records(OPERATOR) == ()

    async def test_work_for_ourselves_comes_with_the_change_or_not_at_all(self, store: Store) -> None:
        await store.incidents.commit(Changes(records=(INCIDENT,)))
        stale = replace(INCIDENT, lesson="never read")
        with pytest.raises(StoreConflict):
            await store.incidents.commit(Changes(records=(INCIDENT,), expected=(stale,), received=(received(1),)))
        assert await store.inbox.claim(5) == ()
        await store.incidents.commit(Changes(received=(received(1), received(1))))
        assert [row.body for row in await store.inbox.claim(5)] == [{"n": 1}]

    async def test_the_audit_log_tells_before_and_after(self, store: Store, clock: FakeClock) -> None:
        detail = format_change({"title": "a", "same": 1}, {"title": "b", "same": 1, "new": 2}, "corrected")
        await store.incidents.commit(
            Changes(audit=(AuditLine("U1", "edit", "INC-7", detail), AuditLine("U1", "mute", "C1", "plain")))
        )
        clock.move(60)
        await store.incidents.commit(Changes(audit=tuple(AuditLine("U2", "x", str(n), '{"n": 1}') for n in range(501))))
        lines = [line async for line in store.audit_log.stream_lines()]
        before, after = {"title": "a", "new": None}, {"title": "b", "new": 2}
        assert lines[0] == AuditEntry(START, "U1", "edit", "INC-7", "corrected", before, after)
        assert lines[1] == AuditEntry(START, "U1", "mute", "C1", "plain")
        assert [line.object for line in lines[2:]] == [str(n) for n in range(501)]
        assert lines[2].detail == '{"n": 1}'
        since = [line async for line in store.audit_log.stream_lines(START + timedelta(seconds=60))]
        assert [line.actor for line in since] == ["U2"] * 501

    async def test_the_briefs_that_used_a_record(self, store: Store, clock: FakeClock) -> None:
        await filled(store)
        assert [b.incident_id for b in await store.incidents.find_briefs_naming("INC-7")] == ["INC-9"]
        assert [b.message_ts for b in await store.incidents.find_briefs_naming("INC-7")] == ["2.5"]
        assert [b.incident_id for b in await store.incidents.find_briefs_naming("INC-70")] == ["INC-10"]
        late = START + timedelta(seconds=1)
        assert [b.incident_id for b in await store.incidents.find_briefs_naming("INC-7", late)] == ["INC-9"]
        assert await store.incidents.find_briefs_naming("INC-70", late) == ()

    async def test_purged_text_is_in_no_table_any_more(self, store: Store) -> None:
        await filled(store)
        assert MARK in await everything(store)
        line = AuditLine("U1", "purge", "INC-7", "sha256 abc")
        assert await store.purging.purge("INC-7", MARKS, Changes(audit=(line,)))
        said = await everything(store)
        kept = [row for row in said.splitlines() if MARK in row]
        assert all("brief/INC-9/C1" in row for row in kept), "only the brief that is about to be computed anew"
        assert len(kept) == 1
        assert await store.incidents.find_records(("INC-7",)) == {}
        assert await store.incidents.find_retracted(("INC-7",)) == {"INC-7"}
        assert await store.incidents.list_briefs("INC-7") == ()
        assert await store.incidents.find_incident("C1", "10.1") is None
        query = Query(MARK, vendor="razorpay", service="payments-api", fingerprint="fp-1")
        assert [c.incident.incident_id for c in await store.index.find_candidates(query, OPERATOR)] == ["INC-70"]

    async def test_what_is_not_purged_stays(self, store: Store) -> None:
        await filled(store)
        await store.purging.purge("INC-7", MARKS, Changes())
        assert (await store.incidents.read_record("INC-70")).incident_id == "INC-70"
        assert [row.body["event"]["ts"] for row in await store.inbox.claim(5)] == ["99.9"]
        lines = [line.detail async for line in store.audit_log.stream_lines()]
        assert lines[0].startswith("purged; sha256 ")
        assert lines[1] == "said other"
        rows = {r.entry.delivery_id: r.entry for r in await store.outbox.claim(Destination.SLACK, 9)}
        assert set(rows) == {"brief/INC-9/C1/edit", "note/C2", "brief/INC-7/C1/purge"}
        assert rows["note/C2"].payload["text"] == "A past incident that this quoted was purged."
        assert rows["note/C2"].payload["channel"] == "C2"
        gone = rows["brief/INC-7/C1/purge"]
        assert (gone.operation, gone.payload["channel"], gone.payload["target"]) == ("delete", "C1", "brief/INC-7/C1")

    async def test_a_file_of_its_own_is_deleted_with_its_words(self, store: Store) -> None:
        await filled(store)
        file = build_postmortem_upload("C1", "pm/INC-7", "pm.md", "1.0", "INC-7", "U1")
        await store.incidents.commit(Changes(deliveries=(build_outbox_entry(file, key="C1/INC-7", urgent=True),)))
        (row,) = await store.outbox.claim(Destination.SLACK, 1, urgent_only=True)
        await store.outbox.acknowledge(row, "F1")
        await store.purging.purge("INC-7", MARKS, Changes())
        assert "pm.md" not in await everything(store)
        found: dict[str, tuple[str, str | None]] = {}
        while rows := await store.outbox.claim(Destination.SLACK, 9):
            found |= {row.entry.delivery_id: (row.entry.operation, row.target_result) for row in rows}
            for row in rows:
                await store.outbox.acknowledge(row, None)
        assert found["pm/INC-7/purge"] == ("delete_file", "F1")

    async def test_what_was_retracted_is_purged_from_the_audit_log(self, store: Store) -> None:
        said = f'{{"before": {{"title": "{MARK}"}}}}'
        retracting = AuditLine("U1", "retract", "INC-8", said)
        await store.incidents.commit(Changes(retracted=("INC-8",), audit=(retracting,)))
        assert await store.purging.purge("INC-8", (), Changes(audit=(AuditLine("U1", "purge", "INC-8", "gone"),)))
        assert MARK not in await everything(store)
        assert not await store.purging.purge("INC-8", (), Changes())

    async def test_a_second_purge_only_writes_its_line(self, store: Store) -> None:
        await filled(store)
        assert await store.purging.purge("INC-7", MARKS, Changes())
        line = AuditLine("U1", "purge", "INC-7", "nothing was left")
        assert not await store.purging.purge("INC-7", (), Changes(audit=(line,)))
        assert [line.detail async for line in store.audit_log.stream_lines()][-1] == "nothing was left"
        await store.purging.compact()
        assert not await store.purging.purge("INC-404", (), Changes())
