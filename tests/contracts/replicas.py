"""Two replicas on one database: two people record, edit, retract and purge the same incident at the same moment."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC

import pytest

from bot.adapters.store import Store
from bot.domain.incidents.corrections import hash_text, read_texts
from bot.domain.incidents.lifecycle import IncidentState
from bot.domain.incidents.record import VerificationStatus
from bot.domain.recall.query import OPERATOR
from bot.domain.reports.schedule import DigestTime
from bot.ports.errors import IncidentNotFound, RecordRejected
from bot.ports.posts import PostedBrief
from bot.ports.unit_of_work import Changes
from bot.slack.views.surfaces import SlackSurfaces
from bot.workflows.reports.digest import PostDigests
from bot.workflows.resolutions.correct import EditRecord, PurgeRecord, RetractRecord, allow_operator, confirm_operator
from bot.workflows.resolutions.resolve import FixOutcome, Resolution, Resolve
from tests.contracts.stores import BRIEF, INCIDENT, LIFE
from tests.fakes import FakeChat, FakeClock

Opening = Callable[[], Awaitable[Store]]
OPEN = replace(INCIDENT, attempts=(), title="Ledger drifts")


def resolving(store: Store, clock: FakeClock) -> Resolve:
    return Resolve(store=store.incidents, surfaces=SlackSurfaces(), clock=clock)


def editing(store: Store, clock: FakeClock) -> EditRecord:
    return EditRecord(store=store.incidents, may=allow_operator, confirms=confirm_operator, clock=clock)


class ReplicasContract:
    """Subclasses give `replica`: opens one more store on the same database."""

    @pytest.fixture
    def clock(self) -> FakeClock:
        return FakeClock()

    async def test_two_who_resolve_at_once_are_both_kept_and_the_second_sees_the_first(
        self, replica: Opening, clock: FakeClock
    ) -> None:
        one, two = await replica(), await replica()
        await one.incidents.commit(Changes(lifecycles=(LIFE,), records=(OPEN,)))
        said = [Resolution(FixOutcome.RECOVERED, "INC-7", fix=f"fix {n}") for n in (1, 2)]
        done = await asyncio.gather(
            resolving(one, clock)(said[0], "U1", "v1"), resolving(two, clock)(said[1], "U2", "v2")
        )
        record = await one.incidents.read_record("INC-7")
        assert {(a.fix, a.by, a.status) for a in record.attempts} == {
            ("fix 1", "U1", VerificationStatus.VERIFIED),
            ("fix 2", "U2", VerificationStatus.VERIFIED),
        }
        first, second = sorted(done, key=lambda recorded: len(recorded.before))
        assert first.before == ()
        assert second.before == first.incident.attempts
        assert second.incident == record
        lines = [line async for line in two.audit_log.stream_lines()]
        assert [line.action for line in lines] == ["resolve", "resolve"]
        after = lines[1].after or {}
        assert [a["fix"] for a in after["attempts"]] == [a.fix for a in record.attempts]

    async def test_many_of_both_replicas_are_all_kept(self, replica: Opening, clock: FakeClock) -> None:
        stores = [await replica(), await replica()]
        await stores[0].incidents.commit(Changes(lifecycles=(LIFE,), records=(OPEN,)))
        said = [Resolution(FixOutcome.NO, "INC-7", fix=f"fix {n}") for n in range(4)]
        tries = (resolving(stores[n % 2], clock)(said[n], f"U{n}", f"v{n}") for n in range(4))
        await asyncio.gather(*tries)
        record = await stores[1].incidents.read_record("INC-7")
        assert sorted(a.fix for a in record.attempts) == [f"fix {n}" for n in range(4)]

    async def test_a_resolution_and_an_edit_at_once_lose_nothing(self, replica: Opening, clock: FakeClock) -> None:
        one, two = await replica(), await replica()
        await one.incidents.commit(Changes(lifecycles=(LIFE,), records=(OPEN,)))
        shown = {name: hash_text(text) for name, text in read_texts(OPEN).items()}
        await asyncio.gather(
            resolving(one, clock)(Resolution(FixOutcome.RECOVERED, "INC-7", fix="fix 1"), "U1", "v1"),
            editing(two, clock)("INC-7", "U2", {"lesson": "look at cron"}, shown, "v2"),
        )
        record = await one.incidents.read_record("INC-7")
        assert ([a.fix for a in record.attempts], record.lesson) == (["fix 1"], "look at cron")

    async def test_of_two_edits_of_one_field_one_is_told_what_the_other_wrote(
        self, replica: Opening, clock: FakeClock
    ) -> None:
        one, two = await replica(), await replica()
        await one.incidents.commit(Changes(records=(OPEN,)))
        shown = {name: hash_text(text) for name, text in read_texts(OPEN).items()}
        tries = (editing(s, clock)("INC-7", u, {"lesson": u}, shown, u) for s, u in ((one, "U1"), (two, "U2")))
        results = await asyncio.gather(*tries, return_exceptions=True)
        (refused,) = [r for r in results if isinstance(r, RecordRejected)]
        kept = (await one.incidents.read_record("INC-7")).lesson
        assert refused.field == "lesson"
        assert f"“{kept}”" in refused.reason

    async def test_what_is_retracted_while_it_is_edited_does_not_come_back(
        self, replica: Opening, clock: FakeClock
    ) -> None:
        one, two = await replica(), await replica()
        ended = replace(LIFE, state=IncidentState.RESOLVED)
        await one.incidents.commit(Changes(lifecycles=(ended,), records=(OPEN,), recallable=frozenset({"INC-7"})))
        shown = {name: hash_text(text) for name, text in read_texts(OPEN).items()}
        retract = RetractRecord(one.incidents, allow_operator)
        results = await asyncio.gather(
            retract("INC-7", "U1", "a drill", "v1"),
            editing(two, clock)("INC-7", "U2", {"lesson": "x"}, shown, "v2"),
            return_exceptions=True,
        )
        assert not isinstance(results[0], BaseException)
        assert not isinstance(results[1], BaseException) or isinstance(results[1], IncidentNotFound)
        assert await two.incidents.list_records(OPERATOR) == ()

    async def test_two_who_purge_at_once(self, replica: Opening, clock: FakeClock) -> None:
        one, two = await replica(), await replica()
        await one.incidents.commit(Changes(lifecycles=(LIFE,), records=(OPEN,)))
        purges = [PurgeRecord(store=s.incidents, purging=s.purging, may=allow_operator) for s in (one, two)]
        done = await asyncio.gather(*(p("INC-7", f"U{n}", "a name", f"v{n}") for n, p in enumerate(purges)))
        assert sorted(d.was_there for d in done) == [False, True]
        assert await one.incidents.find_retracted(("INC-7",)) == {"INC-7"}

    async def test_three_replicas_owe_one_digest_with_one_picture(self, replica: Opening, clock: FakeClock) -> None:
        stores = [await replica() for _ in range(3)]
        posted = PostedBrief("INC-7", "C1", "10.1", "brief/INC-7/C1", BRIEF)
        await stores[0].incidents.commit(Changes(lifecycles=(LIFE,), records=(OPEN,), briefs=(posted,)))
        clock.move(7 * 86_400)
        time = DigestTime("mon", 8, UTC)
        jobs = [
            PostDigests(
                store=s.incidents,
                feedback=s.feedback,
                channels=s.channels,
                claims=s.claims,
                chat=FakeChat(clock=clock.now),
                surfaces=SlackSurfaces(),
                clock=clock,
                default=time,
            )
            for s in stores
        ]
        assert sum(await asyncio.gather(*(job() for job in jobs * 2))) == 1
        assert await stores[0].outbox.count_rows() == {"slack.pending": 2}
