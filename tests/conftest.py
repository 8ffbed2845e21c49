"""Every test starts from an empty environment: no setting of the machine may reach the code under test.

Memory works by words, for loading the model takes a second; tests of the hybrid mode say so themselves.
"""

from __future__ import annotations

import gc
import signal
from itertools import count
from pathlib import Path
from types import FrameType

import pytest

from bot.settings import Settings

SETTINGS = tuple(name for field in Settings.model_fields for name in (field.upper(), f"{field.upper()}_FILE"))
NUMBERS = count()


def pytest_configure() -> None:
    """Saves what costs a tenth of the processor time and tests nothing.

    Garbage is not looked for while tests are read. And an event loop that runs one coroutine to its end replaces Python's
    own handler of Ctrl-C, for which Python twice writes out what the coroutine gave back, a fixture's whole store for one;
    it leaves another handler alone.
    """
    gc.disable()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupted)


def interrupted(number: int, frame: FrameType | None) -> None:
    """As Python's own handler does."""
    signal.default_int_handler(number, frame)


def pytest_collection_finish() -> None:
    """What is there by now stays to the end; garbage is looked for in what comes from here on."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    gc.enable()


@pytest.fixture(scope="session")
def states(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where each test has its own state directory, which is made when something is kept there."""
    return tmp_path_factory.mktemp("states")


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, states: Path) -> None:
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("EMBEDDINGS", "off")
    monkeypatch.setenv("XDG_STATE_HOME", str(states / str(next(NUMBERS))))
