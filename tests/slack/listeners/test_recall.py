"""Look-ups as people use them: pages, sharing for other eyes, and a vendor's name alone."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from bot.domain.catalog.vendor_table import Vendor
from bot.domain.catalog.vendors import build_vendor_directory
from bot.domain.incidents.record import Attempt, Boundary, Source, VerificationStatus
from bot.domain.recall.ranking import Precedent, Recalled, Tier
from bot.domain.reports.vendor_profile import build_vendor_profile
from bot.playground import validate_message
from bot.ports.errors import RecordRejected
from bot.ports.unit_of_work import Changes
from bot.slack import ids
from bot.slack.listeners.recall import answer_text, ask_where_to_share, share, turn_page
from bot.slack.views.recall import add_page_buttons, render_page, render_vendor
from bot.slack.views.surfaces import render_note
from bot.workflows.channels.access import PUBLIC
from tests.builders import an_incident, on_day
from tests.slack import cases
from tests.slack.conftest import Desk, pressed


def found(count: int) -> Recalled:
    tiers = [Tier.STRONG if n < 7 else Tier.POSSIBLE for n in range(count)]
    return Recalled(
        tuple(Precedent(an_incident(f"INC-{n}", title="x" * 90), 0.9, t) for n, t in enumerate(tiers)), count
    )


def buttons(message: Any) -> list[str]:
    return [e["text"]["text"] for b in message.blocks if b["type"] == "actions" for e in b["elements"]]


def test_pages_count_on_and_end() -> None:
    second = render_page(found(9), "x", "x limit:4", 4, 2)
    assert second.text == "Precedents 5–8 of 9"
    assert buttons(second) == ["Previous", "Next", "Share…"]
    assert cases.shown(second.blocks).count("possible, not counted") == 1
    assert validate_message({"text": second.text, "blocks": [dict(b) for b in second.blocks]}) == []
    assert buttons(render_page(found(9), "x", "x", 4, 3)) == ["Previous", "Share…"]
    assert "There are no more" in cases.shown(render_page(found(9), "x", "x", 4, 4).blocks)
    assert buttons(add_page_buttons(render_note("x"), "q" * 1990, 1, more=True)) == []


def test_a_vendor_with_little_to_tell() -> None:
    bare = build_vendor_profile(
        "acme", [an_incident("INC-1", vendor="acme", started_at=None, resolved_at=None)], cases.NOW
    )
    text = cases.shown(render_vendor(bare, 5, "U0BOB").blocks)
    assert "Shared by <@U0BOB>" in text
    assert "*Fault lay with:* not recorded" in text
    assert "none is known to have worked" in text


@pytest.mark.parametrize("said", [{}, {"q": "x"}, {"q": "x", "p": 0}, {"q": 5, "p": 1}])
async def test_a_button_of_another_version_is_answered(unconnected: Desk, said: dict[str, Any]) -> None:
    with pytest.raises(RecordRejected):
        await turn_page(unconnected.deps, pressed(said)[0])
    with pytest.raises(RecordRejected):
        await ask_where_to_share(unconnected.deps, pressed({})[0])
    with pytest.raises(RecordRejected):
        await share(unconnected.deps, pressed({}, view={"id": "V1", "private_metadata": "{}"})[0])


async def test_pages_and_sharing_for_the_eyes_of_another_channel(office: Desk) -> None:
    desk = office
    private = Source(visibility="private:C0SECRET")
    fix = (Attempt("Fail over", VerificationStatus.VERIFIED),)
    usual = {"service": "ledger", "vendor": "razorpay", "boundary": Boundary.VENDOR, "attempts": fix}
    records = [
        an_incident(f"INC-{n}", title="Quagga drift 504", started_at=on_day(n), symptoms=("quagga drift",), **usual)
        for n in range(1, 7)
    ]
    hidden = replace(records[0], incident_id="INC-20", started_at=on_day(20), source=private)
    kept = (*records, hidden)
    await desk.memory.incidents.commit(Changes(records=kept, recallable=frozenset(r.incident_id for r in kept)))
    slack = desk.slack

    await slack.slash("C0SECRET", "/recall", "quagga drift 504 service:ledger limit:4", user="alice")
    shown = await slack.wait_until(lambda: slack.ephemerals("alice", "C0SECRET"))
    assert "INC-20" in json.dumps(shown[-1])
    await slack.click("C0SECRET", shown[-1]["ts"], f"{ids.PAGE}.next", user="alice")
    await slack.wait_until(lambda: "Precedents 5–7 of 7" in slack.ephemerals("alice", "C0SECRET")[-1]["text"])
    assert len(slack.ephemerals("alice", "C0SECRET")) == 1
    await slack.click("C0SECRET", shown[-1]["ts"], f"{ids.PAGE}.previous", user="alice")
    await slack.wait_until(lambda: "RESOLUTION" in json.dumps(slack.ephemerals("alice", "C0SECRET")[-1]))

    await slack.click("C0SECRET", shown[-1]["ts"], ids.SHARE, user="alice")
    await slack.wait_until(lambda: slack.view("alice"))
    refused = await slack.submit_view({ids.TARGET: "C0RANDOM"}, user="alice")
    assert "Invite me" in json.dumps(refused.errors)
    assert (await slack.submit_view({ids.TARGET: "C0ALERTS"}, user="alice")).acked
    await desk.work()
    (posted,) = [m for m in slack.timeline("C0ALERTS") if "Shared by" in json.dumps(m)]
    said = json.dumps(posted, ensure_ascii=False)
    assert "<@U0ALICE>" in said
    assert "INC-6" in said
    assert "INC-20" not in said
    assert not any(b["type"] == "actions" for b in posted["blocks"])

    await slack.slash("C0ALERTS", "/recall", "vendor:Razorpay limit:2", user="bob")
    profile = await desk.whisper("bob")
    assert "Razorpay: 6 incidents in 6 outages" in profile or "razorpay: 6 incidents in 6 outages" in profile
    assert "504 → *vendor in 6 of 6* (6 outages)" in profile
    assert "worked 6 of 6" in profile
    assert "+4 more" in profile
    names = build_vendor_directory([Vendor("razorpay", "payments", ("quickpay",))])
    named = replace(desk.deps, profile_vendor=replace(desk.deps.profile_vendor, names=names))
    assert "6 incidents" in cases.shown((await answer_text(named, "vendor:QuickPay", PUBLIC)).blocks)
    await slack.slash("C0ALERTS", "/recall", "vendor:nobody", user="gina")
    assert "No incident is recorded that names *nobody*" in await desk.whisper("gina")
