"""What is done for an alert while others wait."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.domain.operations.load import Load, Waiting, load_of


@pytest.mark.parametrize(
    ("rows", "seconds", "load"),
    [
        (0, 0, Load.FULL),
        (0, 3600, Load.FULL),
        (49, 14.9, Load.FULL),
        (50, 0, Load.NO_EXTRAS),
        (1, 15, Load.NO_EXTRAS),
        (199, 59.9, Load.NO_EXTRAS),
        (200, 0, Load.SUMMARY_ONLY),
        (1, 60, Load.SUMMARY_ONLY),
    ],
)
def test_length_or_age_make_the_load(rows: int, seconds: float, load: Load) -> None:
    assert load_of(Waiting(rows, timedelta(seconds=seconds))) is load
