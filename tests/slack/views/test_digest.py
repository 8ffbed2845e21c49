"""The digest as people read it."""

from __future__ import annotations

from dataclasses import replace

from bot.domain.reports.trends import FixNews, VendorLine
from bot.playground import validate_message
from bot.slack.views.digest import format_duration, render_digest
from tests.slack import cases

NEWS = replace(
    cases.digest(),
    incidents_before=12,
    minutes=200.0,
    minutes_before=45.0,
    briefs=9,
    abstained=2,
    stopped=(FixNews("Restart otp\nwatch", cases.NOW, 2, ("INC-7",)),),
    unused=(FixNews("Move the queue", cases.NOW, 3, ("INC-5",)),),
    vendors=(VendorLine("razorpay", 4, 3, 1, 120.0), VendorLine("twilio", 1, 0, 0, None)),
)


def test_trend_news_and_abstained_are_said() -> None:
    text = cases.shown(render_digest(NEWS).blocks)
    assert "▼ 12 in the period before, 3 h 20 min in all (45 min)" in text
    assert "Memory had no answer for 2 of 9 alerts" in text
    assert "Worked 3×: Switch gateway – *permanent fix missing*" in text
    assert ":warning: *Stopped working:* Restart otp; watch (worked in 2, last 2026-11-29; failed in INC-7)" in text
    assert "*Not used for 180 days:* Move the queue (last INC-5, 2026-11-29)" in text
    assert "*razorpay* 4 outages (before: 1), at fault in 3, 2 h" in text
    assert "*twilio* 1 outage (before: 0), at fault in 0" in text


def test_a_first_period_has_no_trend() -> None:
    text = cases.shown(render_digest(cases.digest()).blocks)
    assert "period before" not in text
    assert "no answer" not in text


def test_the_trend_goes_up_down_or_stays() -> None:
    said = [cases.shown(render_digest(replace(NEWS, incidents=n)).blocks) for n in (13, 12, 11)]
    assert ["▲ 12" in said[0], "= 12" in said[1], "▼ 12" in said[2]] == [True, True, True]


def test_the_longest_digest_keeps_to_the_limits_and_its_warnings() -> None:
    family = replace(cases.digest().families[0], title="x" * 100, workaround="y" * 300)
    news = tuple(FixNews("z" * 300, cases.NOW, 2, ("INC-7",)) for _ in range(5))
    lines = tuple(VendorLine("v" * 60, 4, 3, 1, 120.0) for _ in range(5))
    message = render_digest(replace(NEWS, families=(family,) * 20, stopped=news, unused=news, vendors=lines))
    text = cases.shown(message.blocks)
    assert len(text) <= 2000
    assert validate_message({"text": message.text, "blocks": [dict(b) for b in message.blocks]}) == []
    assert text.count("Stopped working") == 3
    assert "+17 more" in text


def test_a_duration_is_said_in_hours_and_minutes() -> None:
    assert [format_duration(m) for m in (0, 59.6, 60, 61, 150)] == ["0 min", "1 h", "1 h", "1 h 1 min", "2 h 30 min"]
