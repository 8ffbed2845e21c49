"""Alertmanager's own webhook against the running bot on the local Slack: one post, its brief, and the end of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.bootstrap.application import run_application
from bot.bootstrap.modes.playground import build_local_settings, read_manifest
from bot.bootstrap.modes.seeds import SEEDS
from bot.playground.server import LocalSlack
from tests.e2e.intake_support import CHANNEL, TOKEN, Served
from tests.e2e.process import said
from tests.web.bodies import GENERIC, sent

pytestmark = pytest.mark.integration  # for its length; it needs no service


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with await LocalSlack.start(seeds_dir=SEEDS, manifest=read_manifest()) as slack:
        channel_id = await slack.add_channel(CHANNEL, members=["maya"], bot=True)
        settings = build_local_settings(slack, tmp_path / "bot.db").model_copy(
            update={"webhook_token": SecretStr(TOKEN), "webhook_channel": channel_id}
        )
        async with run_application(settings) as bot:
            yield Served(slack, bot, channel_id)


async def test_fire_retry_and_resolve_by_webhook(served: Served) -> None:
    assert (await served.send("alertmanager", sent("firing")))[1]["repeated"] is False
    assert (await served.send("alertmanager", sent("firing")))[1]["repeated"] is True
    (brief,) = await served.slack.wait_until(served.replies, 15)
    roots = [m for m in served.slack.messages(CHANNEL) if m["ts"] == brief["thread_ts"]]
    assert "PaymentGatewayErrorRateHigh" in said(roots[0])
    assert "Firing" in said(roots[0])
    assert "checkout-api" in said(brief)
    assert (await served.send("alertmanager", sent("resolved")))[0] == 200
    await served.slack.wait_until(lambda: [m for m in served.slack.messages(CHANNEL) if m["ts"] == brief["thread_ts"] and "Resolved" in said(m)], 15)  # fmt: skip
    await served.slack.wait_until(lambda: [m for m in served.replies() if "leared" in said(m)], 15)
    life = await served.bot.memory.incidents.read_lifecycle("INC-1")
    assert life.state.value == "cleared"
    assert len(served.replies()) == 1


async def test_two_alerts_of_the_generic_json_are_two_incidents_and_a_wrong_token_none(served: Served) -> None:
    assert (await served.send("generic", GENERIC, token="wrong"))[0] == 401
    for service in ("checkout-api", "ledger-api"):
        assert (await served.send("generic", {**GENERIC, "service": service}))[0] == 200
    await served.slack.wait_until(lambda: len(served.replies()) == 2 or None, 20)
    await asyncio.sleep(0.3)
    assert len({m["thread_ts"] for m in served.replies()}) == 2
