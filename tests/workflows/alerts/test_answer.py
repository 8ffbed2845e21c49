"""An alert's post becomes an incident's brief; what follows changes it and never multiplies it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.domain.access.visibility import Viewer
from bot.domain.recall.query import OPERATOR
from bot.ports.chat import Channel
from bot.ports.errors import IncidentNotFound
from bot.workflows.resolutions.resolve import FixOutcome, Resolution
from tests.fakes import FakeChat
from tests.workflows.world import START, World, world

PUBLIC = Viewer()


@pytest.fixture
async def w(tmp_path: Path) -> AsyncIterator[World]:
    async with world(tmp_path) as made:
        yield made


def operations(rows: list[object]) -> list[tuple[str, str]]:
    return [(r.entry.operation, r.entry.delivery_id) for r in rows]  # type: ignore[attr-defined]  # OutboxRow


async def test_the_first_firing_opens_an_incident_and_owes_one_brief_in_its_thread(w: World) -> None:
    ts = await w.post(severity="critical", service="payments-api", vendor="razorpay")
    (row,) = await w.drain_outbox()
    assert (row.entry.operation, row.entry.delivery_id) == ("post", "brief/INC-1/C1")
    assert row.entry.payload["thread_ts"] == ts
    record = await w.memory.incidents.read_record("INC-1")
    assert (record.service, record.vendor, record.started_at) == ("payments-api", "razorpay", START)
    assert record.alerts[0].fingerprint == "payments/504"
    assert (await w.memory.incidents.read_lifecycle("INC-1")).state == "open"


async def test_repeat_ack_and_resolve_change_the_brief_and_add_none(w: World) -> None:
    await w.post()
    await w.drain_outbox()
    for state in ("firing", "acknowledged", "resolved"):
        w.clock.advance(minutes=5)
        await w.post(state=state)
        assert operations(list(await w.drain_outbox())) == [("update", "brief/INC-1/C1/edit")]
    life = await w.memory.incidents.read_lifecycle("INC-1")
    assert (life.state, life.fired) == ("cleared", 2)


async def test_a_repeat_as_a_new_root_gets_one_line_only_when_the_brief_is_old(w: World) -> None:
    await w.post()
    await w.drain_outbox()
    w.clock.advance(minutes=31)
    ts = await w.post()
    assert ("post", f"repeat/INC-1/C1/{ts}") in operations(list(await w.drain_outbox()))


async def test_a_post_that_is_no_alert_leaves_nothing(w: World) -> None:
    await w.answer(await w.row({"channel": "C1", "ts": "1.1"}))
    assert await w.drain_outbox() == []
    assert await w.memory.inbox.claim(10) == ()
    assert await w.memory.incidents.list_open_lifecycles(PUBLIC) == ()


async def test_a_resolve_without_an_incident_opens_none(w: World) -> None:
    await w.post(state="resolved")
    assert await w.drain_outbox() == []
    with pytest.raises(IncidentNotFound):
        await w.memory.incidents.read_record("INC-1")


@pytest.mark.parametrize("severity", ["warning", "info"])
async def test_an_empty_memory_is_quiet_for_low_severities(w: World, severity: str) -> None:
    await w.post(severity=severity)
    assert operations(list(await w.drain_outbox())) == [("react", "looked/C1/INC-1")]


async def test_an_escalation_of_a_quiet_alert_gets_its_brief(w: World) -> None:
    await w.post(severity="warning")
    await w.drain_outbox()
    w.clock.advance(minutes=3)
    await w.post(severity="critical", state="escalated")
    assert ("post", "brief/INC-1/C1") in operations(list(await w.drain_outbox()))


async def test_channels_shared_with_other_organisations_stay_quiet(w: World) -> None:
    w.chat.channels["C1"] = Channel("C1", is_shared=True)
    await w.post(severity="critical")
    assert await w.drain_outbox() == []


async def test_a_channel_that_became_private_is_private_from_its_next_alert_on(w: World) -> None:
    class Outdated(FakeChat):
        """What was known of a channel a moment ago is told, unless it is asked anew."""

        async def read_channel(self, channel_id: str, *, within_s: float | None = None) -> Channel:
            return Channel(channel_id, is_private=within_s is not None)

    answer = w.build_answer(chat=Outdated())
    for n, kind in enumerate(("group", "channel"), 1):
        event = {"channel": "C1", "ts": f"190000000{n}.000100", "channel_type": kind, "alert": {"fingerprint": kind}}
        await answer(await w.row(event))
    lives = await w.memory.incidents.list_open_lifecycles(OPERATOR)
    assert {one.fingerprint: one.visibility for one in lives} == {"group": "private:C1", "channel": "public"}


async def test_a_private_channel_keeps_its_incident_to_itself(w: World) -> None:
    w.chat.channels["G1"] = Channel("G1", is_private=True)
    await w.post("G1")
    await w.post("C1")
    assert (await w.memory.incidents.read_record("INC-1")).source.visibility == "private:G1"
    assert [life.incident_id for life in await w.memory.incidents.list_open_lifecycles(PUBLIC)] == ["INC-2"]


async def test_each_channel_has_its_own_brief_of_one_incident(w: World) -> None:
    await w.post("C1")
    await w.drain_outbox()
    w.clock.advance(minutes=1)
    await w.post("C2")
    assert operations(list(await w.drain_outbox())) == [("update", "brief/INC-1/C1/edit"), ("post", "brief/INC-1/C2")]


async def test_an_edit_of_the_post_finds_its_incident_even_with_another_fingerprint(w: World) -> None:
    ts = await w.post()
    await w.drain_outbox()
    w.clock.advance(minutes=2)
    event = {
        "channel": "C1",
        "ts": "1",
        "event_ts": f"{int(w.clock.now().timestamp())}.0",
        "message": {"ts": ts, "edited": {"ts": "2"}},
        "alert": {"state": "resolved", "delivery": "edit", "fingerprint": "other"},
    }
    await w.answer(await w.row(event))
    assert (await w.memory.incidents.read_lifecycle("INC-1")).state == "cleared"


async def test_what_was_recorded_comes_back_at_the_next_alert_with_the_brief_of_a_new_incident(w: World) -> None:
    await w.post(service="payments-api", severity="critical")
    await w.drain_outbox()
    said = Resolution(FixOutcome.RECOVERED, "INC-1", fix="Raise the pool to 100", root_cause="pool too small")
    await w.resolve(said, "U1", "view:1")
    await w.drain_outbox()
    w.clock.advance(hours=30)
    await w.post(service="payments-api", severity="critical")
    (row,) = await w.drain_outbox()
    assert row.entry.delivery_id == "brief/INC-2/C1"
    (posted,) = await w.memory.incidents.list_briefs("INC-2")
    assert posted.brief.recommendation is not None
    assert posted.brief.recommendation.fix == "Raise the pool to 100"
    assert posted.brief.recommendation.confidence == "MEDIUM"
    assert posted.brief.root_cause is not None
    assert posted.brief.root_cause.text == "pool too small"


async def test_a_reopened_incident_with_a_new_recommendation_gets_a_reply_and_the_old_brief_says_so(w: World) -> None:
    await w.post(service="payments-api", severity="critical")
    w.clock.advance(minutes=1)
    await w.post(state="resolved", service="payments-api")
    await w.post("C9", fingerprint="payments/503", service="payments-api", severity="critical", title="GatewayErrors")
    await w.drain_outbox()
    await w.resolve(Resolution(FixOutcome.RECOVERED, "INC-2", fix="Fail over to the second provider"), "U1", "view:1")
    await w.drain_outbox()
    w.clock.advance(minutes=10)
    await w.post(service="payments-api", severity="critical")
    owed = operations(list(await w.drain_outbox()))
    assert ("post", "brief/INC-1/C1+2") in owed
    (posted,) = await w.memory.incidents.list_briefs("INC-1")
    assert posted.delivery_id == "brief/INC-1/C1+2"


async def test_a_link_preview_that_slack_adds_to_the_post_is_no_news(w: World) -> None:
    ts = await w.post()
    await w.drain_outbox()
    w.clock.advance(minutes=2)
    said = {"state": "resolved", "delivery": "edit"}
    await w.answer(await w.row({"channel": "C1", "ts": "1", "message": {"ts": ts}, "alert": said}))
    assert await w.drain_outbox() == []
    assert (await w.memory.incidents.read_lifecycle("INC-1")).state == "open"


async def test_a_preview_of_a_post_that_was_missed_counts_as_the_post(w: World) -> None:
    event = {"channel": "C1", "ts": "1", "message": {"ts": "1795921200.000000"}, "alert": {"delivery": "edit"}}
    await w.answer(await w.row(event))
    (row,) = await w.drain_outbox()
    assert row.entry.payload["thread_ts"] == "1795921200.000000"
    assert (await w.memory.incidents.read_lifecycle("INC-1")).opened_at == START


async def test_a_private_fix_never_shows_in_a_public_brief(w: World) -> None:
    w.chat.channels["G1"] = Channel("G1", is_private=True)
    await w.post("G1", service="payments-api", severity="critical")
    await w.drain_outbox()
    said = Resolution(FixOutcome.RECOVERED, "INC-1", fix="Use the secret lever", root_cause="a private cause")
    await w.resolve(said, "U1", "view:1")
    await w.drain_outbox()
    w.clock.advance(hours=30)
    await w.post("C1", service="payments-api", severity="critical")
    (row,) = await w.drain_outbox()
    shown = repr(row.entry.payload)
    assert "INC-1" not in shown
    assert "secret lever" not in shown
    (posted,) = await w.memory.incidents.list_briefs("INC-2")
    assert posted.brief.insufficient_memory is not None
    w.clock.advance(minutes=1)
    await w.post("G1", service="payments-api", severity="critical")
    owed = [repr(r.entry.payload) for r in await w.drain_outbox() if r.entry.payload["channel"] == "G1"]
    assert any("secret lever" in text for text in owed)
