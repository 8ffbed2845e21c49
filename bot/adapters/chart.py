"""The ChartRenderer port on matplotlib: a digest as a card that reads well on a phone, on a light and on a dark
background.

Must not use pyplot (its state is global, and figures pile up in it) nor matplotlib's mathtext, because titles are data.
Drawing happens in a thread of its own. The library is slow to import, so it is imported by name when the first chart is
drawn.
"""

from __future__ import annotations

import asyncio
import importlib
import io
import unicodedata
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from bot.domain.reports.digest_chart import Bar, Column, DigestChart
from bot.observability import get_logger
from bot.ports.errors import ChartUnavailable

# Pixels. A phone shows the card at a third of this.
WIDTH, MARGIN, DPI = 1080, 56, 100
TITLE, LABEL, SMALL = 46, 37, 30
ROW, BAR = 124, 40
COLUMNS_HEIGHT = 300
GROUND, EDGE, INK, QUIET, NOW, BEFORE, DAYS = (
    "#1f2937",
    "#4b5563",
    "#f9fafb",
    "#cbd5e1",
    "#fbbf24",
    "#e2e8f0",
    "#60a5fa",
)
# Families of fonts for scripts that the library's own font lacks, where one of them is installed.
OTHER_FONTS = (
    "Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans JP", "Noto Sans SC", "Noto Sans KR", "Source Han Sans",
    "IPAexGothic", "IPAGothic", "TakaoGothic", "WenQuanYi Zen Hei", "WenQuanYi Micro Hei", "Droid Sans Fallback",
    "Hiragino Sans", "Yu Gothic", "Microsoft YaHei", "Malgun Gothic", "Noto Sans Devanagari", "Lohit Devanagari",
    "Nirmala UI", "Noto Sans Bengali", "Noto Sans Tamil", "Noto Sans Thai", "Noto Sans Hebrew", "Noto Sans Arabic",
    "Unifont",
)  # fmt: skip
log = get_logger("chart")


@dataclass(frozen=True, slots=True)
class MatplotlibCharts:
    """Draws in one thread, one chart after the other: a digest waits for nobody."""

    _thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "chart"))

    async def render_png(self, chart: DigestChart) -> bytes:
        """See the port."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, draw_chart, chart)


def draw_chart(chart: DigestChart) -> bytes:
    """Return the chart as a PNG. Raises ChartUnavailable."""
    try:
        return _draw(chart)
    except (ImportError, OSError, RuntimeError, ValueError) as problem:
        log.warning("a chart could not be drawn", problem=repr(problem))
        raise ChartUnavailable(f"The chart could not be drawn: {problem}.") from problem


def _draw(chart: DigestChart) -> bytes:
    card = ChartCard.create(measure_height(chart))
    top = card.height - MARGIN - TITLE
    card.write_text(MARGIN, top, chart.heading, TITLE, INK, bold=True)
    card.write_text(MARGIN, top - 54, chart.counts, SMALL + 2, QUIET)
    under = _draw_bars(card, chart, top - 54)
    if chart.columns:
        _draw_columns(card, chart.columns, under)
    return card.render_png()


def measure_height(chart: DigestChart) -> int:
    """Return the card's height in pixels."""
    bars = len(chart.bars) * ROW + 110 + (50 if chart.more else 0) if chart.bars else 120
    return 2 * MARGIN + TITLE + 54 + bars + (COLUMNS_HEIGHT + 90 if chart.columns else 0)


