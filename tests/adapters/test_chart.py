"""The picture for real: its size, what stands in it whatever titles hold, and no empty boxes for missing letters."""

from __future__ import annotations

import struct
import sys
from dataclasses import replace

import pytest

from bot.adapters import chart
from bot.adapters.chart import WIDTH, MatplotlibCharts, load_fonts, measure_height
from bot.domain.reports.digest_chart import Bar, Column
from bot.ports.errors import ChartUnavailable
from tests.adapters.chart_support import CHART


def size(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", png[16:24])
    return int(width), int(height)


async def test_the_picture_has_the_width_of_a_phone_and_is_the_same_each_time() -> None:
    charts = MatplotlibCharts()
    png = await charts.render_png(CHART)
    assert size(png) == (WIDTH, measure_height(CHART))
    assert png == await charts.render_png(CHART)


# A missing letter is a warning of the library, and warnings are errors here.
@pytest.mark.parametrize(
    "title",
    [
        "支払いゲートウェイがタイムアウト",
        "भुगतान विफल",
        "🔥✅",
        "$\\frac{1}{$",
        "a" * 90,
        "\x00\u202e\n",
        "ошибка",
        "فشل الدفع",
    ],
)
async def test_whatever_a_title_holds_the_picture_is_drawn(title: str) -> None:
    bars = (Bar((title, "otp/twilio: INC-1"), 1240, 7), Bar((title,), 1, 7), Bar((title, title), 2, 2))
    drawn = replace(CHART, heading=title, bars=bars, more=0)
    assert size(await MatplotlibCharts().render_png(drawn)) == (WIDTH, measure_height(drawn))


def test_a_title_without_letters_here_gives_way_to_what_has_them() -> None:
    own = load_fonts()
    bare = replace(own, others=())
    assert bare.strip_undrawable("支払い") is None
    assert bare.strip_undrawable("भुगतान") is None
    assert bare.strip_undrawable("🔥 High ✅ errors 🫠") in {("High ✅ errors", own.own), ("High errors", own.own)}
    assert bare.strip_undrawable("🫠") is None
    assert bare.strip_undrawable("OTP  is\nlate") == ("OTP is late", own.own)


async def test_few_and_no_families_and_no_days() -> None:
    for drawn in (replace(CHART, bars=()), replace(CHART, columns=()), replace(CHART, columns=(Column("x", 0),) * 14)):
        assert size(await MatplotlibCharts().render_png(drawn)) == (WIDTH, measure_height(drawn))


async def test_where_the_library_is_missing_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ChartUnavailable, match="could not be drawn"):
        await MatplotlibCharts().render_png(CHART)
    assert chart.TITLE > chart.SMALL
