"""`precedent backfill` as it is typed: what it prints, and how it ends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.bootstrap.modes.playground import read_manifest
from bot.playground import LocalSlack
from tests.bootstrap.past import CLEARED, FIRING, Past
from tests.cli.command import Precedent, Ran
from tests.databases import fresh

Command = Callable[..., Any]


@pytest.fixture
async def slack() -> AsyncIterator[LocalSlack]:
    async with await LocalSlack.start(manifest=read_manifest()) as started:
        yield started


@pytest.fixture
def backfill(slack: LocalSlack, tmp_path: Path) -> Command:
    fresh(tmp_path / "cli.db")
    precedent = Precedent(tmp_path)

    async def typed(*arguments: str, **settings: str) -> Ran:
        known = {"SLACK_BOT_TOKEN": slack.bot_token, "SLACK_API_URL": slack.api_url} | settings
        return await asyncio.to_thread(precedent, "backfill", *arguments, **known)

    return typed


async def test_it_prints_what_was_read_and_what_is_worth_recording(slack: LocalSlack, backfill: Command) -> None:
    past = Past(slack, now=datetime.now(tz=UTC))
    for days in (30, 20):
        root = past.tool(FIRING, past.ago(days=days))
        past.person("failing over", past.ago(days=days) + timedelta(minutes=2), root)
        past.tool(CLEARED, past.ago(days=days) + timedelta(minutes=9))
    for n in range(14):
        past.tool("chatter/github_pr_bot", past.ago(days=9, minutes=n), username=f"Bot\x1b[2J {n}")
    past.tool("sentry/issue_new", past.ago(days=5))
    past.sort()
    nothing = await backfill("#alerts", "--list")
    assert (nothing.returncode, "precedent backfill '#alerts' reads it" in nothing.stderr) == (1, True)
    ran = await backfill("#alerts", "#nowhere", "--calls-a-minute", "5000")
    assert ran.returncode == 1
    assert "The bot is not in #nowhere" in ran.stderr
    assert "#alerts: 100 %, up to " in ran.stderr
    assert "\x1b" not in ran.stdout
    for said in (
        "19 messages, 2 answers in threads of alerts; 2 by people",
        "read as alerts: alertmanager 4, sentry 1",
        "3 incidents of 2 alerts; 0 still open",
        "2× PaymentGatewayErrorRateHigh (checkout-api), alertmanager, in 2 incidents",
        "+2 more",
        "1 person wrote 1 message, cleared after 9 min, 1 other thread about it",
        "/archives/C0ALERTS/p",
    ):
        assert said in ran.stdout, ran.stdout
    listed = await backfill("alerts", "--list", "--json", SLACK_BOT_TOKEN="", SLACK_API_URL="http://127.0.0.1:9/")
    (found,) = json.loads(listed.stdout)["channels"]
    assert (found["name"], found["messages"], found["alerts"]) == ("alerts", 19, {"alertmanager": 4, "sentry": 1})
    assert sum(found["not_read_as_alerts"].values()) == 14
    (worth,) = found["worth_recording"]
    assert (worth["fired"], worth["people"], worth["messages"], worth["more"]) == (2, 1, 1, 1)


async def test_an_empty_channel_and_a_slack_that_is_away(backfill: Command) -> None:
    empty = await backfill("#alerts", "--days", "3")
    assert empty.returncode == 0
    assert "read as alerts: none" in empty.stdout
    assert "No thread is worth recording" in empty.stdout
    away = await backfill("#alerts", SLACK_API_URL="http://127.0.0.1:9/")
    assert away.returncode == 3
    assert "Slack cannot be reached" in away.stderr
    assert "the same command goes on from there" in away.stderr
