"""The page with the bot behind it, in a real browser: the story, a storm, hostile text, and accessibility."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from bot.bootstrap.modes.playground import Playground
from bot.playground import LocalSlack
from tests.playground.browser import DESKTOP, PHONE, findings, opened

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="session")]
ALERT = "payment-gateway-504"
NOTE_REFUSAL = """new MutationObserver(() => {
  window.refused ??= document.querySelector("#modal .error")?.textContent;
}).observe(document.body, {subtree: true, childList: true})"""
HIT = "window.hit=1"
CORPUS = (
    f"<script>{HIT}</script>",
    f"</script><script>{HIT}</script>",
    f'<img src=x onerror="{HIT}">',
    f"<svg/onload={HIT}>",
    f"<svg><animate onbegin={HIT} attributeName=x dur=1s>",
    f"<iframe srcdoc='<script>parent.{HIT}</script>'></iframe>",
    f"<details open ontoggle={HIT}>",
    f"<a href='javascript:{HIT}'>x</a>",
    f"<javascript:{HIT}|click>",
    f"<JaVaScRiPt:{HIT}|click>",
    f"<data:text/html,<script>{HIT}</script>|click>",
    f'<https://x.example/"onmouseover="{HIT}|click>',
    f"<https://x.example|<img src=x onerror={HIT}>>",
    f"&lt;img src=x onerror={HIT}&gt;",
    f"&amp;lt;script&amp;gt;{HIT}",
    f"```<img src=x onerror={HIT}>```",
    f"`<img src=x onerror={HIT}>`",
    f"*<img src=x onerror={HIT}>*",
    f"> <img src=x onerror={HIT}>",
    f"<@U0MAYA|<img src=x onerror={HIT}>>",
    f"<!here|<img src=x onerror={HIT}>>",
    "<style>@import'//x.example'</style><link rel=stylesheet href=//x.example>",
    f"{{{{constructor.constructor('{HIT}')()}}}} ${{{HIT}}}",
    "\u202e<img src=x onerror=window.hit=1>\u2066",
    "__proto__ :constructor: :__proto__: <@constructor> <#__proto__>",
)


async def settled(page: Page, replies: int) -> None:
    await expect(page.locator("#messages .replies")).to_have_count(replies, timeout=20_000)


async def test_the_story_plays_itself_and_what_it_taught_can_be_switched_off_and_reset(browser: Browser) -> None:
    async with Playground().open() as open_, opened(browser, open_.slack.url, "/?pace=40") as page:
        await page.evaluate(NOTE_REFUSAL)
        await page.click("#storystart")
        await page.click("#storypause")
        told = await page.inner_text("#storytext")
        assert await page.inner_text("#storypause") == "Continue"
        await page.wait_for_timeout(400)
        assert await page.inner_text("#storytext") == told
        await page.click("#storypause")
        await expect(page.locator("#story")).to_be_hidden(timeout=40_000)
        await expect(page.locator(".toast")).to_have_count(0)
        assert await page.evaluate("window.refused") == "Please complete this required field."
        brief = page.locator("#replies .message").last
        await expect(brief).to_contain_text("HIGH · worked 4 of 4")
        await expect(brief).to_contain_text(re.compile(r"Restart payments-api \(failed [23]×: INC-31"))
        await expect(page.locator("#messages .divider.day")).to_have_count(2)

        await page.click("#traffictoggle")
        await expect(page.locator("#trafficsum")).to_contain_text("0 missing acks")
        await page.select_option("#trafficwhat", "call")
        await page.fill("#trafficfind", "views.open")
        await expect(page.locator("#entries b")).to_have_text(["views.open"] * 2)
        shown = await page.evaluate("fetch('/control/traffic?last=2000').then((r) => r.text())")
        assert "xoxb" not in shown
        assert "xapp" not in shown
        assert {e["args"]["trigger_id"] for e in json.loads(shown)["entries"] if e["name"] == "views.open"} == {
            "[hidden]"
        }
        await page.click("#trafficclose")

        await page.click("#memory")
        await expect(page.locator("#memory")).to_have_attribute("aria-checked", "false")
        await page.select_option("#sample", "unknown-ledger-drift")
        await page.click("text=Post alert")
        await settled(page, 3)
        await page.locator("#messages .replies").last.click()
        await expect(page.locator("#replies .message").last).to_contain_text("switched off in the playground")

        await page.click("#reset")
        await page.click("#confirm .danger")
        await expect(page.locator("#empty")).to_contain_text("This is the beginning of #alerts", timeout=20_000)
        await expect(page.locator("#memory")).to_have_attribute("aria-checked", "true")
        await page.select_option("#sample", ALERT)
        await page.click("text=Post alert")
        await page.click("#messages .replies")
        await expect(page.locator("#replies .message").last).to_contain_text("worked 3 of 3")


async def test_accessible_in_both_themes_with_thread_modal_traffic_and_on_a_phone(browser: Browser) -> None:
    async with Playground().open() as open_, opened(browser, open_.slack.url, reduced_motion="reduce") as page:
        assert await findings(page) == []
        await step_through_the_beginning(page)
        await page.click("#messages .replies")
        await expect(page.locator("#threadtitle")).to_be_focused()
        for scheme in ("light", "dark"):
            await page.emulate_media(color_scheme=scheme)
            await page.set_viewport_size(DESKTOP)
            await page.click("#traffictoggle")
            await page.locator("#entries summary").first.click()
            assert await findings(page) == []
            await page.click("#trafficclose")
            await page.click("#replies >> text=Record…")
            await page.click("#modal [type=submit]")
            await expect(page.locator("#modal select").first).to_be_focused()
            assert await findings(page) == []
            await page.keyboard.press("Escape")
            await expect(page.locator("#modal")).to_be_hidden()
            await page.set_viewport_size(PHONE)
            assert await findings(page) == []
            await page.keyboard.press("Escape")
            await expect(page.locator("#messages .replies")).to_be_focused()
            await page.click("#menubutton")
            assert await findings(page) == []
            await page.keyboard.press("Escape")
            await page.keyboard.press("Enter")  # the menu button has the focus again
            await page.keyboard.press("Escape")
            await page.click("#messages .replies")


async def step_through_the_beginning(page: Page) -> None:
    """Who asks for less motion gets the story step by step, and nothing moves."""
    await page.click("#storystart")
    first = await page.inner_text("#storytext")
    assert await page.inner_text("#storypause") == "Continue"
    await page.wait_for_timeout(300)
    assert await page.inner_text("#storytext") == first
    assert await findings(page) == []
    await page.click("#storynext")
    alert = page.locator("#messages .message")
    await expect(alert).to_contain_text("PaymentGateway")
    assert await alert.evaluate("(m) => getComputedStyle(m).animationName") == "none"
    await page.click("#storystop")
    await expect(page.locator("#story")).to_be_hidden()


async def test_a_storm_is_drawn_and_what_is_unread_is_marked(browser: Browser) -> None:
    async with await LocalSlack.start() as slack, opened(browser, slack.url) as page:
        for number in range(120):
            await slack.post_alert(
                "#alerts", {"username": "Zabbix", "text": f"Problem {number}: host-{number} is down"}
            )
        await expect(page.locator("#messages .message")).to_have_count(120, timeout=10_000)
        await expect(page.locator("#messages .message").last).to_be_in_viewport()
        mark = page.locator("#channels button", has_text="random")
        await slack.post("#random", "hello <@U0ALICE>", user="bob")
        await slack.post("#random", "one more", user="bob")
        await expect(mark).to_have_class("unread")
        await expect(mark.locator(".count")).to_have_text("1")
        await expect(page).to_have_title("(2) Precedent playground")
        await page.keyboard.press("Alt+ArrowDown")
        await expect(page.locator("#messages .divider.new")).to_have_text("New")
        await expect(mark).not_to_have_class("unread")
        await expect(mark).to_have_attribute("aria-current", "page")


async def test_no_text_becomes_markup_wherever_it_is_shown(browser: Browser) -> None:
    async with await LocalSlack.start() as slack, opened(browser, slack.url) as page:
        for text in CORPUS:
            await slack.post("#alerts", text)
            await slack.post_alert("#alerts", hostile(text))
        channel = await slack.add_channel("hostile", topic=CORPUS[2], bot=True)
        await expect(page.locator("#messages .message")).to_have_count(2 * len(CORPUS))
        assert "[native code]" not in await page.inner_text("#messages")
        await slack.add_user(CORPUS[2])
        view = {"type": "modal", "title": plain(CORPUS[2][:24]), "submit": plain(CORPUS[3]), "blocks": inputs()}
        slack.core.surfaces.open(slack.core.surfaces.screen("U0ALICE"), view)
        slack.core.surfaces.screen("U0ALICE").errors = {"a": CORPUS[2]}
        slack.core.notify_waiters()
        await expect(page.locator("#modal .error")).to_have_text(CORPUS[2])
        await page.keyboard.press("Escape")
        await page.click("#traffictoggle")
        await slack.core.courier.stop()
        await page.goto(f"{slack.url}/#{channel}")
        await expect(page.locator("#head .topic").first).to_contain_text(CORPUS[2])
        assert (
            await page.locator(
                "img, iframe, svg animate, #messages script, style, [onerror], [onload], [style]"
            ).count()
            == 0
        )
        assert await page.locator('a[href^="javascript" i], a[href^="data" i]').count() == 0
        assert await page.evaluate("window.hit ?? null") is None


def plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def inputs() -> list[dict[str, Any]]:
    option = {"text": plain(CORPUS[2]), "value": CORPUS[2]}
    element = {"type": "static_select", "action_id": CORPUS[2], "options": [option], "placeholder": plain(CORPUS[2])}
    field = {"type": "input", "block_id": "a", "label": plain(CORPUS[2]), "hint": plain(CORPUS[3]), "element": element}
    return [field]


def hostile(text: str) -> dict[str, Any]:
    button = {"type": "button", "text": plain("x"), "url": f"javascript:{HIT}"}
    blocks = [
        {"type": "header", "text": plain(text)},
        {"type": "section", "text": {"type": "mrkdwn", "text": text}, "fields": [{"type": "mrkdwn", "text": text}]},
        {"type": "image", "image_url": "https://x.example/a.png", "alt_text": text},
        {"type": "actions", "elements": [button]},
    ]
    attachment = {
        "title": text,
        "title_link": f"javascript:{HIT}",
        "author_name": text,
        "footer": text,
        "color": f"red;{text}",
    }
    return {
        "username": text,
        "text": text,
        "blocks": blocks,
        "attachments": [{**attachment, "fields": [{"title": text, "value": text}]}],
    }