def _draw_bars(card: ChartCard, chart: DigestChart, top: int) -> int:
    """Draw the families, most often first; return where they end."""
    if not chart.bars:
        card.write_text(MARGIN, top - 90, "Nothing came more than once", LABEL, INK)
        return top - 120
    card.write_text(MARGIN, top - 80, "Came more than once", SMALL, QUIET, bold=True)
    if any(bar.times_before for bar in chart.bars):
        card.draw_mark(MARGIN + 420, top - 82, 30)
        card.write_text(MARGIN + 440, top - 80, "period before", SMALL, QUIET)
    most = max(max(b.times, b.times_before) for b in chart.bars)
    scale = (WIDTH - 2 * MARGIN - 56 - 26 * len(str(most))) / most
    y = top - 90
    for bar in chart.bars:
        y -= ROW
        card.write_text(MARGIN, y + 62, card.find_drawable(list_labels(bar)), LABEL, INK)
        card.draw_box(MARGIN, y, max(bar.times * scale, 6), BAR, NOW)
        if bar.times_before:
            card.draw_mark(MARGIN + bar.times_before * scale, y - 8, BAR + 16)
        card.write_text(MARGIN + _place_count(bar, scale), y + 6, f"{bar.times}×", LABEL, INK, bold=True)
    if chart.more:
        y -= 50
        card.write_text(MARGIN, y, f"+{chart.more} more in the message", SMALL, QUIET)
    return y - 20


def _place_count(bar: Bar, scale: float) -> float:
    """Return the place of the count: behind its bar, or behind the mark where that is in the way."""
    end, mark = bar.times * scale, bar.times_before * scale
    return (mark if end <= mark <= end + 100 else end) + 18


def list_labels(bar: Bar) -> tuple[str, ...]:
    """Yield names for a family, best first."""
    return (*bar.labels, "(named in the message)")


def _draw_columns(card: ChartCard, columns: tuple[Column, ...], top: int) -> None:
    """Draw incidents over the period."""
    floor = top - 90 - COLUMNS_HEIGHT + 60
    card.write_text(MARGIN, top - 62, "Incidents by date", SMALL, QUIET, bold=True)
    step = (WIDTH - 2 * MARGIN) / len(columns)
    most = max(column.count for column in columns) or 1
    every = 1 if len(columns) <= 8 else 2
    for number, column in enumerate(columns):
        x, height = MARGIN + step * number, column.count / most * (COLUMNS_HEIGHT - 120)
        card.draw_box(x + step * 0.14, floor, step * 0.72, max(height, 4), DAYS if column.count else EDGE)
        if column.count:
            card.write_text(x + step / 2, floor + height + 10, str(column.count), SMALL, INK, bold=True, centred=True)
        if number % every == 0:
            card.write_text(x + step / 2, floor - 44, column.label, SMALL - 2, QUIET, centred=True)


