"""What any store must do with the notices of an alert's life, and with edits that are paced. Bound in `test_contracts`."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.adapters.store import Store
from bot.domain.alerts.alert import AlertState, PostDelivery
from bot.domain.alerts.notification import Notification
from bot.domain.delivery.kinds import Operation
from bot.domain.incidents.alert_history import AlertHistory
from bot.domain.incidents.lifecycle import FiringPeriod, IncidentState, Lifecycle
from bot.ports.delivery.outbox import Destination, OutboxEntry
from bot.ports.incidents import RelatedIncidents
from bot.ports.posts import IncidentPost
from bot.ports.unit_of_work import Changes
from tests.fakes import START, FakeClock

LIFE = Lifecycle("INC-7", "fp-1", "public", IncidentState.OPEN, START, START, spells=(FiringPeriod(START),))


def minutes(number: float) -> timedelta:
    return timedelta(minutes=number)


def notice(minute: float = 0, incident_id: str | None = None, **fields: object) -> Notification:
    usual = Notification(
        f"C1/{minute}", "fp-1", "public", START + minutes(minute), AlertState.FIRING, "grafana", "C1", f"{minute}.1",
        f"{minute}.1", by="maya", firing=3, cleared=1, incident_id=incident_id, delivery=PostDelivery.EDIT,
    )  # fmt: skip
    return replace(usual, **fields)  # type: ignore[arg-type]  # a test's shorthand


def edit(text: str, *, every_s: float = 3.0, key: str = "k") -> OutboxEntry:
    return OutboxEntry(Destination.SLACK, Operation.UPDATE, key, "edit", {"text": text}, replaces=True, every_s=every_s)


async def said(store: Store) -> list[str]:
    """What is due now, delivered."""
    rows = await store.outbox.claim(Destination.SLACK, 9)
    for row in rows:
        await store.outbox.acknowledge(row, "1.1")
    return [row.entry.payload["text"] for row in rows]


class LivesContract:
    """Subclasses give `store` and `clock`."""

    @pytest.fixture
    def clock(self) -> FakeClock:
        return FakeClock()

    async def test_notices_come_back_equal_and_are_replaced_under_their_key(self, store: Store) -> None:
        first, early = notice(0, "INC-7"), notice(5)
        await store.incidents.commit(Changes(lifecycles=(LIFE,), notifications=(first, early)))
        kept = await store.incidents.find_related(notice(6))
        assert kept.lifecycles == (replace(LIFE, version=1),)
        assert set(kept.notifications) == {first, early}
        moved = replace(early, incident_id="INC-7")
        await store.incidents.commit(Changes(notifications=(moved,), dropped_notifications=(first.key,)))
        assert (await store.incidents.find_related(notice(6))).notifications == (moved,)

    async def test_what_a_notice_may_touch_is_the_incident_before_and_the_one_after(self, store: Store) -> None:
        made = [replace(LIFE, incident_id=f"INC-{n}", opened_at=START + minutes(n * 10)) for n in range(5)]
        hidden = replace(LIFE, incident_id="hidden", visibility="private:G1", opened_at=START + minutes(14))
        other = replace(LIFE, incident_id="other", fingerprint="fp-2")
        await store.incidents.commit(Changes(lifecycles=(*made, hidden, other)))
        for minute, ids in ((15, ["INC-1", "INC-2"]), (-1, ["INC-0"]), (99, ["INC-4"]), (20, ["INC-2", "INC-3"])):
            kept = await store.incidents.find_related(notice(minute))
            assert [life.incident_id for life in kept.lifecycles] == ids
        known = await store.incidents.find_related(notice(99), known="other")
        assert [life.incident_id for life in known.lifecycles] == ["other", "INC-4"]
        assert await store.incidents.find_related(notice(fingerprint="none")) == RelatedIncidents()

    async def test_early_notices_are_found_by_fingerprint_and_by_the_post_they_speak_of(self, store: Store) -> None:
        alike = notice(1, ts="9.1", root_ts="9.1")
        edited = notice(2, fingerprint="as-edited", ts="5.1", root_ts="5.1")
        answered = notice(3, fingerprint="as-answered", ts="7.1", root_ts="5.1")
        elsewhere = notice(4, fingerprint="fp-1", channel="G1", visibility="private:G1", ts="5.1", root_ts="5.1")
        told = notice(5, "INC-9", ts="8.1", root_ts="8.1")
        await store.incidents.commit(Changes(notifications=(alike, edited, answered, elsewhere, told)))
        kept = await store.incidents.find_related(notice(6, ts="5.1", root_ts="5.1"))
        assert set(kept.notifications) == {alike, edited, answered}

    async def test_early_notices_are_forgotten_after_a_time_and_others_are_not(self, store: Store) -> None:
        early, told = notice(0), notice(1, "INC-7")
        await store.incidents.commit(Changes(lifecycles=(LIFE,), notifications=(early, told)))
        later = START + minutes(2)
        assert (await store.retention.delete_expired(before=later, audit_before=later)).early == 1
        assert (await store.incidents.find_related(notice(6))).notifications == (told,)

    async def test_history_counts_each_firing_but_the_last_of_the_incident_that_is_told_of(self, store: Store) -> None:
        spells = tuple(FiringPeriod(START + minutes(60 * n), START + minutes(60 * n + 6 + n)) for n in range(3))
        life = replace(LIFE, spells=spells, state=IncidentState.CLEARED, cleared_at=spells[-1].end)
        await store.incidents.commit(Changes(lifecycles=(life,)))
        now = START + timedelta(days=1)
        assert await store.incidents.read_alert_history("fp-1", "public", now, 30, None) == AlertHistory(30, 3, 3, 7.0)
        assert await store.incidents.read_alert_history("fp-1", "public", now, 30, "INC-7") == AlertHistory(
            30, 2, 2, 6.5
        )

    async def test_the_latest_word_on_where_a_message_belongs_counts(self, store: Store) -> None:
        for incident_id in ("INC-1", "INC-2"):
            await store.incidents.commit(Changes(posts=(IncidentPost("C1", "1.1", incident_id),)))
        assert await store.incidents.find_incident("C1", "1.1") == "INC-2"

    # edits that are paced

    async def test_edits_wait_for_their_pace_and_the_newest_is_sent(self, store: Store, clock: FakeClock) -> None:
        await store.incidents.commit(Changes(deliveries=(edit("1"),)))
        assert await said(store) == ["1"]
        for text in ("2", "3"):
            clock.move(1)
            await store.incidents.commit(Changes(deliveries=(edit(text),)))
            assert await said(store) == []
        clock.move(1)
        assert await said(store) == ["3"]
        clock.move(60)
        await store.incidents.commit(Changes(deliveries=(edit("4"),)))
        assert await said(store) == ["4"]

    async def test_an_edit_replaced_while_it_is_sent_keeps_its_pace(self, store: Store, clock: FakeClock) -> None:
        await store.incidents.commit(Changes(deliveries=(edit("1"),)))
        (row,) = await store.outbox.claim(Destination.SLACK, 9)
        await store.incidents.commit(Changes(deliveries=(edit("2"),)))
        assert not await store.outbox.acknowledge(row, None)
        assert await said(store) == []
        clock.move(3)
        assert await said(store) == ["2"]

    async def test_a_waiting_edit_holds_up_nobody_and_a_person_does_not_wait(
        self, store: Store, clock: FakeClock
    ) -> None:
        await store.incidents.commit(Changes(deliveries=(edit("1"),)))
        await said(store)
        reply = OutboxEntry(Destination.SLACK, Operation.POST, "k", "reply", {"text": "reply"})
        await store.incidents.commit(Changes(deliveries=(edit("2"), reply)))
        assert await said(store) == ["reply"]
        await store.incidents.commit(Changes(deliveries=(edit("by a person", every_s=0.0),)))
        assert await said(store) == ["by a person"]

    async def test_an_edit_that_failed_is_tried_with_the_newer_text_soon(self, store: Store, clock: FakeClock) -> None:
        await store.incidents.commit(Changes(deliveries=(edit("1"),)))
        (row,) = await store.outbox.claim(Destination.SLACK, 9)
        await store.outbox.postpone(row, 300, "an outage", uncertain=False)
        await store.incidents.commit(Changes(deliveries=(edit("2"),)))
        clock.move(3)
        assert await said(store) == ["2"]
