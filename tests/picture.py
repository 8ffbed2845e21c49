"""Takes the README's picture of a brief, light and dark, from the playground's page: `python -m tests.picture`.

The picture keeps, as text inside the file, what the brief says; `tests/test_readme.py` fails when the product says something
else by now. Must not draw anything itself.
"""

from __future__ import annotations

import asyncio
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image
from PIL.PngImagePlugin import PngInfo
from playwright.async_api import Browser, Page, expect

from bot.bootstrap.modes.playground import Playground
from tests.playground.browser import launched, opened
from tests.readme import PICTURES, SAYS, brief_text

ALERT = "payment-gateway-504"
SCALE, COLOURS, MARGIN = 2, 48, 12


async def shot(page: Page) -> bytes:
    """The brief in its thread."""
    await page.select_option("#sample", ALERT)
    await page.click("#samples button")
    await page.locator("#messages .replies").click()
    brief = page.locator("#replies .message").last
    await expect(brief).to_contain_text("SOURCES")
    await page.mouse.move(0, 0)
    await page.wait_for_timeout(500)  # it fades in
    box = await brief.bounding_box()
    assert box
    return await page.screenshot(
        clip={
            "x": box["x"],
            "y": box["y"] - MARGIN,
            "width": box["width"],
            "height": box["height"] + 2 * MARGIN,
        }
    )


async def take(browser: Browser, scheme: str) -> Image.Image:
    """A picture of the page in light or dark."""
    how: dict[str, Any] = {"color_scheme": scheme, "device_scale_factor": SCALE}
    async with Playground().open() as there, opened(browser, there.slack.url, **how) as page:
        await page.set_viewport_size({"width": 1600, "height": 1800})
        return Image.open(BytesIO(await shot(page))).convert("RGB").quantize(COLOURS)


async def main(folder: Path) -> None:
    """Write both pictures."""
    kept = PngInfo()
    kept.add_itxt(SAYS, await brief_text(folder), zip=True)
    async with launched() as browser:
        for scheme, path in PICTURES.items():
            (await take(browser, scheme)).save(path, optimize=True, pnginfo=kept)


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as made_in:
        asyncio.run(main(Path(made_in)))
