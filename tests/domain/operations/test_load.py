"""What is done for an alert while others wait."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.domain.operations.load import Backlog, LoadShedding, choose_load_shedding


@pytest.mark.parametrize(
    ("rows", "seconds", "load"),
    [
        (0, 0, LoadShedding.FULL),
        (0, 3600, LoadShedding.FULL),
        (49, 14.9, LoadShedding.FULL),
        (50, 0, LoadShedding.NO_EXTRAS),
        (1, 15, LoadShedding.NO_EXTRAS),
        (199, 59.9, LoadShedding.NO_EXTRAS),
        (200, 0, LoadShedding.SUMMARY_ONLY),
        (1, 60, LoadShedding.SUMMARY_ONLY),
    ],
)
def test_length_or_age_make_the_load(rows: int, seconds: float, load: LoadShedding) -> None:
    assert choose_load_shedding(Backlog(rows, timedelta(seconds=seconds))) is load
