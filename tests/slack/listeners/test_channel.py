"""What people agree on in a channel, pressed, chosen and typed on a local Slack."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import time, timedelta
from typing import Any

import pytest

from bot.domain.access.roles import Stewards
from bot.domain.alerts.alert import Severity
from bot.domain.alerts.channel_settings import ChannelSettings
from bot.domain.alerts.suppression import MuteTarget, RuleScope, SilenceRule
from bot.domain.incidents.lifecycle import IncidentState
from bot.domain.recall.query import OPERATOR
from bot.ports.language_model import ModelExchange
from bot.ports.unit_of_work import Changes
from bot.slack import ids
from bot.slack.app import build_app
from tests.slack.conftest import Desk, SteppingClock, listening, wait
from tests.slack.listeners.channel_support import (
    LEDGER,
    ask,
    audited,
    choose,
    go_on,
    opened,
    press,
    replies,
    settings_modal,
    shown,
    submit,
)


async def sets(desk: Desk, settings: ChannelSettings, channel: str = "C0ALERTS") -> None:
    await desk.memory.channels.save_settings(channel, settings, (), Changes())


async def test_the_menu_offers_what_works(office: Desk) -> None:
    await office.seed()
    ts = await office.alert()
    menu = next(e for b in office.brief(ts)["blocks"] if b["type"] == "actions" for e in b["elements"][-1:])
    assert [o["text"]["text"] for o in menu["options"]] == [
        "Wrong precedent…",
        "Compare without memory",
        "Mute…",
        "Post-mortem",
        "Not an alert…",
    ]


async def test_not_an_alert_deletes_the_brief_dismisses_and_teaches_a_rule(office: Desk) -> None:
    ts = await office.alert(LEDGER)
    incident_id = await office.memory.incidents.find_incident("C0ALERTS", ts) or ""
    await choose(office, ts, ids.NOT_ALERT)
    view = await opened(office)
    assert "critical alert is ignored only if its title is the very same" in json.dumps(view)
    assert await submit(office, {}) == {}
    assert replies(office, ts) == []
    assert (await office.memory.incidents.read_lifecycle(incident_id)).state is IncidentState.DISMISSED
    (rule,) = (await office.memory.channels.read_policy("C0ALERTS", office.deps.clock.now())).rules
    assert (rule.by, rule.reach, rule.incident_id) == ("U0BOB", RuleScope.TITLE, incident_id)
    for _ in range(2):
        go_on(office, hours=30)
        assert replies(office, await office.alert(LEDGER)) == []
    assert (
        len(
            await office.memory.incidents.list_lifecycles(
                office.deps.clock.now() - timedelta(days=9), office.deps.clock.now(), OPERATOR
            )
        )
        == 1
    )
    (rule,) = (await office.memory.channels.read_policy("C0ALERTS", office.deps.clock.now())).rules
    assert rule.silenced == 2
    other = await office.alert("payment-gateway-504")
    assert len(replies(office, other)) == 1
    assert await audited(office) == [("U0BOB", "not an alert", incident_id)]


async def test_a_rule_holds_in_its_channel_alone(office: Desk) -> None:
    ts = await office.alert(LEDGER)
    await choose(office, ts, ids.NOT_ALERT)
    await submit(office, {})
    elsewhere = office.slack.core.workspace.add_channel("C0OTHER", "other")
    go_on(office, hours=30)
    assert len(replies(office, await office.alert(LEDGER, elsewhere.id), elsewhere.id)) == 1


async def test_rules_are_listed_and_undone(office: Desk) -> None:
    ts = await office.alert(LEDGER)
    await choose(office, ts, ids.NOT_ALERT)
    await submit(office, {})
    await office.alert(LEDGER)
    listed = await ask(office, "rules", "alice")
    text = shown(listed)
    assert "Not an alert" in text
    assert "<@U0BOB>" in text
    assert "silenced 1 post since" in text
    await press(office, listed, ids.UNDO, "alice")
    await office.slack.wait_until(lambda: "Nothing is silenced" in json.dumps(office.slack.ephemerals("alice")))
    assert len(replies(office, await office.alert(LEDGER))) == 1
    assert (await audited(office))[-1] == ("U0ALICE", "undo rule", "C0ALERTS")
    again = await ask(office, "rules", "alice")
    assert "Nothing is silenced" in shown(again)


async def test_undoing_twice_is_no_error(office: Desk) -> None:
    ts = await office.alert(LEDGER)
    await choose(office, ts, ids.NOT_ALERT)
    await submit(office, {})
    first, second = await ask(office, "rules", "alice"), await ask(office, "rules", "bob")
    await press(office, first, ids.UNDO, "alice")
    await office.slack.wait_until(lambda: "Nothing is silenced" in json.dumps(office.slack.ephemerals("alice")))
    await press(office, second, ids.UNDO, "bob")
    await office.slack.wait_until(lambda: "Nothing is silenced" in json.dumps(office.slack.ephemerals("bob")))
    assert [a for _, a, _ in await audited(office)] == ["not an alert", "undo rule"]


async def test_only_this_one_teaches_nothing(office: Desk) -> None:
    ts = await office.alert(LEDGER)
    await choose(office, ts, ids.NOT_ALERT)
    await submit(office, {ids.REACH: "this"})
    assert replies(office, ts) == []
    assert (await office.memory.channels.read_policy("C0ALERTS", office.deps.clock.now())).rules == ()
    go_on(office, hours=30)
    assert len(replies(office, await office.alert(LEDGER))) == 1


async def test_a_whole_app_only_where_a_person_chose_it_and_never_another_critical_one(office: Desk) -> None:
    ts = await office.alert(LEDGER)
    source = next(s.source for s in await office.memory.channels.list_sources("C0ALERTS"))
    await choose(office, ts, ids.NOT_ALERT)
    view = await opened(office)
    select = next(b["element"] for b in view["blocks"] if b.get("block_id") == ids.REACH)
    assert select["initial_option"]["value"] == RuleScope.TITLE
    await submit(office, {ids.REACH: RuleScope.SOURCE.value})
    listed = shown(await ask(office, "rules"))
    assert f"whatever {source} posts, but no critical alert other than" in listed
    posts = {"mild": "WARNING: disk usage 81% on db-9", "severe": "CRITICAL: disk usage 99% on db-9"}
    app = office.slack.core.workspace.apps[source].name
    answered = {}
    for name, text in posts.items():
        posted = await office.slack.post_alert("alerts", {"username": app, "text": text})
        await office.work()
        answered[name] = len(replies(office, posted["ts"]))
    assert answered == {"mild": 0, "severe": 1}


async def test_a_recorded_incident_was_an_alert(office: Desk) -> None:
    ts = await office.alert(LEDGER)
    await choose(office, ts, ids.NOT_ALERT)
    await opened(office)
    await office.slack.click("alerts", office.brief(ts)["ts"], ids.RECORD, user="alice")
    await submit(office, {"outcome": "recovered", "fix": "Flush"}, "alice")
    assert list((await submit(office, {})).values()) == ["A resolution of INC-1 is recorded, so it was an alert."]
    menu = next(e for b in office.brief(ts)["blocks"] if b["type"] == "actions" for e in b["elements"][-1:])
    assert [o["text"]["text"] for o in menu["options"]] == ["Compare without memory", "Mute…", "Post-mortem"]


async def test_another_channels_brief_stays_and_so_does_the_incident(office: Desk) -> None:
    elsewhere = office.slack.core.workspace.add_channel("C0OTHER", "other")
    first, second = await office.alert(LEDGER), await office.alert(LEDGER, elsewhere.id)
    await choose(office, first, ids.NOT_ALERT)
    await submit(office, {})
    assert replies(office, first) == []
    assert len(replies(office, second, elsewhere.id)) == 1
    incident_id = await office.memory.incidents.find_incident(elsewhere.id, second) or ""
    assert (await office.memory.incidents.read_lifecycle(incident_id)).state is IncidentState.OPEN


@pytest.mark.parametrize("what", [MuteTarget.FINGERPRINT, MuteTarget.SERVICE, MuteTarget.CHANNEL])
async def test_a_muted_alert_counts_and_nothing_is_posted_until_the_very_end(office: Desk, what: MuteTarget) -> None:
    await office.seed()
    ts = await office.alert()
    await choose(office, ts, ids.MUTE)
    assert await submit(office, {ids.WHAT: what.value, ids.UNTIL: "1h", ids.REASON: "gateway *deploy*"}) == {}
    (line,) = replies(office, ts)[1:]
    assert "<@U0BOB> muted it" in shown(line)
    assert "gateway ∗deploy∗" in shown(line)
    (mute,) = (await office.memory.channels.read_policy("C0ALERTS", office.deps.clock.now())).mutes
    assert mute.until - mute.at <= timedelta(hours=1)
    incident_id = await office.memory.incidents.find_incident("C0ALERTS", ts) or ""
    fired = (await office.memory.incidents.read_lifecycle(incident_id)).fired
    go_on(office, minutes=40)
    silent = await office.alert()
    assert replies(office, silent) == []
    life = await office.memory.incidents.read_lifecycle(incident_id)
    assert (life.fired, life.state) == (fired + 1, IncidentState.OPEN)
    assert "silenced 1 post since" in shown(await ask(office, "rules"))
    clock = office.deps.clock
    assert isinstance(clock, SteppingClock)
    clock.at = mute.until
    assert len(replies(office, await office.alert())) == 1
    assert "Nothing is silenced" in shown(await ask(office, "rules"))
    assert ("U0BOB", "mute", "C0ALERTS") in await audited(office)


async def test_an_incident_that_began_muted_gets_its_brief_after_the_mute(office: Desk) -> None:
    await office.seed()
    first = await office.alert()
    await choose(office, first, ids.MUTE)
    await submit(office, {ids.WHAT: MuteTarget.CHANNEL.value, ids.UNTIL: "1h"})
    ts = await office.alert(LEDGER)
    assert replies(office, ts) == []
    assert await office.memory.incidents.find_incident("C0ALERTS", ts)
    go_on(office, hours=2)
    again = await office.alert(LEDGER)
    assert len(replies(office, again)) == 1
    assert "fired 2×" in shown(office.brief(again))


async def test_a_mute_is_undone(office: Desk) -> None:
    await office.seed()
    ts = await office.alert()
    await choose(office, ts, ids.MUTE)
    await submit(office, {ids.WHAT: MuteTarget.CHANNEL.value, ids.UNTIL: "4h"})
    listed = await ask(office, "rules", "alice")
    assert "everything in this channel" in shown(listed)
    await press(office, listed, ids.UNDO, "alice")
    await office.slack.wait_until(lambda: "Nothing is silenced" in json.dumps(office.slack.ephemerals("alice")))
    assert len(replies(office, await office.alert(LEDGER))) == 1
    assert (await audited(office))[-1] == ("U0ALICE", "undo mute", "C0ALERTS")


async def test_members_mute_for_a_day_and_stewards_longer(office: Desk) -> None:
    ts = await office.alert(LEDGER)
    await choose(office, ts, ids.MUTE)
    assert await submit(office, {ids.UNTIL: "7d"}) == {
        ids.UNTIL: "You may not mute for longer than 24 hours. Workspace admins and owners may."
    }
    assert await submit(office, {ids.UNTIL: "24h"}) == {}
    await choose(office, ts, ids.MUTE, "alice")
    assert await submit(office, {ids.UNTIL: "7d"}, "alice") == {}
    (mute,) = (await office.memory.channels.read_policy("C0ALERTS", office.deps.clock.now())).mutes
    assert (mute.by, mute.until - mute.at > timedelta(days=6)) == ("U0ALICE", True)


@pytest.mark.parametrize(
    ("said", "field", "why"),
    [
        ({ids.UNTIL: "at"}, ids.UNTIL_TIME, "Write it as"),
        ({ids.UNTIL: "at", ids.UNTIL_TIME: "tomorrow"}, ids.UNTIL_TIME, "Write it as"),
        ({ids.UNTIL: "at", ids.UNTIL_TIME: "25:00"}, ids.UNTIL_TIME, "no such time"),
        ({ids.UNTIL: "at", ids.UNTIL_TIME: "2026-02-30 10:00"}, ids.UNTIL_TIME, "no such time"),
        ({ids.UNTIL: "at", ids.UNTIL_TIME: "2020-01-01 10:00"}, ids.UNTIL_TIME, "over already"),
        ({ids.UNTIL: "at", ids.UNTIL_TIME: "2099-01-01 10:00"}, ids.UNTIL, "At most 90 days"),
    ],
)
async def test_errors_of_a_mute_stand_at_their_field(office: Desk, said: dict[str, str], field: str, why: str) -> None:
    ts = await office.alert(LEDGER)
    await choose(office, ts, ids.MUTE)
    errors = await submit(office, said)
    assert list(errors) == [field]
    assert why in errors[field]
    assert (await office.memory.channels.read_policy("C0ALERTS", office.deps.clock.now())).mutes == ()


async def test_settings_are_shown_with_who_may_change_them(office: Desk) -> None:
    told = await ask(office, "channel", "bob")
    text = shown(told)
    for said in ("Alerts of: all apps", "severity: any", "nobody", "Digest: Monday, 09:00", "Time zone: UTC"):
        assert said in text
    assert "You may not change a channel's settings. Workspace admins and owners may." in text
    assert ids.CHANGE_CHANNEL not in text
    assert ids.CHANGE_CHANNEL in shown(await ask(office, "channel", "alice"))


async def test_a_steward_sets_everything_in_one_modal(desk: Desk) -> None:
    ts = await desk.alert(LEDGER)
    source = next(s.source for s in await desk.memory.channels.list_sources("C0ALERTS"))
    await settings_modal(desk)
    said = {
        ids.SOURCES: [source],
        ids.MINIMUM: "high",
        ids.MENTION: "S0ONCALL",
        ids.QUIET: "22:00-7",
        ids.DIGEST_DAY: "fri",
        ids.DIGEST_HOUR: "16",
        ids.ZONE: "Asia/Kolkata",
        ids.NUDGES: "off",
        ids.MODEL: "on",
    }
    assert await submit(desk, said, "alice") == {}
    assert await desk.memory.channels.read_settings("C0ALERTS") == ChannelSettings(
        frozenset({source}),
        Severity.HIGH,
        "S0ONCALL",
        (time(22), time(7)),
        "Asia/Kolkata",
        "fri",
        16,
        nudges=False,
        model=True,
    )
    text = shown(await ask(desk, "channel", "bob"))
    for part in (
        "high",
        "oncall",
        "22:00-07:00",
        "Friday, 16:00",
        "Asia/Kolkata",
        "Nudges to record what fixed it: off",
        "A language model may be asked: yes",
    ):
        assert part in text
    assert "<!subteam" not in text
    view = await settings_modal(desk)
    assert await submit(desk, {}, "alice") == {}
    assert (await desk.memory.channels.read_settings("C0ALERTS")).quiet == (time(22), time(7))
    assert [b["block_id"] for b in view["blocks"]] == list(said)
    assert (await audited(desk))[-2:] == [("U0ALICE", "channel settings", "C0ALERTS")] * 2
    assert ts


async def test_what_a_model_was_sent_is_shown_to_who_may_see_the_incident(office: Desk) -> None:
    payload = {"messages": [{"role": "user", "content": "<!channel> pool 100 %"}]}
    sent = ModelExchange("INC-7", "public", office.deps.clock.now(), "U0ALICE", True, "m", "shown", payload, (), 1200)
    await office.memory.store.model_ledger.add_exchange(sent, sent.at.date())
    hidden = replace(sent, incident_id="INC-8", visibility="private:G0SECRET")
    await office.memory.store.model_ledger.add_exchange(hidden, sent.at.date())
    text = shown(await ask(office, "sent 7", "bob"))
    assert "1,200 tokens" in text
    assert "&lt;!channel&gt; pool 100 %" in text
    assert "Say which incident" in (await ask(office, "sent", "bob"))["text"]
    for incident in ("INC-8", "INC-9"):
        assert f"Nothing about {incident} was sent" in (await ask(office, f"sent {incident}", "bob"))["text"]


async def test_what_equals_the_operators_setting_follows_it(office: Desk) -> None:
    await settings_modal(office)
    assert await submit(office, {}, "alice") == {}
    assert await office.memory.channels.read_settings("C0ALERTS") == ChannelSettings()


@pytest.mark.parametrize(
    ("said", "field", "why"),
    [
        ({ids.QUIET: "at night"}, ids.QUIET, "22:00-07:00"),
        ({ids.QUIET: "22:00-25:00"}, ids.QUIET, "no such time"),
        ({ids.QUIET: "9-9"}, ids.QUIET, "the same"),
        ({ids.ZONE: "Berlin"}, ids.ZONE, "No such time zone"),
        ({ids.ZONE: "../../etc/passwd"}, ids.ZONE, "No such time zone"),
    ],
)
async def test_errors_of_settings_stand_at_their_field(
    office: Desk, said: dict[str, str], field: str, why: str
) -> None:
    await settings_modal(office)
    errors = await submit(office, said, "alice")
    assert list(errors) == [field]
    assert why in errors[field]
    assert await office.memory.channels.read_settings("C0ALERTS") == ChannelSettings()


async def test_who_is_no_steward_any_more_changes_nothing(office: Desk) -> None:
    await settings_modal(office)
    office.slack.core.workspace.users["U0ALICE"].is_admin = False
    go_on(office, minutes=6)
    errors = await submit(office, {ids.MINIMUM: "critical"}, "alice")
    assert list(errors.values()) == ["You may not change a channel's settings. Workspace admins and owners may."]
    assert await office.memory.channels.read_settings("C0ALERTS") == ChannelSettings()
    told = await ask(office, "channel", "alice")
    assert ids.CHANGE_CHANNEL not in shown(told)


@pytest.mark.parametrize("stewards", [Stewards(frozenset({"U0BOB"})), Stewards(group="S0ONCALL")])
async def test_stewards_are_listed_or_of_a_user_group(unconnected: Desk, stewards: Stewards) -> None:
    desk = unconnected
    people = desk.deps.channels.show.people
    people.steward_group = stewards.group  # type: ignore[attr-defined]  # what the composition root sets
    show = replace(desk.deps.channels.show, stewards=stewards)
    change = replace(desk.deps.channels.change, stewards=stewards)
    deps = replace(desk.deps, channels=replace(desk.deps.channels, show=show, change=change))
    async with listening(desk.slack, build_app(desk.app.client, desk.slack.signing_secret, deps)):
        await settings_modal(desk, "bob")
        assert await submit(desk, {ids.MINIMUM: "critical"}, "bob") == {}
        assert (await desk.memory.channels.read_settings("C0ALERTS")).minimum is Severity.CRITICAL
        desk.slack.core.workspace.groups.clear()
        go_on(desk, minutes=6)
        told = shown(await ask(desk, "channel", "bob"))
        assert (ids.CHANGE_CHANNEL in told) is bool(stewards.users)


async def test_a_group_or_nobody_is_told_in_the_first_post(office: Desk) -> None:
    await office.seed()
    await sets(office, ChannelSettings(tell="S0ONCALL"))
    ts = await office.alert()
    assert "<!subteam^S0ONCALL>" in shown(office.brief(ts))
    mild = await office.alert("script-settlement-lag")
    assert "<!subteam" not in json.dumps(replies(office, mild))
    go_on(office, hours=1)
    again = await office.alert()
    assert "<!subteam" not in json.dumps(replies(office, again))


async def test_only_listed_apps_are_answered(office: Desk) -> None:
    await office.seed()
    await office.alert()
    payments = {s.source for s in await office.memory.channels.list_sources("C0ALERTS")}
    await sets(office, ChannelSettings(sources=frozenset(payments)))
    ts = await office.alert("datadog-checkout-latency")
    assert replies(office, ts) == []
    assert await office.memory.incidents.find_incident("C0ALERTS", ts) is None
    go_on(office, hours=30)
    assert len(replies(office, await office.alert())) == 1


async def test_milder_ones_are_counted_and_not_answered(office: Desk) -> None:
    await office.seed()
    await sets(office, ChannelSettings(minimum=Severity.CRITICAL))
    mild = await office.alert("script-settlement-lag")
    assert replies(office, mild) == []
    assert office.slack.calls("reactions.add") == []
    assert await office.memory.incidents.find_incident("C0ALERTS", mild)


async def test_only_a_member_of_both_pools_private_channels(office: Desk) -> None:
    workspace = office.slack.core.workspace
    workspace.add_channel("C0VAULT", "vault", is_private=True, members=["alice", "bob"])
    workspace.add_channel("C0BOBS", "bobs", is_private=True, members=["bob"])
    view = await settings_modal(office, channel="sec-incidents")
    assert ids.POOL in {b["block_id"] for b in view["blocks"]}
    for refused, why in (("C0BOBS", "member of"), ("C0ALERTS", "Only private"), ("C0NOWHERE", "Invite me")):
        errors = await submit(office, {ids.POOL: [refused]}, "alice")
        assert why in errors[ids.POOL]
    assert await submit(office, {ids.POOL: ["C0VAULT"]}, "alice") == {}
    assert await office.memory.channels.list_pool("C0VAULT") == ("C0SECRET",)
    assert "C0VAULT" in shown(await ask(office, "channel", "alice", "sec-incidents"))


async def test_pooled_channels_recall_each_others_private_incidents_and_others_do_not(office: Desk) -> None:
    workspace = office.slack.core.workspace
    workspace.add_channel("C0VAULT", "vault", is_private=True, members=["alice", "bob"])
    ts = await office.alert(LEDGER, "C0VAULT")
    await office.slack.click("vault", office.brief(ts, "C0VAULT")["ts"], ids.RECORD, user="bob")
    await submit(office, {"outcome": "recovered", "fix": "Flush the ledger cache"}, "bob")
    for channel in ("C0ONE", "C0TWO", "C0THREE"):
        workspace.add_channel(channel, channel.lower(), is_private=True, members=["alice"])
    await office.memory.channels.save_settings("C0VAULT", ChannelSettings(), ("C0TWO", "C0THREE"), Changes())
    workspace.channel("C0THREE").is_private = False  # as Slack allows since, and then everybody reads along
    recalled = {}
    for channel in ("C0ONE", "C0TWO", "C0THREE"):
        brief = office.brief(await office.alert(LEDGER, channel), channel)
        recalled[channel] = "Flush the ledger cache" in shown(brief)
    assert recalled == {"C0ONE": False, "C0TWO": True, "C0THREE": False}


async def test_pools_are_not_asked_for_in_public_channels(office: Desk) -> None:
    blocks = {b["block_id"] for b in (await settings_modal(office))["blocks"]}
    assert not blocks & {ids.POOL, ids.SHARED}


async def test_a_steward_lets_the_bot_speak_in_a_shared_channel(office: Desk) -> None:
    await office.seed()
    assert replies(office, await office.alert(channel="C0PARTNERS"), "C0PARTNERS") == []
    refused = await ask(office, "channel", "bob", "partners")
    assert ids.CHANGE_CHANNEL not in shown(refused)
    await settings_modal(office, channel="partners")
    assert await submit(office, {ids.SHARED: "allowed"}, "alice") == {}
    go_on(office, hours=30)
    ts = await office.alert(channel="C0PARTNERS")
    assert len(replies(office, ts, "C0PARTNERS")) == 1
    assert "allowed by a steward" in shown(await ask(office, "channel", "bob", "partners"))
    await settings_modal(office, channel="partners")
    assert await submit(office, {ids.SHARED: "silent"}, "alice") == {}
    go_on(office, hours=30)
    assert replies(office, await office.alert(channel="C0PARTNERS"), "C0PARTNERS") == []


async def test_people_of_another_organisation_may_do_nothing(office: Desk) -> None:
    await office.seed()
    await sets(office, ChannelSettings(shared=True), "C0PARTNERS")
    ts = await office.alert(channel="C0PARTNERS")
    people: Any = office.deps.channels.show.people
    people.team_id = "T0OTHER"
    await choose(office, ts, ids.MUTE, "alice", "partners")
    errors = await submit(office, {}, "alice")
    assert "Only members of this workspace" in next(iter(errors.values()))


async def test_a_page_of_rules(office: Desk) -> None:
    await office.alert(LEDGER)
    (source,) = await office.memory.channels.list_sources("C0ALERTS")
    rule = SilenceRule("C0ALERTS", source.source, "generic", "t", "U0BOB", office.deps.clock.now())
    for number in range(17):
        await office.memory.channels.add_rule(replace(rule, title=f"Title {chr(97 + number)}"), Changes())
    first, second = await ask(office, "rules"), await ask(office, "rules 2")
    assert shown(first).count(ids.UNDO) == 15
    assert "/precedent rules 2" in shown(first)
    assert shown(second).count(ids.UNDO) == 2
    assert "There is nothing more" in shown(await ask(office, "rules 9"))
    assert "Say which page" in str((await ask(office, "rules x"))["text"])


async def test_settings_stay_in_a_private_channel(office: Desk) -> None:
    message = await ask(office, "channel", "alice", "sec-incidents")
    office.slack.core.workspace.channel("sec-incidents").members.remove("U0ALICE")
    go_on(office, minutes=2)
    await press(office, message, ids.CHANGE_CHANNEL, "alice", "sec-incidents")
    await office.slack.wait_until(
        lambda: "Only members of that channel" in json.dumps(office.slack.ephemerals("alice"))
    )
    assert office.slack.view("alice") is None
    await wait()
