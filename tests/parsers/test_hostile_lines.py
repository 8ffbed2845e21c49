"""No line makes the reader slow: no pattern tries a long run of the same characters in more than a few ways."""

from __future__ import annotations

import importlib
import pkgutil
import re
import time
from collections.abc import Iterator
from types import ModuleType

import pytest

import bot.domain
import bot.parsers
from bot.parsers import read
from tests.bench.alerts import LINES, shapes

# The target is 50 ms; a machine under load may be slow, a pattern that backtracks takes minutes.
GENEROUS_S = 2.0
# Patterns are given lines of at most this length by their callers.
LINE = 600


def _modules() -> Iterator[ModuleType]:
    for package in (bot.parsers, bot.domain):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            yield importlib.import_module(found.name)


def _patterns(value: object) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, tuple):
        for inner in value:
            yield from _patterns(inner)


PATTERNS = {
    f"{module.__name__}.{name}[{number}]": pattern
    for module in _modules()
    for name, value in vars(module).items()
    for number, pattern in enumerate(_patterns(value))
}


def test_all_patterns_are_looked_at() -> None:
    assert len(PATTERNS) > 150


@pytest.mark.parametrize("line", LINES)
def test_no_pattern_backtracks_on_a_line_of_one_thing(line: str) -> None:
    text = (LINES[line] * LINE)[:LINE]
    began = time.process_time()
    for pattern in PATTERNS.values():
        for _ in pattern.finditer(text + "!"):
            pass
    assert time.process_time() - began < GENEROUS_S


@pytest.mark.parametrize("name", shapes())
def test_a_megabyte_of_anything_is_read_in_no_time(name: str) -> None:
    event = shapes()[name]()
    began = time.process_time()
    read(event)
    assert time.process_time() - began < GENEROUS_S
