"""The main job, with the real bot as its own process: alert, brief, button, modal, next alert; over both transports.

Starting a bot takes longer than any of these tests, so they share one for each transport, and each has its own alerts.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from bot.slack import ids
from tests.e2e.process import BotProcess, said, served, until
from tests.e2e.story_support import ALERT, CHANNEL, alert, block, brief_of

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["socket", "http"])
async def bot(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[BotProcess]:
    http = request.param == "http"
    async with served(tmp_path_factory.mktemp("story"), http=http, EMBEDDINGS="off" if http else "on") as running:
        yield running


def incident_of(brief: dict[str, Any]) -> str:
    """The incident that a brief belongs to."""
    return str(brief["metadata"]["event_payload"]["incident_id"])


async def test_from_alert_to_the_next_alert_that_knows(bot: BotProcess) -> None:
    slack = bot.slack
    first = await slack.post_alert(CHANNEL, ALERT)
    brief = await brief_of(bot, first["ts"])
    assert "INSUFFICIENT_MEMORY" in said(brief)

    await slack.click(CHANNEL, brief["ts"], ids.RECORD)
    await until(slack, slack.view)
    refused = await slack.submit_view({block(ids.OUTCOME): "recovered", block(ids.ROOT_CAUSE): "compaction"})
    assert ids.FIX in refused.errors
    assert slack.view() is not None

    accepted = await slack.submit_view(
        {block(ids.FIX): "Rebuild the partition\nRun the verifier", block(ids.FAILED_CHECKS): "Disk errors, 20"}
    )
    assert accepted.acked
    assert accepted.errors == {}
    recorded = await brief_of(bot, first["ts"], 2)
    assert "Rebuild the partition" in said(recorded)

    second = await slack.post_alert(CHANNEL, ALERT)
    known = said(await brief_of(bot, second["ts"]))
    for part in (
        "Rebuild the partition",
        "Run the verifier",
        "MEDIUM",
        "compaction",
        "Disk errors",
        incident_of(brief),
    ):
        assert part in known, part


async def test_this_fixed_it_is_two_clicks(bot: BotProcess, tmp_path: Path) -> None:
    slack, fired = bot.slack, alert("CertificateExpired", "partner-gateway")
    records = tmp_path / "known.jsonl"
    records.write_text(
        '{"incident_id": "OLD-1", "title": "CertificateExpired", "service": "partner-gateway", "boundary": "internal",'
        ' "root_cause": "renewal was off", "attempts": [{"fix": "Renew the certificate", "status": "VERIFIED"}]}\n'
    )
    await bot.import_records(records)
    posted = await slack.post_alert(CHANNEL, fired)
    brief = await brief_of(bot, posted["ts"])
    assert "Renew the certificate" in said(brief)
    done = await slack.click(CHANNEL, brief["ts"], ids.FIXED)
    assert done.acked
    recorded = await brief_of(bot, posted["ts"], 2)
    assert "Renew the certificate" in said(recorded)
    again = await slack.click(CHANNEL, brief["ts"], ids.FIXED)
    assert again.acked
    later = await slack.post_alert(CHANNEL, fired)
    assert "worked 2 of 2" in said(await brief_of(bot, later["ts"]))


async def test_one_event_three_times_gives_one_reply_also_over_a_clean_stop_and_a_restart(bot: BotProcess) -> None:
    slack = bot.slack
    await slack.duplicate(3)
    posted = await slack.post_alert(CHANNEL, alert("QueueStuck", "mail-sender"))
    await brief_of(bot, posted["ts"])
    await slack.heal()
    await slack.hide_retries()
    await slack.drop_acks(2)
    hidden = await slack.post_alert(CHANNEL, alert("DiskFull", "reports"))
    await brief_of(bot, hidden["ts"])
    await slack.heal()
    assert await bot.stop() == 0
    await bot.start()
    event = next(d for d in slack.deliveries() if d["payload"].get("event", {}).get("ts") == posted["ts"])
    slack.core.courier.post_event(event["payload"])
    await slack.core.idle(15)
    marker = await slack.post_alert(CHANNEL, alert("CertExpiry", "edge"))
    await brief_of(bot, marker["ts"])
    assert len(slack.replies(CHANNEL, posted["ts"])) == 1
    assert len(slack.replies(CHANNEL, hidden["ts"])) == 1


async def test_what_is_no_alert_is_silenced_listed_and_undone(bot: BotProcess) -> None:
    slack, fired = bot.slack, alert("ReplicaLag", "search-index")
    posted = await slack.post_alert(CHANNEL, fired)
    brief = await brief_of(bot, posted["ts"])
    menu = next(e for b in brief["blocks"] if b["type"] == "actions" for e in b["elements"] if e["type"] == "overflow")
    await slack.click(CHANNEL, brief["ts"], ids.MORE, choice=menu["options"][-1]["value"])
    await until(slack, slack.view)
    assert (await slack.submit_view()).errors == {}
    await until(slack, lambda: slack.replies(CHANNEL, posted["ts"]) == [])

    await slack.post_alert(CHANNEL, fired)
    await slack.slash(CHANNEL, "/precedent", "rules")
    listed = await whispered(bot, "Not an alert")
    await slack.click(CHANNEL, listed["ts"], ids.UNDO)
    await whispered(bot, "Nothing is silenced")
    again = await slack.post_alert(CHANNEL, fired)
    # nothing was opened while it was silenced
    number = int(incident_of(brief).removeprefix("INC-"))
    assert incident_of(await brief_of(bot, again["ts"])) == f"INC-{number + 1}"


async def whispered(bot: BotProcess, sign: str) -> dict[str, Any]:
    """The ephemeral message that says this."""
    found = await until(bot.slack, lambda: [e for e in bot.slack.ephemerals() if sign in said(e)])
    return dict(found[0])
