"""What any store must do with how far the past of channels was read."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from bot.adapters.store import Store
from bot.domain.operations.backfill import BackfillTally, ThreadActivity
from bot.ports.alerts.backfill_progress import BackfillProgress
from bot.ports.delivery.inbox import ReceivedEvent
from bot.ports.posts import IncidentPost
from bot.ports.unit_of_work import Changes
from tests.fakes import START

ONE = BackfillProgress(
    "C1", "alerts", ((START - timedelta(days=2), START),), BackfillTally(5, alerts={"sentry": 2}), START
)


class BackfillsContract:
    """Mixed into the contract of each database."""

    async def test_progress_and_talks_are_kept_together_and_found_by_id_and_name(self, store: Store) -> None:
        kept = store.backfill_progress
        assert (await kept.read_progress("C1"), await kept.find_channel("alerts"), await kept.read_talks("C1")) == (
            None,
            None,
            {},
        )
        await kept.save(ONE, {"1.5": ThreadActivity(1, 2), "2.5": ThreadActivity(2, 3)})
        further = replace(ONE, done=((START - timedelta(days=3), START),), tally=BackfillTally(9))
        await kept.save(further, {"1.5": ThreadActivity(2, 4)})
        await kept.save(replace(ONE, channel="C2", name="other"), {"1.5": ThreadActivity(7, 7)})
        assert (
            await kept.read_progress("C1"),
            await kept.find_channel("alerts"),
            await kept.find_channel("other"),
        ) == (
            further,
            "C1",
            "C2",
        )
        assert await kept.read_talks("C1") == {"1.5": ThreadActivity(2, 4), "2.5": ThreadActivity(2, 3)}

    async def test_what_slack_told_as_it_happened_is_known(self, store: Store) -> None:
        await store.inbox.receive(ReceivedEvent("e1", "message/T/C1/1.5", "message", {"x": 1}))
        await store.inbox.receive(ReceivedEvent("e2", "message/T/C1/2.5", "message"))
        keys = [f"message/T/C1/{n}.5" for n in range(1, 1_200)]
        assert await store.backfill_progress.find_received(keys) == {"message/T/C1/1.5", "message/T/C1/2.5"}
        assert await store.backfill_progress.find_received([]) == frozenset()

    async def test_which_posts_belong_to_an_incident(self, store: Store) -> None:
        seen = (IncidentPost("C1", "1.5", "INC-1"), IncidentPost("C2", "2.5", "INC-2"))
        await store.incidents.commit(Changes(posts=seen))
        posts = [f"{n}.5" for n in range(1_100)]
        assert await store.backfill_progress.find_incidents("C1", posts) == {"1.5": "INC-1"}
        assert await store.backfill_progress.find_incidents("C1", []) == {}

    async def test_posts_of_what_was_purged_are_known_to_be(self, store: Store) -> None:
        await store.incidents.commit(
            Changes(posts=(IncidentPost("C1", "1.5", "INC-1"), IncidentPost("C1", "2.5", "INC-2")))
        )
        assert await store.purging.purge("INC-1", (), Changes())
        posts = [f"{n}.5" for n in range(1_100)]
        assert await store.backfill_progress.find_purged("C1", posts) == {"1.5"}
        assert await store.backfill_progress.find_purged("C2", posts) == frozenset()
        assert await store.backfill_progress.find_incidents("C1", posts) == {"2.5": "INC-2"}
