"""What any store must do about asking people once. The bindings are in `test_contracts`."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import date, timedelta

from bot.adapters.store import Store
from bot.domain.alerts.suppression import Mute, MuteTarget
from bot.domain.incidents.lifecycle import IncidentState, Lifecycle
from bot.ports.delivery.outbox import Destination
from bot.ports.posts import PostedBrief
from bot.ports.unit_of_work import Changes
from bot.workflows.resolutions.nudge import NO_END
from tests.contracts.stores import BRIEF, LIFE, owed
from tests.fakes import START

DAY = date(2026, 11, 24)
CLEARED = replace(LIFE, state=IncidentState.CLEARED, cleared_at=START)


def life(name: str, **other: object) -> Lifecycle:
    return replace(CLEARED, incident_id=name, **other)  # type: ignore[arg-type]  # a test's shorthand


async def kept(store: Store, *lives: Lifecycle, briefs: bool = True) -> None:
    posted = tuple(PostedBrief(x.incident_id, "C1", "10.1", f"brief/{x.incident_id}", BRIEF) for x in lives)
    await store.incidents.commit(Changes(lifecycles=lives, briefs=posted if briefs else ()))


async def names(store: Store) -> list[str]:
    return [x.incident_id for x in await store.nudges.list_unasked(START - timedelta(days=1))]


class NudgesContract:
    """Subclasses give `store` and `clock`."""

    async def test_what_cleared_waits_if_it_has_a_brief_and_nobody_was_asked(self, store: Store) -> None:
        await kept(
            store,
            life("INC-1"),
            life("INC-2", opened_at=START + timedelta(minutes=1)),
            life("INC-3", state=IncidentState.RESOLVED),
            life("INC-4", state=IncidentState.OPEN),
            life("INC-5", opened_at=START - timedelta(days=2)),
        )
        await kept(store, life("INC-6"), briefs=False)
        assert await names(store) == ["INC-2", "INC-1"]
        await store.nudges.close("INC-1")
        await store.nudges.close("INC-1")
        assert await names(store) == ["INC-2"]
        (found,) = await store.nudges.list_unasked(START)
        assert found == await store.incidents.read_lifecycle("INC-2")

    async def test_what_is_not_asked_about_any_more_has_no_end(self, store: Store) -> None:
        mute = Mute("C1", MuteTarget.NUDGES, "fp-1", "GatewayErrors", NO_END, "", "U1", START, "INC-1")
        number = await store.channels.add_mute(mute, Changes())
        late = START + timedelta(days=3650)
        assert (await store.channels.read_policy("C1", late)).mutes == (replace(mute, number=number),)
        assert await store.channels.undo_silence(replace(mute, number=number), "U2", Changes())

    async def test_of_many_that_ask_at_once_one_does_for_each_person_day_and_incident(self, store: Store) -> None:
        await kept(store, *(life(f"INC-{n}") for n in range(4)))
        asked = [("U1", ["INC-0", "INC-1"]), ("U1", ["INC-1", "INC-0"]), ("U2", ["INC-1", "INC-2"])] * 2
        done = await asyncio.gather(
            *(
                store.nudges.claim(person, DAY, ids, Changes(deliveries=(owed(f"{person}/{n}", f"k{n}"),)))
                for n, (person, ids) in enumerate(asked)
            )
        )
        assert sum(done) == 1
        assert len(await store.outbox.claim(Destination.SLACK, 9)) == 1
        left = await names(store)
        person = "U1" if "INC-0" not in left else "U2"
        assert not await store.nudges.claim(person, DAY, ["INC-3"], Changes())
        assert await store.nudges.claim(person, DAY + timedelta(days=1), ["INC-3"], Changes())
        assert "INC-3" not in await names(store)
