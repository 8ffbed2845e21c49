"""Error lines from a real journal, through a real gateway."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from bot.adapters.evidence.logs_journald import LIMIT
from bot.domain.alerts.alert import Alert, AlertState
from bot.domain.evidence.items import Observed
from tests.adapters.evidence.servers import ALERT, AT, SECRET, SOURCES, ago, provider
from tests.e2e.journal import Entry, gateway, require

pytestmark = pytest.mark.integration
UNIT = "checkout-api.service"


async def test_the_latest_error_lines_of_a_unit(tmp_path: Path) -> None:
    require()
    entries = [
        Entry(ago(minutes=40), UNIT, 3, b"too old"),
        *(
            Entry(ago(seconds=600 - n), UNIT, 3, f"pool exhausted after {n} ms password={SECRET}".encode())
            for n in range(9)
        ),
        Entry(ago(seconds=50), UNIT, 6, b"all is well"),
        Entry(ago(seconds=40), "ledger.service", 3, b"of another service"),
        Entry(ago(seconds=30), UNIT, 2, b"bytes \xff\nand a second line failed"),
        Entry(ago(seconds=20), UNIT, 0, b"the very latest"),
    ]
    async with gateway(tmp_path, entries) as url:
        one = provider(tmp_path, SOURCES["journald"].toml.format(url=url).replace("0.3", "10"))
        found = await one.observe(ALERT, AT)
        none = await one.observe(Alert("x", AlertState.FIRING, "f", service="nothing"), AT)
        later = await one.observe(ALERT, AT + timedelta(hours=1))
    shown = {e.text: e.count for e in found if isinstance(e, Observed)}
    masked = "pool exhausted after 8 ms password=[masked:secret]"
    assert shown == {masked: 9, "bytes � and a second line failed": 1, "the very latest": 1}
    assert [[e.signal for e in some] for some in (none, later)] == [["log_none"], ["log_none"]]


async def test_more_than_one_answer_holds_is_said_to_be_more(tmp_path: Path) -> None:
    require()
    entries = [Entry(ago(seconds=800) + timedelta(seconds=n), UNIT, 3, b"refused") for n in range(LIMIT + 50)]
    async with gateway(tmp_path, entries) as url:
        found = await provider(tmp_path, SOURCES["journald"].toml.format(url=url).replace("0.3", "10")).observe(
            ALERT, AT
        )
    (one,) = found
    assert isinstance(one, Observed)
    assert (one.count in {LIMIT, LIMIT + 1}, one.truncated) == (True, True)
    assert one.last == ago(seconds=800) + timedelta(seconds=LIMIT + 49)
