"""A local Slack, and a small Bolt app against it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio
from playwright.async_api import Browser
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.playground import LocalSlack
from tests.playground.browser import launched


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """One for all tests of the page, which run in the session's loop."""
    async with launched() as running:
        yield running


@pytest.fixture
async def slack() -> AsyncIterator[LocalSlack]:
    """Patient with acks, so that a busy machine fails no test; tests that wait for a missing ack shorten it."""
    async with await LocalSlack.start(ack_timeout_s=3.0, retry_delays_s=(0.01, 0.01, 0.01)) as running:
        yield running


@pytest.fixture
def client(slack: LocalSlack) -> AsyncWebClient:
    return AsyncWebClient(token=slack.bot_token, base_url=slack.api_url)


@pytest.fixture
def app(slack: LocalSlack, client: AsyncWebClient) -> AsyncApp:
    return AsyncApp(client=client, signing_secret=slack.signing_secret)


@asynccontextmanager
async def connected(slack: LocalSlack, app: AsyncApp) -> AsyncIterator[AsyncSocketModeHandler]:
    """The app listening by Socket Mode."""
    web_client = AsyncWebClient(token=slack.app_token, base_url=slack.api_url)
    handler = AsyncSocketModeHandler(app, slack.app_token, web_client=web_client)
    await handler.connect_async()
    await slack.wait_connected()
    try:
        yield handler
    finally:
        await handler.close_async()
