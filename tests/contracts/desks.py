"""What the operator's desks and the forgetting must do on any store. The bindings are in `test_contracts`."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
import sqlalchemy as sa

from bot.adapters.store import Store
from bot.adapters.store.database.channel_tables import silenced
from bot.adapters.store.database.tables import audit
from bot.domain.alerts.alert import AlertState
from bot.domain.alerts.notification import Notification
from bot.domain.alerts.suppression import Mute, MuteTarget, RuleScope, SilenceRule
from bot.domain.incidents.lifecycle import IncidentState
from bot.ports.audit import AuditLine
from bot.ports.delivery.outbox import Destination
from bot.ports.delivery.outbox_admin import UNDELIVERED, OutboxState
from bot.ports.errors import RecordRejected
from bot.ports.posts import PostedBrief
from bot.ports.unit_of_work import Changes
from tests.contracts.stores import BRIEF, LIFE, owed, received
from tests.fakes import START, FakeClock


async def audited(store: Store) -> list[tuple[str, ...]]:
    asked = sa.select(audit.c.actor, audit.c.action, audit.c.object, audit.c.detail).order_by(audit.c.id)
    async with store.database.read() as connection:
        return [tuple(row) for row in (await connection.execute(asked)).all()]


class DeskContract:
    """Subclasses give `store` and `clock`."""

    # the operator's desks

    async def test_the_desk_shows_rows_by_state(self, store: Store) -> None:
        await store.incidents.commit(
            Changes(deliveries=(owed("a", "a"), owed("b", "b"), owed("c", "c"), owed("d", "d")))
        )
        sent, dead, _sending = await store.outbox.claim(Destination.SLACK, 3)
        await store.outbox.acknowledge(sent, "1.1")
        await store.outbox.dead_letter(dead, "refused")
        found = await store.outbox_admin.list_rows(frozenset(OutboxState), 9)
        assert [(row.delivery_id, row.state.value) for row in found] == [
            ("a", "sent"),
            ("b", "dead"),
            ("c", "sending"),
            ("d", "pending"),
        ]
        assert (found[1].error, found[1].attempts, found[1].payload) == ("refused", 1, {"text": "b"})
        assert [row.delivery_id async for row in store.outbox_admin.stream_undelivered()] == ["b", "c", "d"]
        assert [row.delivery_id for row in await store.outbox_admin.list_rows(UNDELIVERED, 2)] == ["b", "c"]

    async def test_a_dead_row_is_replayed_with_its_number_of_attempts_forgotten(
        self, store: Store, clock: FakeClock
    ) -> None:
        await store.incidents.commit(
            Changes(deliveries=(owed("a", "a"), owed("b", "b"), owed("c", "c"), owed("d", "d")))
        )
        sent, dead, _sending, late = await store.outbox.claim(Destination.SLACK, 4)
        await store.outbox.acknowledge(sent, "1.1")
        await store.outbox.dead_letter(dead, "refused")
        await store.outbox.postpone(late, 300, "down", uncertain=True)
        handled = await store.outbox_admin.requeue([1, 2, 3, 4, 99], "U1")
        assert [one.id for one in handled if one.refusal is None] == [2, 4]
        assert [one.refusal for one in handled if one.refusal] == [
            "This was delivered.",
            "This is being delivered right now; look again in a minute.",
            "There is no row of this number.",
        ]
        again = await store.outbox.claim(Destination.SLACK, 9)
        assert [(row.id, row.attempts, row.uncertain) for row in again] == [(2, 1, False), (4, 1, True)]
        assert await audited(store) == [
            ("U1", "replay", "outbox/2", "slack post b, dead after 1 attempts"),
            ("U1", "replay", "outbox/4", "slack post d, pending after 1 attempts"),
        ]

    async def test_a_row_whose_worker_died_may_be_replayed_and_stays_uncertain(
        self, store: Store, clock: FakeClock
    ) -> None:
        await store.incidents.commit(Changes(deliveries=(owed("a"),)))
        await store.outbox.claim(Destination.SLACK, 1)
        clock.move(61)
        (handled,) = await store.outbox_admin.requeue([1], "U1")
        assert handled.refusal is None
        (row,) = await store.outbox.claim(Destination.SLACK, 1)
        assert row.uncertain

    async def test_dropping_needs_a_reason_which_is_kept(self, store: Store) -> None:
        await store.incidents.commit(Changes(deliveries=(owed("a", "a"), owed("b", "a"))))
        with pytest.raises(RecordRejected, match="say why"):
            await store.outbox_admin.drop([1], "  ", "U1")
        assert await store.outbox.count_rows() == {"slack.pending": 2}
        handled = await store.outbox_admin.drop([1, 7], "channel was deleted", "U1")
        assert [(one.id, one.refusal is None) for one in handled] == [(1, True), (7, False)]
        assert [row.entry.delivery_id for row in await store.outbox.claim(Destination.SLACK, 9)] == ["b"]
        line = ("U1", "drop", "outbox/1", "slack post a, pending after 0 attempts: channel was deleted")
        assert await audited(store) == [line]

    async def test_dead_events_are_shown_and_worked_on_again(self, store: Store) -> None:
        for number in range(3):
            await store.inbox.receive(received(number))
        dead, done = await store.inbox.claim(2)
        await store.inbox.give_up(dead, "KeyError: 'bug'")
        await store.inbox.acknowledge(done)
        assert await store.inbox_admin.count_rows() == {"dead": 1, "pending": 1}
        (event,) = await store.inbox_admin.list_dead(5)
        assert (event.id, event.kind, event.error, event.body) == (dead.id, "message", "KeyError: 'bug'", {"n": 0})
        assert [event.body["n"] async for event in store.inbox_admin.stream_unprocessed()] == [0, 2]
        handled = await store.inbox_admin.requeue([dead.id, done.id, 99], "U1")
        assert [one.refusal is None for one in handled] == [True, False, False]
        assert [(row.body["n"], row.attempts) for row in await store.inbox.claim(5)] == [(0, 1), (2, 1)]
        assert await audited(store) == [("U1", "replay", f"inbox/{dead.id}", "")]

    # retention

    async def test_what_is_old_is_forgotten_and_what_is_owed_never(self, store: Store, clock: FakeClock) -> None:
        posted = PostedBrief("INC-7", "C1", "10.1", "brief/INC-7/C1", BRIEF)
        rows = (owed("brief/INC-7/C1", "a"), owed("note", "b"), owed("dead", "c"), owed("waiting", "d"))
        line = AuditLine("U1", "resolve", "INC-7", "x")
        await store.incidents.commit(Changes(briefs=(posted,), deliveries=rows, once="view-1", audit=(line,)))
        brief, note, dead, waiting = await store.outbox.claim(Destination.SLACK, 9)
        await store.outbox.acknowledge(brief, "10.2")
        await store.outbox.acknowledge(note, "10.3")
        await store.outbox.dead_letter(dead, "refused")
        await store.outbox.postpone(waiting, 1, "down", uncertain=False)
        await store.inbox.receive(received(1))
        (event,) = await store.inbox.claim(1)
        await store.inbox.give_up(event, "bug")
        day = timedelta(days=1)
        for days, gone in ((29, (0, 0, 0, 0)), (31, (1, 1, 1, 0)), (401, (0, 0, 0, 1))):
            now = START + days * day
            forgotten = await store.retention.delete_expired(before=now - 30 * day, audit_before=now - 400 * day)
            assert (forgotten.sent, forgotten.once, forgotten.dead_events, forgotten.audit) == gone
        assert await store.outbox.count_rows() == {"slack.dead": 1, "slack.pending": 1, "slack.sent": 1}
        assert await store.incidents.list_briefs("INC-7") == (replace(posted, message_ts="10.2"),)
        assert await store.incidents.find_incident("C1", "10.2") == "INC-7"
        (kept,) = await store.outbox_admin.list_rows(frozenset({OutboxState.SENT}), 5)
        assert kept.payload == {}
        assert await store.incidents.commit(Changes(once="view-1"))

    async def test_more_than_a_portion_is_forgotten(self, store: Store) -> None:
        await store.incidents.commit(Changes(audit=tuple(AuditLine("U1", "x", "y", str(n)) for n in range(1201))))
        later = START + timedelta(days=1)
        assert (await store.retention.delete_expired(before=START, audit_before=later)).audit == 1201

    async def test_ended_silences_and_notices_of_ended_incidents_are_forgotten(
        self, store: Store, clock: FakeClock
    ) -> None:
        day = timedelta(days=1)
        mute = Mute("C1", MuteTarget.CHANNEL, "", "all", START + day, "", "U1", START, "INC-1")
        held = replace(mute, channel="C2", until=START + 60 * day)
        rule = SilenceRule("C1", "B1", "grafana", "t", "U1", START, RuleScope.TITLE, "INC-1")
        ended = replace(mute, number=await store.channels.add_mute(mute, Changes()))
        await store.channels.count_silenced(ended, 1)
        await store.channels.add_mute(held, Changes())
        taught = replace(rule, number=await store.channels.add_rule(rule, Changes()))
        kept = await store.channels.add_rule(replace(rule, title="kept"), Changes())
        await store.channels.count_silenced(taught, 2)
        await store.channels.count_silenced(replace(rule, number=kept), 3)
        await store.channels.undo_silence(taught, "U1", Changes())
        named = {"fingerprint": "f", "visibility": "public", "at": START, "state": AlertState.FIRING}
        notices = tuple(Notification(f"n{n}", **named, incident_id=f"INC-{n}") for n in (1, 2))  # type: ignore[arg-type]  # a test's shorthand
        lives = (replace(LIFE, incident_id="INC-1", state=IncidentState.RESOLVED), replace(LIFE, incident_id="INC-2"))
        await store.incidents.commit(Changes(lifecycles=lives, notifications=notices))
        now = START + 40 * day
        early = await store.retention.delete_expired(before=START, audit_before=START, notices_before=START)
        assert (early.silences, early.notices) == (0, 0)
        gone = await store.retention.delete_expired(before=now - 30 * day, audit_before=START, notices_before=now)
        assert (gone.silences, gone.notices) == (2, 1)
        (left,) = (await store.channels.read_policy("C1", START - day)).rules
        assert (left.number, left.silenced) == (kept, 1)
        assert len((await store.channels.read_policy("C2", now)).mutes) == 1
        async with store.database.read() as connection:
            assert (await connection.execute(sa.select(sa.func.count()).select_from(silenced))).scalar_one() == 1
