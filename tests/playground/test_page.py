"""The page in a real browser: what a person can do there, and that nothing from messages becomes markup."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.adapters.chart import MatplotlibCharts
from bot.bootstrap.system import SystemClock
from bot.playground import LocalSlack
from bot.ports.files import build_picture_upload, build_postmortem_upload
from bot.slack.client.chat import SlackChat
from tests.adapters.chart_support import CHART
from tests.playground.bolt_support import BUTTONS, MODAL
from tests.playground.browser import opened
from tests.playground.conftest import connected

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="session")]
SEEDS = Path(__file__).parents[2] / "seeds"
MANIFEST = {
    "features": {
        "slash_commands": [{"command": "/recall"}],
        "shortcuts": [{"name": "Record resolution", "type": "message", "callback_id": "from_message"}],
    }
}
HOSTILE = '<img src=x onerror="window.hit=1"> &lt;script&gt;window.hit=1&lt;/script&gt; <javascript:window.hit=1|click>'


@pytest_asyncio.fixture(loop_scope="session")
async def slack() -> AsyncIterator[LocalSlack]:
    async with await LocalSlack.start(seeds_dir=SEEDS, manifest=MANIFEST, retry_delays_s=()) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Browser, slack: LocalSlack) -> AsyncIterator[Page]:
    async with opened(browser, slack.url) as page:
        yield page


def answering(app: AsyncApp) -> None:
    """A brief in the thread of each alert, and a modal that wants more than two letters."""

    @app.event("message")
    async def on_message(event: dict[str, Any], client: AsyncWebClient) -> None:
        if not event.get("thread_ts") and not event.get("hidden"):
            await client.chat_postMessage(channel=event["channel"], thread_ts=event["ts"], text="brief", blocks=BUTTONS)

    @app.action("record")
    @app.shortcut("from_message")
    async def on_record(ack: Any, body: dict[str, Any], client: AsyncWebClient) -> None:
        await ack()
        await client.views_open(trigger_id=body["trigger_id"], view=MODAL)

    @app.view("record")
    async def on_submit(ack: Any, view: dict[str, Any], client: AsyncWebClient) -> None:
        text = view["state"]["values"]["cause"]["cause_text"]["value"]
        if len(text) < 3:
            await ack(response_action="errors", errors={"cause": "say more"})
            return
        await ack()
        await client.chat_postEphemeral(channel="C0ALERTS", user="U0JONAS", text=f"recorded: {text}")

    @app.command("/recall")
    async def on_recall(ack: Any, command: dict[str, Any]) -> None:
        await ack(f"looked for {command['text']}")

    @app.event("app_home_opened")
    async def on_home(event: dict[str, Any], client: AsyncWebClient) -> None:
        header = {"type": "header", "text": {"type": "plain_text", "text": "Memory"}}
        await client.views_publish(user_id=event["user"], view={"type": "home", "blocks": [header]})


async def test_from_alert_to_recorded_resolution(slack: LocalSlack, app: AsyncApp, page: Page) -> None:
    answering(app)
    async with connected(slack, app):
        await page.select_option("#actas", label="Jonas Weber")
        await page.select_option("#sample", "payment-gateway-504")
        await page.click("text=Post alert")
        await page.click(".replies")
        await page.click("#replies >> text=Record…")
        await page.fill("#modal input", "db")
        await page.select_option("#modal select", "yes")
        await page.click("#modal [type=submit]")
        await expect(page.locator("#modal .error")).to_have_text("say more")
        assert await page.input_value("#modal input") == "db"
        await page.fill("#modal input", "vendor outage")
        await page.click("#modal [type=submit]")
        await expect(page.locator("#modal")).not_to_be_visible()
        note = page.locator(".message.only")
        await expect(note).to_contain_text("Only visible to you")
        await expect(note).to_contain_text("recorded: vendor outage")
        await page.select_option("#actas", label="Maya Iyer")
        await expect(note).to_have_count(0)


async def test_what_was_typed_goes_along_with_a_button_of_the_modal(
    slack: LocalSlack, app: AsyncApp, page: Page
) -> None:
    button = {"type": "button", "action_id": "more", "text": {"type": "plain_text", "text": "More…"}}
    modal: Any = MODAL
    view = modal | {"blocks": [*modal["blocks"], {"type": "actions", "elements": [button]}]}

    @app.shortcut("from_message")
    async def on_record(ack: Any, body: dict[str, Any], client: AsyncWebClient) -> None:
        await ack()
        await client.views_open(trigger_id=body["trigger_id"], view=view)

    @app.action("more")
    async def on_more(ack: Any, body: dict[str, Any], client: AsyncWebClient) -> None:
        await ack()
        said = body["view"]["state"]["values"]["cause"]["cause_text"]["value"]
        first = {**modal["blocks"][0], "block_id": "cause#1"}
        first["element"] = {**first["element"], "initial_value": f"{said} and more"}
        await client.views_update(view_id=body["view"]["id"], view=modal | {"blocks": [first]})

    async with connected(slack, app):
        posted = await slack.post("#alerts", "slow")
        await slack.shortcut("from_message", "#alerts", posted["ts"])
        await page.fill("#modal input", "the pool")
        await page.click("#modal >> text=More…")
        await expect(page.locator("#modal input")).to_have_value("the pool and more")


async def test_commands_shortcuts_and_home(slack: LocalSlack, app: AsyncApp, page: Page) -> None:
    answering(app)
    async with connected(slack, app):
        await page.fill("#draft", "/recall razorpay 504")
        await page.press("#draft", "Enter")
        await expect(page.locator(".message.only")).to_contain_text("looked for razorpay 504")
        await page.fill("#draft", "hello @precedent")
        await page.press("#draft", "Enter")
        await expect(page.locator("#messages .mention")).to_have_text("@Precedent")
        message = page.locator("#messages .message").last
        await message.locator(".replies").click()
        await page.fill("#threaddraft", "/recall x")
        await page.press("#threaddraft", "Enter")
        await expect(page.locator(".toast")).to_have_text("/recall is not supported in threads. Sorry!")
        await message.hover()
        await message.locator("summary").click()
        await page.click("text=Record resolution")
        await expect(page.locator("#modaltitle")).to_have_text("Record")
        await page.keyboard.press("Escape")
        await expect(page.locator("#modal")).not_to_be_visible()
        assert slack.views() == []
        await page.click("text=Precedent Home")
        await expect(page.locator("#home h3")).to_have_text("Memory")


async def test_text_from_messages_stays_text(slack: LocalSlack, app: AsyncApp, page: Page) -> None:
    section = {"type": "section", "text": {"type": "mrkdwn", "text": HOSTILE}}
    button = {"type": "button", "text": {"type": "plain_text", "text": "open"}, "url": "javascript:window.hit=1"}
    await app.client.chat_postMessage(
        channel="C0ALERTS", text="x", blocks=[section, {"type": "actions", "elements": [button]}]
    )
    hostile = {
        "title": HOSTILE,
        "title_link": "javascript:window.hit=1",
        "text": HOSTILE,
        "color": "red;x:url(//x)",
        "fields": [{"title": HOSTILE, "value": HOSTILE}],
    }
    await slack.post_alert("#alerts", {"username": HOSTILE, "attachments": [hostile]})
    await slack.post("#alerts", HOSTILE)
    await expect(page.locator("#messages .message")).to_have_count(3)
    assert await page.locator("#messages img, #messages script").count() == 0
    assert await page.locator('#messages a[href^="javascript"]').count() == 0
    await expect(page.locator("#messages .b-section")).to_contain_text("<script>window.hit=1</script>")
    await page.click("#messages button:has-text('open')")
    assert await page.evaluate("window.hit") is None


async def test_every_sample_alert_is_drawn_also_on_a_phone(slack: LocalSlack, page: Page) -> None:
    await page.set_viewport_size({"width": 390, "height": 844})
    for name in slack.samples:
        await slack.post_sample("#alerts", name)
    await expect(page.locator("#messages .message")).to_have_count(len(slack.samples))
    assert await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


async def test_traffic_and_faults_are_at_hand(slack: LocalSlack, app: AsyncApp, page: Page) -> None:
    answering(app)
    async with connected(slack, app):
        await page.click("text=Make Slack misbehave")
        await page.click("text=429 for the next 3 calls")
        await expect(page.locator(".toast")).to_have_text("429 for the next 3 calls")
        await slack.post("#alerts", "x")
        await page.click("#traffictoggle")
        row = page.locator("#entries summary.bad", has_text="auth.test").first
        await expect(row).to_contain_text("ratelimited")
        await row.click()
        await expect(page.locator("#entries pre")).to_contain_text('"status": 429')
        await page.click("text=Heal everything")
        assert slack.core.knobs.limited == {}


async def test_a_picture_and_a_text_file_are_shown(slack: LocalSlack, page: Page, client: AsyncWebClient) -> None:
    root = await slack.post("alerts", "here it is")
    chat = SlackChat(client, SystemClock())
    png = await MatplotlibCharts().render_png(CHART)
    shown = build_picture_upload("C0ALERTS", "d1", "digest.png", "A digest", CHART)
    await chat.deliver(replace(shown, thread_ts=root["ts"], content=png))
    text = build_postmortem_upload("C0ALERTS", "d2", "pm.md", root["ts"], "INC-7", "U0BOB")
    await chat.deliver(replace(text, content=b"# INC-7 <img src=x onerror=alert(1)>"))
    await page.goto(f"{slack.url}/#C0ALERTS/{root['ts']}")
    picture = page.locator("#replies img")
    await expect(picture).to_have_attribute("alt", CHART.alt)
    await page.wait_for_function("document.querySelector('#replies img').naturalWidth === 1080")
    await expect(page.locator("#replies pre")).to_have_text("# INC-7 <img src=x onerror=alert(1)>")
