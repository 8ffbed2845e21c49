"""What tests of chart share with other tests."""

from __future__ import annotations

from bot.domain.reports.digest_chart import Bar, Column, DigestChart

CHART = DigestChart(
    "Week of 2026-11-16",
    "7 incidents, 4 in the period before",
    (Bar(("OTP is late",), 3, 1), Bar(("Disk full",), 2, 0)),
    2,
    tuple(Column(f"Mon {n}", n) for n in range(7)),
    "in words",
)
