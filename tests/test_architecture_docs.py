"""docs/architecture.md says what is so: its picture is the code's, and every file and symbol that it names exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from tests.architecture_picture import DOCUMENT, ROOT, draw, insert

TEXT = DOCUMENT.read_text(encoding="utf-8")
CODE = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"(?:bot|tests|docs|seeds)/[\w./-]*")
MAX_FILES_OF_AN_ALERT = 12
SYMBOL = re.compile(r"[A-Z]\w*[a-z]\w*(?:\.\w+)?|\w+\(\)|[A-Z][A-Z_]+[A-Z]")


@cache
def names_in(path: Path) -> frozenset[str]:
    """Return every name that a file defines: classes, functions, methods, and what it assigns."""
    if path.suffix != ".py":
        return frozenset()
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return frozenset(found)


def lines() -> list[tuple[int, list[Path], list[str]]]:
    """Return for each line its number, and the files and symbols that it names."""
    found = []
    for number, line in enumerate(TEXT.splitlines(), 1):
        words = CODE.findall(line)
        paths = [ROOT / word for word in words if PATH.fullmatch(word)]
        symbols = [word.removesuffix("()") for word in words if SYMBOL.fullmatch(word)]
        found.append((number, paths, symbols))
    return found


def section(title: str) -> str:
    """Return the text under a heading, to the next heading of its level."""
    return TEXT.split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_the_picture_is_drawn_from_the_code() -> None:
    assert insert(TEXT, draw()) == TEXT, "run: python -m tests.architecture_picture"


def test_every_file_that_it_names_exists() -> None:
    named = [(number, path) for number, paths, _ in lines() for path in paths]
    assert [f"line {n}: {path.relative_to(ROOT)}" for n, path in named if not path.exists()] == []


def test_every_symbol_that_it_names_is_in_a_file_of_the_same_line() -> None:
    missing = [
        f"line {number}: {symbol}"
        for number, paths, symbols in lines()
        if paths
        for symbol in symbols
        if not any(symbol.split(".")[-1] in names_in(path) for path in paths if path.is_file())
    ]
    assert missing == []


def test_an_alerts_way_is_told_in_twelve_files() -> None:
    files = {word for word in CODE.findall(section("An alert's way")) if PATH.fullmatch(word) and word.endswith(".py")}
    assert 5 < len(files) <= MAX_FILES_OF_AN_ALERT
