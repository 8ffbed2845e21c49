"""The budgets of the design, checked: sizes, imports inside functions, broad excepts, module docstrings."""

from __future__ import annotations

import ast
import statistics
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCES = sorted(p for p in (ROOT / "bot").rglob("*.py"))
BROAD_ALLOWED = {"bot/observability.py", "bot/slack/app.py", "bot/bootstrap/workers.py"}


def _trees() -> list[tuple[str, ast.Module, int]]:
    found = []
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        found.append((path.relative_to(ROOT).as_posix(), ast.parse(text), len(text.splitlines())))
    return found


TREES = _trees()


def _functions(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]


def test_no_file_is_longer_than_400_lines() -> None:
    assert [(name, lines) for name, _, lines in TREES if lines > 400] == []


def test_parsers_are_at_most_80_lines() -> None:
    shared = {"bot/parsers/__init__.py", "bot/parsers/message.py", "bot/parsers/generic.py", "bot/parsers/reading.py"}
    parsers = [
        (n, lines) for n, _, lines in TREES if n.startswith("bot/parsers/") and n.count("/") == 2 and n not in shared
    ]
    assert [(name, lines) for name, lines in parsers if lines > 80] == []


def test_functions_are_short() -> None:
    lengths = {
        f"{name}:{f.name}": (f.end_lineno or 0) - f.lineno + 1 for name, tree, _ in TREES for f in _functions(tree)
    }
    assert {k: v for k, v in lengths.items() if v > 60} == {}
    assert statistics.median(lengths.values()) <= 10


def test_no_imports_inside_functions_and_no_globals() -> None:
    bad = [
        f"{name}:{inner.lineno}"
        for name, tree, _ in TREES
        for f in _functions(tree)
        for inner in ast.walk(f)
        if isinstance(inner, ast.Import | ast.ImportFrom | ast.Global)
    ]
    assert bad == []


def test_broad_excepts_only_where_the_design_allows_them() -> None:
    found = {
        name
        for name, tree, _ in TREES
        for node in ast.walk(tree)
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or getattr(node.type, "id", "") in {"Exception", "BaseException"})
    }
    assert found <= BROAD_ALLOWED


def test_every_module_says_what_it_must_not_do() -> None:
    silent = [name for name, tree, _ in TREES if "ust not" not in (ast.get_docstring(tree) or "")]
    assert [name for name in silent if not name.endswith(("migrations/env.py",)) and "/versions/" not in name] == []


def test_no_forbidden_names() -> None:
    words = ("Manager", "Helper", "Utils", "Util")
    bad = [
        f"{name}:{node.name}"
        for name, tree, _ in TREES
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and (any(w in node.name for w in words) or node.name.startswith("process_"))
    ]
    assert bad == []


def test_our_own_modules_are_not_mocked() -> None:
    bad = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "tests").rglob("*.py")
        if path != Path(__file__) and ("unittest.mock" in path.read_text(encoding="utf-8"))
    ]
    assert bad == []
