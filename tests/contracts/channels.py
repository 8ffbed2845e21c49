"""What any store of channels must do, whichever database holds it. The bindings are in `test_contracts`."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import time, timedelta

import pytest
import sqlalchemy as sa

from bot.adapters.store import Store
from bot.adapters.store.database.tables import audit
from bot.domain.alerts.alert import Severity
from bot.domain.alerts.channel_settings import ChannelSettings
from bot.domain.alerts.suppression import ChannelPolicy, Mute, MuteTarget, RuleScope, SilenceRule
from bot.domain.incidents.lifecycle import IncidentState, Lifecycle
from bot.ports.audit import AuditLine
from bot.ports.channels import AlertSource
from bot.ports.errors import StoreConflict
from bot.ports.unit_of_work import Changes
from tests.fakes import START, FakeClock

SET = ChannelSettings(
    sources=frozenset({"B2", "B1"}),
    minimum=Severity.HIGH,
    tell="S1",
    quiet=(time(22, 30), time(7)),
    zone="Asia/Kolkata",
    digest_day="fri",
    digest_hour=16,
    nudges=False,
    shared=True,
)
RULE = SilenceRule("C1", "B1", "grafana", "Backup 決済 ✗", "U1", START, RuleScope.TITLE, "INC-1")
MUTE = Mute(
    "C1", MuteTarget.SERVICE, "shop", "service shop", START + timedelta(hours=1), "deploy", "U1", START, "INC-1"
)
NOTE = Changes(audit=(AuditLine("U1", "act", "C1", "detail"),))


async def audited(store: Store) -> int:
    async with store.database.read() as connection:
        return int((await connection.execute(sa.select(sa.func.count()).select_from(audit))).scalar_one())


class ChannelContract:
    """Subclasses give `store` and `clock`."""

    async def test_defaults_hold_until_somebody_sets_something(self, store: Store) -> None:
        assert await store.channels.read_settings("C1") == ChannelSettings()
        assert await store.channels.read_policy("C1", START) == ChannelPolicy()
        assert await store.channels.list_pool("C1") == ()

    async def test_settings_come_back_equal_for_their_channel_alone(self, store: Store) -> None:
        await store.channels.save_settings("C1", SET, (), NOTE)
        assert await store.channels.read_settings("C1") == SET
        assert (await store.channels.read_policy("C1", START)).settings == SET
        assert await store.channels.read_settings("C2") == ChannelSettings()
        await store.channels.save_settings("C1", ChannelSettings(), (), NOTE)
        assert await store.channels.read_settings("C1") == ChannelSettings()
        assert await audited(store) == 2

    async def test_a_pool_holds_in_both_directions(self, store: Store) -> None:
        await store.channels.save_settings("G1", SET, ("G3", "G2"), NOTE)
        assert await store.channels.list_pool("G1") == ("G2", "G3")
        assert await store.channels.list_pool("G2") == ("G1",)
        await store.channels.save_settings("G2", SET, (), NOTE)
        assert await store.channels.list_pool("G1") == ("G3",)
        assert await store.channels.list_pool("G2") == ()

    async def test_rules_are_kept_once_and_counted_once_for_each_post(self, store: Store) -> None:
        number = await store.channels.add_rule(RULE, NOTE)
        assert await store.channels.add_rule(replace(RULE, by="U2"), NOTE) == number
        other = await store.channels.add_rule(replace(RULE, reach=RuleScope.SOURCE), NOTE)
        await store.channels.add_rule(replace(RULE, channel="C2"), NOTE)
        kept = replace(RULE, number=number)
        await asyncio.gather(*(store.channels.count_silenced(kept, event) for event in (1, 2, 2, 1)))
        house = await store.channels.read_policy("C1", START)
        assert house.rules == (replace(kept, silenced=2), replace(RULE, reach=RuleScope.SOURCE, number=other))

    async def test_mutes_hold_until_they_end(self, store: Store) -> None:
        number = await store.channels.add_mute(MUTE, NOTE)
        kept = replace(MUTE, number=number)
        await store.channels.count_silenced(kept, 7)
        before_the_end = MUTE.until - timedelta(microseconds=1)
        assert (await store.channels.read_policy("C1", before_the_end)).mutes == (replace(kept, silenced=1),)
        assert (await store.channels.read_policy("C1", MUTE.until)).mutes == ()

    async def test_a_new_mute_of_the_same_thing_takes_the_place_of_the_old_one(self, store: Store) -> None:
        await store.channels.add_mute(MUTE, NOTE)
        other = await store.channels.add_mute(replace(MUTE, value="search"), NOTE)
        newer = replace(MUTE, until=START + timedelta(minutes=10), by="U2")
        number = await store.channels.add_mute(newer, NOTE)
        mutes = (await store.channels.read_policy("C1", START)).mutes
        assert [m.number for m in mutes] == [other, number]
        assert mutes[1].until == newer.until

    async def test_a_mute_and_a_rule_of_the_same_number_are_counted_apart(self, store: Store) -> None:
        rule = replace(RULE, number=await store.channels.add_rule(RULE, NOTE))
        mute = replace(MUTE, number=await store.channels.add_mute(MUTE, NOTE))
        assert rule.number == mute.number
        await store.channels.count_silenced(rule, 1)
        house = await store.channels.read_policy("C1", START)
        assert (house.rules[0].silenced, house.mutes[0].silenced) == (1, 0)

    async def test_what_is_undone_holds_no_longer_and_is_undone_once(self, store: Store) -> None:
        rule = replace(RULE, number=await store.channels.add_rule(RULE, NOTE))
        mute = replace(MUTE, number=await store.channels.add_mute(MUTE, NOTE))
        assert not await store.channels.undo_silence(replace(rule, channel="C2"), "U2", NOTE)
        tries = await asyncio.gather(*(store.channels.undo_silence(s, "U2", NOTE) for s in (rule, mute, rule, mute)))
        assert sorted(tries) == [False, False, True, True]
        assert await store.channels.read_policy("C1", START) == ChannelPolicy()
        assert await audited(store) == 4
        again = await store.channels.add_rule(RULE, NOTE)
        assert again != rule.number

    async def test_what_was_posted_before_an_undoing_is_still_silenced(self, store: Store, clock: FakeClock) -> None:
        rule = replace(RULE, number=await store.channels.add_rule(RULE, NOTE))
        mute = replace(MUTE, number=await store.channels.add_mute(MUTE, NOTE))
        clock.move(60)
        for silence in (rule, mute):
            assert await store.channels.undo_silence(silence, "U2", NOTE)
        before, after = clock.now() - timedelta(seconds=1), clock.now()
        assert await store.channels.read_policy("C1", before) == ChannelPolicy(rules=(rule,), mutes=(mute,))
        assert await store.channels.read_policy("C1", after) == ChannelPolicy()

    async def test_all_or_nothing(self, store: Store) -> None:
        life = Lifecycle("INC-1", "fp", "public", IncidentState.OPEN, START, START)
        await store.incidents.commit(Changes(lifecycles=(life,)))
        stale = Changes(lifecycles=(life,), audit=NOTE.audit)
        rule = replace(RULE, number=await store.channels.add_rule(RULE, Changes()))
        for attempt in (
            store.channels.save_settings("C1", SET, ("C2",), stale),
            store.channels.add_rule(replace(RULE, title="other"), stale),
            store.channels.add_mute(MUTE, stale),
            store.channels.undo_silence(rule, "U2", stale),
        ):
            with pytest.raises(StoreConflict):
                await attempt
        assert await store.channels.read_policy("C1", START) == ChannelPolicy(rules=(rule,))
        assert await store.channels.list_pool("C1") == ()
        assert await audited(store) == 0

    async def test_a_submission_that_came_before_changes_nothing(self, store: Store) -> None:
        once = replace(NOTE, once="mute/V1")
        number = await store.channels.add_mute(MUTE, once)
        assert number > 0
        assert await store.channels.add_mute(replace(MUTE, what=MuteTarget.CHANNEL), once) == 0
        assert await store.channels.add_rule(RULE, once) == 0
        house = await store.channels.read_policy("C1", START)
        assert ([m.number for m in house.mutes], house.rules) == ([number], ())
        assert not await store.channels.undo_silence(house.mutes[0], "U1", once)

    async def test_the_apps_that_post_alerts_are_remembered(self, store: Store) -> None:
        for fingerprint, source, tool in (("f1", "B1", "grafana"), ("f2", "B1", "grafana"), ("f2", "B2", "datadog")):
            for _ in range(2):
                await store.channels.note_source("C1", fingerprint, AlertSource(source, tool))
        await store.channels.note_source("C2", "f9", AlertSource("B9", "sentry"))
        assert await store.channels.list_sources("C1") == (AlertSource("B1", "grafana"), AlertSource("B2", "datadog"))
        assert await store.channels.find_source("C1", "f1") == "B1"
        assert await store.channels.find_source("C2", "f1") is None
