"""The running bot with sources of evidence: a pipeline tells of a deploy, log files and a vendor's page are read, and the
brief of the next alert shows all three under NOW."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp
import pytest
from pydantic import SecretStr

from bot.bootstrap.application import Application, run_application
from bot.bootstrap.modes.playground import build_local_settings, read_manifest
from bot.bootstrap.modes.seeds import SEEDS
from bot.playground.server import LocalSlack
from tests.adapters.evidence.servers import SOURCES, served
from tests.e2e.intake_support import CHANNEL, TOKEN, Served
from tests.e2e.process import said

pytestmark = pytest.mark.integration  # for its length; it needs no service

CONFIG = """
[logs.app]
kind = "files"
folder = "{folder}"
[vendors.razorpay]
status_page = "{url}"
[deploy_posts]
channels = ["{channel}"]
[services.checkout-api]
logs.app = "*.jsonl"
"""
ALERT = {
    "title": "Checkout fails",
    "severity": "critical",
    "service": "checkout-api",
    "vendor": "razorpay",
    "environment": "prod",
}


def log_of(folder: Path) -> None:
    at = datetime.now(tz=UTC) - timedelta(minutes=2)
    lines = [{"time": at.isoformat(), "level": "error", "msg": f"pool exhausted after {n} ms"} for n in range(7)]
    (folder / "app.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


async def versions(bot: Application, many: int) -> set[str | None]:
    """The versions that are kept, once there are so many."""
    for _ in range(200):
        kept = await bot.memory.store.deploy_log.list_latest(
            "checkout-api", datetime.now(tz=UTC) + timedelta(minutes=5), 9
        )
        if len(kept) == many:
            break
        await asyncio.sleep(0.05)
    return {deploy.version for deploy in kept}


async def test_deploys_logs_and_the_vendors_page_stand_under_now(tmp_path: Path) -> None:
    log_of(tmp_path)
    async with (
        await LocalSlack.start(seeds_dir=SEEDS, manifest=read_manifest()) as slack,
        served(SOURCES["statuspage"].good) as (_, url),
    ):
        channel = await slack.add_channel(CHANNEL, members=["maya"], bot=True)
        file = tmp_path / "precedent.toml"
        file.write_text(CONFIG.format(folder=tmp_path, url=url, channel=channel))
        changes = {"webhook_token": SecretStr(TOKEN), "webhook_channel": channel, "precedent_config": file}
        settings = build_local_settings(slack, tmp_path / "bot.db").model_copy(update=changes)
        async with run_application(settings) as bot:
            desk = Served(slack, bot, channel)
            told = {"service": "checkout-api", "version": "v142", "environment": "production", "by": "ci"}
            assert (await desk.send("deploy", told, token="wrong"))[0] == 401
            assert (await desk.send("deploy", told))[1]["repeated"] is False
            post = {
                "type": "message",
                "subtype": "bot_message",
                "bot_id": "B0CD",
                "text": "Deployed checkout-api v141 to prod",
            }
            await slack.deliver_message(channel, post)
            assert await versions(bot, 2) == {"v142", "v141"}
            assert (await desk.send("generic", ALERT))[0] == 200
            (brief,) = await slack.wait_until(desk.replies, 20)
            shown = said(brief)
            async with (
                aiohttp.ClientSession() as session,
                session.get(f"http://127.0.0.1:{bot.port}/metrics") as answer,
            ):
                metrics = await answer.text()
    for part in (
        "NOW",
        "v142 to production by ci",
        "7× pool exhausted after",
        "razorpay status page",
        "partial outage: UPI payments",
    ):
        assert part in shown
    for source in ("app", "status page", "deploys told to Precedent"):
        assert f'precedent_evidence_seconds_count{{outcome="observed",source="{source}"}}' in metrics
    assert 'precedent_stage_seconds_count{stage="recall"}' in metrics
    assert 'precedent_dependency_up{dependency="Store"} 1.0' in metrics