@dataclass(frozen=True, slots=True)
class ChartCard:
    """A figure in pixels, its origin at the lower left."""

    height: int
    figure: Any
    canvas: Any
    patches: Any
    fonts: ChartFonts

    @classmethod
    def create(cls, height: int) -> ChartCard:
        """Return an empty card. Raises ImportError where the library is missing."""
        figures = importlib.import_module("matplotlib.figure")
        agg = importlib.import_module("matplotlib.backends.backend_agg")
        figure = figures.Figure(figsize=(WIDTH / DPI, height / DPI), dpi=DPI, facecolor=GROUND)
        card = cls(
            height, figure, agg.FigureCanvasAgg(figure), importlib.import_module("matplotlib.patches"), load_fonts()
        )
        card.draw_box(0, 0, WIDTH, height, "none", edge=EDGE)
        return card

    def draw_box(self, x: float, y: float, width: float, height: float, colour: str, *, edge: str = "none") -> None:
        """Draw a rectangle."""
        size = (width, height)
        self.figure.add_artist(
            self.patches.Rectangle((x, y), *size, facecolor=colour, edgecolor=edge, linewidth=3, transform=None)
        )

    def draw_mark(self, x: float, y: float, height: float) -> None:
        """Draw the line at which the period before ended."""
        self.draw_box(x - 7, y, 14, height, GROUND)
        self.draw_box(x - 4, y, 8, height, BEFORE)

    def write_text(
        self, x: float, y: float, text: str, size: int, colour: str, *, bold: bool = False, centred: bool = False
    ) -> None:
        """Write a line of text as it is, smaller or cut where the card ends; nothing in it is markup."""
        said = self.strip_undrawable(text)
        if said is None:
            return
        shown, font = said
        style = self.fonts.build_style(font, size, bold=bold)
        if not centred and self._measure_width(shown, style) > WIDTH - MARGIN - x:
            style = self.fonts.build_style(font, min(size, SMALL), bold=bold)
            shown = self._fit_text(shown, style, WIDTH - MARGIN - x)
        place = {"ha": "center"} if centred else {}
        self.figure.text(
            x / WIDTH,
            y / self.height,
            shown,
            fontproperties=style,
            color=colour,
            parse_math=False,
            usetex=False,
            **place,
        )

    def _measure_width(self, text: str, style: Any) -> float:
        renderer = self.canvas.get_renderer()
        return float(renderer.get_text_width_height_descent(text, style, ismath=False)[0])

    def _fit_text(self, text: str, style: Any, room: float) -> str:
        if self._measure_width(text, style) <= room:
            return text
        while text and self._measure_width(f"{text}…", style) > room:
            text = text[: min(len(text) - 1, int(len(text) * 0.97))].rstrip()
        return f"{text}…"

    def find_drawable(self, labels: Iterable[str]) -> str:
        """Return the first label of which a font has all letters."""
        return next((label for label in labels if self.strip_undrawable(label)), "")

    def strip_undrawable(self, text: str) -> tuple[str, str] | None:
        """Return the text without symbols that no font has, and the font that has all the rest; None where none has."""
        return self.fonts.strip_undrawable(text)

    def render_png(self) -> bytes:
        """Return the picture's bytes."""
        buffer = io.BytesIO()
        self.figure.savefig(buffer, format="png", facecolor=GROUND, metadata={"Software": None})
        return buffer.getvalue()


@dataclass(frozen=True, slots=True)
class ChartFonts:
    """The available fonts. `own` comes with the library and has Latin, Greek and Cyrillic letters."""

    own: str
    own_bold: str
    others: tuple[str, ...]

    def strip_undrawable(self, text: str) -> tuple[str, str] | None:
        """Return what `ChartCard.strip_undrawable` does."""
        said = " ".join("".join(c for c in text if c.isspace() or unicodedata.category(c)[0] != "C").split())
        for font in (self.own, *self.others):
            has = read_letters(font)
            kept = "".join(c for c in said if ord(c) in has or not _is_symbol(c)).strip()
            if any(not _is_symbol(c) and not c.isspace() for c in kept) and all(ord(c) in has for c in kept):
                return " ".join(kept.split()), font
        return None

    def build_style(self, font: str, size: int, *, bold: bool) -> Any:
        """Return the library's font properties; other fonts have no bold of their own. `size` is in pixels."""
        properties = importlib.import_module("matplotlib.font_manager").FontProperties
        file = self.own_bold if bold and font == self.own else font
        return properties(fname=file, size=size * 72 / DPI)


def _is_symbol(char: str) -> bool:
    """Return whether it is an emoji, a modifier or the like, without which a label still says the same. Marks are parts
    of words."""
    return unicodedata.category(char) in {"So", "Sk"} or 0xFE00 <= ord(char) <= 0xFE0F


@lru_cache(maxsize=1)
def load_fonts() -> ChartFonts:
    """Return the library's own font, and those installed here that are known to have other scripts."""
    manager = importlib.import_module("matplotlib.font_manager")
    folder = Path(importlib.import_module("matplotlib").get_data_path()) / "fonts" / "ttf"
    files = {entry.name: entry.fname for entry in reversed(manager.fontManager.ttflist)}
    others = tuple(files[name] for name in OTHER_FONTS if name in files)
    return ChartFonts(str(folder / "DejaVuSans.ttf"), str(folder / "DejaVuSans-Bold.ttf"), others)


@lru_cache(maxsize=32)
def read_letters(file: str) -> frozenset[int]:
    """Return the characters that a font has, by code."""
    return frozenset(importlib.import_module("matplotlib.ft2font").FT2Font(file).get_charmap())
