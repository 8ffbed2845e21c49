"""A real browser on the page. Whatever the page complains about, or asks of another server, fails the test."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from playwright.async_api import Browser, Page, async_playwright

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
PHONE: Any = {"width": 390, "height": 844}
DESKTOP: Any = {"width": 1280, "height": 800}


def chromium() -> str:
    """The browser that TEST_CHROMIUM names, or the one that is installed; skips the test where there is none."""
    found = os.environ.get("TEST_CHROMIUM") or shutil.which("chromium")
    if not found:
        pytest.skip("Chromium is not installed (apt install chromium), and TEST_CHROMIUM names none")
    return found


@asynccontextmanager
async def launched() -> AsyncIterator[Browser]:
    """The browser; starting it takes longer than most tests, so they share one."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium(), args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        )
        yield browser
        await browser.close()


@asynccontextmanager
async def opened(browser: Browser, url: str, address: str = "/", **context: Any) -> AsyncIterator[Page]:
    """The page at `url` + `address`, in a context of its own."""
    complaints: list[str] = []
    page = await browser.new_page(viewport=DESKTOP, **context)
    page.set_default_timeout(15_000)
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda r: None if r.url.startswith((url, "data:")) else complaints.append(r.url))
    await page.goto(url + address)
    try:
        yield page
    finally:
        await page.close()
    assert complaints == []


async def findings(page: Page) -> list[str]:
    """What axe-core finds against the page as it stands: the rule and where."""
    await page.evaluate(AXE)
    result: Mapping[str, Any] = await page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [f"{v['id']}: {[n['target'] for n in v['nodes']]}" for v in result["violations"]]
