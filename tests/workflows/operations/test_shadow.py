"""Shadow mode around the use cases: who may read what, what is left out and counted, and what keeps it from working."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.domain.alerts.alert import Alert, AlertState
from bot.domain.alerts.suppression import ANSWERED, Disposition, SuppressionDecision
from bot.domain.delivery.kinds import Operation
from bot.domain.incidents.lifecycle import IncidentState, Lifecycle
from bot.domain.operations.shadow import ShadowPlacement
from bot.ports.chat import OF_CHANNELS, Channel, Posting
from bot.ports.delivery.inbox import InboxRow
from bot.ports.delivery.outbox import Destination, OutboxEntry, OutboxRow, build_outbox_entry
from bot.ports.errors import ChatAuthRejected, ChatRejected, ChatUnavailable
from bot.ports.unit_of_work import Changes
from bot.slack.views.shadow import add_heading, render_left_out
from bot.workflows.delivery.deliver import Deliver
from bot.workflows.operations.shadow import AdmitInShadow, NudgesInShadow, ReportLeftOut, ShowInShadow, describe_mode
from tests.fakes import FakeChat
from tests.workflows.world import START, World, world

SHADOW = "CS"
ALERT = Alert("test", AlertState.FIRING, "f1")


@pytest.fixture
async def w(tmp_path: Path) -> AsyncIterator[World]:
    async with world(tmp_path) as made:
        yield made


def private(channel: str, *pools: str) -> Channel:
    return Channel(channel, is_private=True, pools=pools)


def chat(*channels: Channel) -> FakeChat:
    return FakeChat(channels={channel.id: channel for channel in channels})


def row(origin: str, operation: Operation = Operation.POST, **facts: Any) -> tuple[OutboxRow, Posting]:
    payload = {"channel": origin}
    facts.setdefault("place", ShadowPlacement(SHADOW, None, "1.1"))
    made = OutboxRow(
        1, OutboxEntry(Destination.SLACK, operation, "k", "brief/INC-1/C0ALERTS", payload), "lease", 1, False, **facts
    )
    return made, Posting(operation, SHADOW, "brief/INC-1/C0ALERTS", "verdict", ({"type": "section"},))


async def shown(there: FakeChat, made: tuple[OutboxRow, Posting], now: str | None = SHADOW) -> Posting | None:
    return await ShowInShadow(there, now, add_heading)(*made)


async def test_a_message_says_whose_it_is_and_replies_do_not() -> None:
    there = chat(Channel(SHADOW), Channel("C0ALERTS"))
    said = await shown(there, row("C0ALERTS"))
    assert said is not None
    assert said.text == "<#C0ALERTS>: verdict"
    assert "<https://team.slack.example/archives/C0ALERTS/p11|under this post>" in str(said.blocks[0])
    assert said.blocks[1:] == ({"type": "section"},)
    for made in (
        row("C0ALERTS", place=ShadowPlacement(SHADOW, "brief", "1.1"), under_result="9.1"),
        row("C0ALERTS", Operation.UPDATE, place=None, target_place=ShadowPlacement(SHADOW, "brief", "1.1")),
        row("C0ALERTS", Operation.DELETE, place=None, target_place=ShadowPlacement(SHADOW)),
        row("C0ALERTS", Operation.UPLOAD),
    ):
        assert await shown(there, made) == made[1]
    edited = await shown(
        there, row("C0ALERTS", Operation.UPDATE, place=None, target_place=ShadowPlacement(SHADOW, None, "1.1"))
    )
    assert edited == replace(said, operation=Operation.UPDATE)


@pytest.mark.parametrize(
    ("channels", "is_shown"),
    [(["C0ALERTS"], True), (["C0ALERTS", "P1"], False), (["P1"], False), (["GONE"], False), (None, False)],
)
async def test_a_question_to_one_person_is_shown_to_who_may_read_all_that_it_asks_about(
    channels: list[str] | None, *, is_shown: bool
) -> None:
    there = chat(Channel(SHADOW), private("P1"))
    there.gone.add("GONE")
    made, posting = row("D1", place=ShadowPlacement(SHADOW))
    payload = {"channel": "D1"} | ({"extra": {OF_CHANNELS: channels}} if channels else {})
    asked = replace(made, entry=replace(made.entry, payload=payload))
    said = await shown(there, (asked, replace(posting, delivery_id="nudge/U1/2026-11-30")))
    assert (said is not None) is is_shown
    assert said is None or "for one person" in str(said.blocks[0])
    edit, posting = row(
        "D1", Operation.UPDATE, place=None, target_place=ShadowPlacement(SHADOW)
    )  # what stands there may be answered
    assert await shown(there, (edit, posting)) is not None


@pytest.mark.parametrize(
    ("shadow", "alerts", "is_shown"),
    [
        (Channel(SHADOW), Channel("C0ALERTS"), True),
        (Channel(SHADOW), private("C0ALERTS"), False),
        (private(SHADOW), private("C0ALERTS"), False),
        (private(SHADOW, "C0ALERTS"), private("C0ALERTS", SHADOW), True),
        (private(SHADOW, "C0ALERTS"), private("C0ALERTS", SHADOW, "C2"), False),
    ],
)
async def test_what_is_private_is_shown_to_those_alone_who_may_see_all_of_it(
    shadow: Channel, alerts: Channel, *, is_shown: bool
) -> None:
    there = chat(shadow, alerts)
    assert (await shown(there, row("C0ALERTS")) is not None) is is_shown

    async def admit(*_: object) -> SuppressionDecision:
        return replace(ANSWERED, tell="S0ONCALL")

    event = InboxRow(1, "message", {"event": {}}, "lease", 1, START)
    admission = await AdmitInShadow(admit, there, SHADOW)(event, alerts, ALERT, START)
    assert (admission.outcome is Disposition.ANSWER, admission.tell) == (is_shown, None)


async def test_a_channel_that_cannot_be_seen_shows_nothing() -> None:
    there = chat(Channel(SHADOW))
    there.gone.add("C0ALERTS")
    assert await shown(there, row("C0ALERTS")) is None


@pytest.mark.parametrize(
    ("channel", "says"),
    [
        (Channel(SHADOW, is_shared=True, is_allowed=True), "shared with another organisation"),
        (Channel(SHADOW, is_joined=False), "the bot is not in it"),
        (Channel(SHADOW, is_archived=True, is_joined=False), "it is archived"),
        (None, "cannot see this channel"),
    ],
)
async def test_while_it_cannot_be_written_to_all_waits_and_in_an_earlier_one_nothing_does(
    channel: Channel | None, says: str
) -> None:
    there = chat(Channel("C0ALERTS"), *((channel,) if channel else ()))
    if channel is None:
        there.gone.add(SHADOW)
    with pytest.raises(ChatUnavailable, match=says) as waits:
        await shown(there, row("C0ALERTS"))
    assert waits.value.retry_after_s
    with pytest.raises(ChatRejected, match=says):
        await shown(there, row("C0ALERTS"), now=None)
    fine, told = await describe_mode(there, SHADOW)
    assert not fine
    assert says in told


@dataclass
class Outdated(FakeChat):
    """Tells what was known of a channel before, unless it is asked for something newer than a minute."""

    before: dict[str, Channel] = field(default_factory=dict)

    async def read_channel(self, channel_id: str, *, within_s: float | None = None) -> Channel:
        newest = within_s is not None and within_s <= 10
        return await super().read_channel(channel_id) if newest else self.before.get(channel_id, Channel(channel_id))


@pytest.mark.parametrize(
    ("now", "error"),
    [
        ({"C0ALERTS": private("C0ALERTS")}, None),
        ({SHADOW: Channel(SHADOW, is_shared=True)}, ChatUnavailable),
        ({SHADOW: Channel(SHADOW, is_archived=True)}, ChatUnavailable),
        ({SHADOW: Channel(SHADOW, is_joined=False)}, ChatUnavailable),
    ],
)
async def test_who_reads_along_is_asked_anew_before_anything_is_shown(
    now: dict[str, Channel], error: type[Exception] | None
) -> None:
    there = Outdated(channels=now)
    if error is None:
        assert await shown(there, row("C0ALERTS")) is None
    else:
        with pytest.raises(error):
            await shown(there, row("C0ALERTS"))


async def test_an_alert_is_read_anew_when_its_channel_became_another_one_meanwhile() -> None:
    async def admit(*_: object) -> SuppressionDecision:
        return ANSWERED

    event = InboxRow(1, "message", {"event": {}}, "lease", 1, START)
    for became in (private("C0ALERTS"), Channel("C0ALERTS", is_shared=True)):
        with pytest.raises(ChatUnavailable, match="read anew"):
            await AdmitInShadow(admit, Outdated(channels={"C0ALERTS": became}), SHADOW)(
                event, Channel("C0ALERTS"), ALERT, START
            )
    # the shadow channel was private and pooled a moment ago, and everybody reads it now
    was = {SHADOW: private(SHADOW, "C0ALERTS")}
    pooled = private("C0ALERTS", SHADOW)
    there = Outdated(channels={"C0ALERTS": pooled, SHADOW: Channel(SHADOW)}, before=was)
    assert (await AdmitInShadow(admit, there, SHADOW)(event, pooled, ALERT, START)).outcome is Disposition.COUNT_ONLY
    assert await NudgesInShadow(Waiting((life(1, "private:C0ALERTS"),)), there, SHADOW).list_unasked(START) == ()


@pytest.mark.parametrize("code", ["not_in_channel", "is_archived", "channel_not_found"])
async def test_what_was_on_its_way_when_the_shadow_channel_was_lost_waits_for_it(w: World, code: str) -> None:
    @dataclass
    class Losing(FakeChat):
        is_lost: bool = True

        async def deliver(self, posting: Posting) -> str | None:
            if self.is_lost:
                raise ChatRejected("The channel is lost.", code)
            return await super().deliver(posting)

    there, store = Losing(), w.memory.store.incidents
    on = replace(store, writer=replace(store.writer, shadow=SHADOW))
    digests = [Posting(Operation.POST, "C0ALERTS", f"digest/{n}", "said") for n in range(2)]
    deliver = Deliver(
        outbox=w.memory.outbox, chat=there, clock=w.clock, in_shadow=ShowInShadow(there, SHADOW, add_heading)
    )
    for posting in digests:
        await on.commit(Changes(deliveries=(build_outbox_entry(posting, key=posting.delivery_id),)))
    for _ in range(25):  # more often than any row may fail for another reason
        await deliver.drain_once()
        w.clock.advance(seconds=61)
    assert await w.memory.outbox.count_rows() == {"slack.pending": 2}
    there.is_lost = False
    for _ in range(3):
        await deliver.drain_once()
        w.clock.advance(seconds=61)
    assert [(p.channel, p.delivery_id) for p in there.delivered] == [(SHADOW, "digest/0"), (SHADOW, "digest/1")]
    # of an earlier shadow channel, and of any other, it is a refusal
    refused = ChatRejected("The channel is lost.", code)
    shows = ShowInShadow(there, "C0OTHER", add_heading)
    assert [shows.translate_failure(r, refused) for r, _ in (row("C1"), row("C1", place=None))] == [refused, refused]


async def test_the_state_is_told_whatever_slack_does() -> None:
    class Down(FakeChat):
        async def read_channel(self, channel_id: str, *, within_s: float | None = None) -> Channel:
            raise ChatAuthRejected("Slack does not accept the bot token.", "invalid_auth")

    assert (await describe_mode(chat(Channel(SHADOW, "watching")), SHADOW)) == (
        True,
        "on: all that I would say by myself goes to #watching, nothing to alert channels",
    )
    assert await describe_mode(Down(), SHADOW) == (False, "on, channel CS: Slack does not accept the bot token.")
    with pytest.raises(ChatAuthRejected):
        await shown(Down(), row("C0ALERTS"))


@dataclass
class Waiting:
    """The questions that wait."""

    lives: tuple[Lifecycle, ...]
    claimed: list[str] = field(default_factory=list)

    async def list_unasked(self, since: datetime) -> tuple[Lifecycle, ...]:
        return self.lives

    async def claim(self, person: str, day: date, incident_ids: Any, changes: Changes) -> bool:
        self.claimed += incident_ids
        return True

    async def close(self, incident_id: str) -> None:
        self.claimed.append(incident_id)


def life(number: int, visibility: str) -> Lifecycle:
    return Lifecycle(f"INC-{number}", f"f{number}", visibility, IncidentState.CLEARED, START, START)


async def test_nobody_is_asked_in_the_shadow_channel_about_what_may_not_be_read_there() -> None:
    inner = Waiting((life(1, "public"), life(2, "private:C0ALERTS")))
    nudges = NudgesInShadow(inner, chat(Channel(SHADOW), private("C0ALERTS")), SHADOW)
    assert [one.incident_id for one in await nudges.list_unasked(START)] == ["INC-1"]
    assert await nudges.claim("U1", START.date(), ["INC-1"], Changes())
    await nudges.close("INC-9")
    assert inner.claimed == ["INC-1", "INC-9"]
    gone = chat()
    gone.gone.add(SHADOW)
    assert await NudgesInShadow(inner, gone, SHADOW).list_unasked(START) == ()


async def test_what_is_left_out_is_counted_once_a_day_without_names(w: World) -> None:
    w.chat.channels = {"P1": private("P1"), SHADOW: Channel(SHADOW)}
    tell = ReportLeftOut(store=w.memory.incidents, chat=w.chat, clock=w.clock, shadow=SHADOW, render=render_left_out)

    async def said() -> list[tuple[str, str]]:
        await tell()
        return [(r.entry.delivery_id, str(r.entry.payload["text"])) for r in await w.drain_outbox()]

    await w.post("C0ALERTS", fingerprint="open")
    await w.drain_outbox()
    assert await said() == []
    for number in range(2):
        w.clock.advance(minutes=1)
        await w.post("P1", fingerprint=f"f{number}")
    await w.drain_outbox()
    ((name, text),) = await said()
    assert name == f"left-out/{SHADOW}/2026-11-29"
    assert "2 alerts of private channels were left out today" in text
    assert await said() == []
    w.chat.gone.add(SHADOW)
    w.clock.advance(hours=1)
    await w.post("P1", fingerprint="f9")
    await w.drain_outbox()
    assert await said() == []
