"""What setup finds out about tokens, channels and events, on the local Slack."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from bot.bootstrap.modes.playground import read_manifest
from bot.bootstrap.system import SystemClock
from bot.doctor.finding import Finding
from bot.domain.access.visibility import Viewer
from bot.domain.alerts.alert import Alert
from bot.domain.brief.decide import Brief
from bot.domain.operations.setup_answers import NamedChannel
from bot.domain.operations.setup_steps import explain_silence
from bot.playground.server import LocalSlack
from bot.ports.errors import ChatRejected, ChatUnavailable
from bot.settings import Settings
from bot.setup import checks as look
from bot.slack.client import first_events
from bot.slack.client.app_info import find_channel_by_id
from bot.slack.client.chat import SlackChat, build_web_client
from bot.slack.client.first_events import watch_first_events
from bot.workflows.recall.preview_brief import PreviewBrief

PAGES = NamedChannel("pages")


@pytest.fixture
async def slack() -> AsyncIterator[LocalSlack]:
    async with await LocalSlack.start(manifest=read_manifest(), ack_timeout_s=0.2, retry_delays_s=(0.05,)) as started:
        started.core.workspace.add_channel("C0PAGES", "pages", is_private=True, members=["alice"], bot=False)
        yield started


def settings(slack: LocalSlack, **changes: object) -> Settings:
    tokens = {"slack_bot_token": slack.bot_token, "slack_app_token": slack.app_token, "slack_api_url": slack.api_url}
    return Settings(**(tokens | changes))  # type: ignore[arg-type]  # told by name


async def test_tokens_are_looked_at_as_doctor_does_without_speaking_of_a_running_bot(slack: LocalSlack) -> None:
    slack.core.installed.app_token = "xapp-1-A0SOMEOTHER-1-abc"
    other = await look.check_app_token(settings(slack))
    assert (other.ok, "is of the app A0SOMEOTHER" in other.detail) == (False, True)
    slack.core.installed.app_token = "xapp-1-A0PRECEDENT-1-abc"
    assert (await look.check_app_token(settings(slack))).ok is True
    await slack.switch_socket_mode(on=False)
    off = await look.check_app_token(settings(slack))
    assert (off.ok, "“Enable Socket Mode” on" in off.fix) == (None, True)
    unknown = await look.check_bot_token(settings(slack, slack_bot_token="xoxb-unknown"))
    assert (unknown.ok, "copy “Bot User OAuth Token”" in unknown.fix) == (False, True)
    assert not any("restart" in finding.fix for finding in (other, off, unknown))


async def test_asked_to_wait_it_waits_once(slack: LocalSlack) -> None:
    await slack.limit(1, "apps.connections.open")
    assert (await look.check_app_token(settings(slack), wait_s=0.0)).ok is True
    await slack.limit(2, "apps.connections.open")
    with pytest.raises(ChatUnavailable):
        await look.check_app_token(settings(slack), wait_s=0.0)


async def test_a_private_channel_is_found_by_the_invitation_and_another_one_is_not_taken_for_it(
    slack: LocalSlack,
) -> None:
    said: list[str] = []
    listening = asyncio.ensure_future(look.listen(settings(slack), PAGES, 20, said.append))
    await slack.wait_until(lambda: said)
    assert "The bot sees no #pages yet: it is private" in said[0]
    await slack.add_channel("other", members=["alice"], bot=False)
    await slack.invite("#other")
    await slack.wait_until(lambda: len(said) > 1)
    assert said[1] == "The bot was invited to #other. I still listen for #pages."
    await slack.invite("#pages")
    await slack.wait_until(lambda: len(said) > 2)
    await slack.post("#pages", "hello", user="alice")
    found = await listening
    assert (found.arrived, found.channel and found.channel.id) == (True, "C0PAGES")
    assert len(said) == 3  # what Slack sends again is told once


async def test_another_copy_of_the_bot_may_have_got_the_event(slack: LocalSlack) -> None:
    await slack.invite("#pages")
    async with watch_first_events(slack.app_token, slack.api_url, SystemClock()):
        found = await look.listen(settings(slack), PAGES, 0.1, lambda _: None)
    assert "2 connections open" in explain_silence(found.silence, "pages", 0.1)[0]


async def test_a_websocket_that_cannot_be_opened_is_said(slack: LocalSlack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_events, "CONNECT_S", 0.1)
    config = settings(slack)
    slack.core.url = "http://127.0.0.1:9"
    with pytest.raises(ChatUnavailable, match="websocket"):
        await look.listen(config, PAGES, 1, lambda _: None)


async def test_what_slack_refuses_for_other_reasons_is_not_taken_for_an_unknown_channel(slack: LocalSlack) -> None:
    chat = SlackChat(build_web_client(slack.bot_token, slack.api_url), SystemClock())
    assert await find_channel_by_id(chat, "C0NOSUCH") is None
    await slack.refuse_scope("channels:read")
    with pytest.raises(ChatRejected):
        await find_channel_by_id(chat, "C0ALERTS")


async def test_a_database_of_its_own(slack: LocalSlack, tmp_path: Path) -> None:
    url = f"sqlite+aiosqlite:///{tmp_path / 'made.db'}"
    await look.make_tables(settings(slack, database_url=url))
    assert (await look.check_store(settings(slack, database_url=url))).ok is True
    odd = await look.check_store(settings(slack, database_url="postgresql://u:pw@[::1/db"))
    assert (odd.ok, look.is_without_tables(odd)) == (False, False)  # so that it asks again
    elsewhere = await look.check_store(settings(slack, database_url=f"{url}/x.db"))
    assert elsewhere.ok is False
    assert not look.is_without_tables(elsewhere)
    assert look.is_without_tables(Finding("Database", False, "db:5432 has no tables of Precedent yet"))


async def test_the_test_alert_is_answered_with_the_eyes_of_its_channel(slack: LocalSlack, tmp_path: Path) -> None:
    eyes: list[Viewer] = []
    decides = PreviewBrief

    def watched(*parts: Any) -> Any:
        async def brief(alert: Alert, viewer: Viewer, at: datetime) -> Brief:
            eyes.append(viewer)
            return await decides(*parts)(alert, viewer, at)

        return brief

    here = settings(slack, database_url=f"sqlite+aiosqlite:///{tmp_path / 'made.db'}")
    await slack.invite("#pages")
    channel = await look.find_channel(here, PAGES)
    assert channel is not None
    await look.post_test_alert(here, channel, build_preview=watched)
    assert eyes == [channel.viewer]


async def test_what_is_only_looked_at_is_not_acknowledged(slack: LocalSlack) -> None:
    await slack.invite("#pages")
    async with watch_first_events(slack.app_token, slack.api_url, SystemClock()) as heard, asyncio.timeout(5):
        await slack.post("#pages", "hello", user="alice")
        sent: list[str | None] = []
        while sent.count("hello") < 2:  # so Slack sends it again: it still belongs to the bot
            sent.append((await heard.events.get()).get("text"))
