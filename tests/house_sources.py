"""Read the source files of a package, and the graph of its imports, without importing any of them.

`tests/house.py` measures with it.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

LEFT_OUT = ("migrations/versions",)  # folders whose files are counted as sources, not as modules with a name

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Source:
    """One source file: its dotted name, its path below the root, and its text."""

    name: str
    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """Return the syntax tree, parsed once."""
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Return every node of the tree."""
        return list(ast.walk(self.tree))

    @property
    def lines(self) -> int:
        """Count the lines."""
        return len(self.text.splitlines())

    @property
    def is_package(self) -> bool:
        """Tell whether this file stands for its folder."""
        return self.path.endswith("__init__.py")

    @property
    def is_module(self) -> bool:
        """Tell whether somebody had to find a name for this file."""
        return not self.is_package and not any(f"/{folder}/" in self.path for folder in LEFT_OUT)

    @property
    def folder(self) -> str:
        """Return the folder it lies in."""
        return self.path.rpartition("/")[0]

    @property
    def top(self) -> str:
        """Return the first name below the package: a folder, or the file's own."""
        parts = self.name.split(".")
        return parts[1] if len(parts) > 1 else self.name


def read_sources(root: Path, package: str) -> list[Source]:
    """Read all Python files of a package, sorted by path."""
    found = []
    for path in sorted((root / package).rglob("*.py")):
        relative = path.relative_to(root)
        parts = relative.with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found.append(Source(name, relative.as_posix(), path.read_text(encoding="utf-8")))
    return found


def functions_of(source: Source) -> list[Function]:
    """Return all functions and methods of a file."""
    return [n for n in source.nodes if isinstance(n, Function)]


# --- lines ---


def tokens(source: Source) -> Iterator[tokenize.TokenInfo]:
    """Yield the tokens of a source file."""
    return tokenize.generate_tokens(io.StringIO(source.text).readline)


def count_comments(source: Source) -> int:
    """Count comments: a block over several lines is one, as it is for a reader."""
    lines = source.text.splitlines()
    count, previous = 0, -1
    for token in tokens(source):
        if token.type == tokenize.COMMENT:
            row, own_line = token.start[0], lines[token.start[0] - 1].lstrip().startswith("#")
            count += not (own_line and previous == row - 1)
            previous = row if own_line else -1
    return count


def docstring_lines(source: Source) -> set[int]:
    """Return the numbers of the lines that hold docstrings."""
    found: set[int] = set()
    for node in source.nodes:
        if isinstance(node, ast.Module | ast.ClassDef | Function) and ast.get_docstring(node) is not None:
            found.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return found


def count_code_lines(source: Source) -> int:
    """Count lines without the blank ones, those with a comment only, and docstrings."""
    empty = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    lines, used = source.text.splitlines(), set[int]()
    for token in tokens(source):
        if token.type not in empty:
            used.update(range(token.start[0], token.end[0] + 1))
    return sum(1 for n in used - docstring_lines(source) if lines[n - 1].strip())


# --- imports ---


def name_of(node: ast.AST) -> str:
    """Return the dotted name that an expression spells, or nothing."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (owner := name_of(node.value)):
        return f"{owner}.{node.attr}"
    return ""


def imported(source: Source, known: set[str]) -> dict[str, str]:
    """Map each name that a file binds by an import to the known module, or to `module:name` of what lies in it."""
    found: dict[str, str] = {}
    for node in runtime_nodes(source.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name in known:
                    found[alias.asname or alias.name] = alias.name
        elif isinstance(node, ast.ImportFrom):
            origin = origin_of(node, source)
            for alias in node.names:
                full = f"{origin}.{alias.name}"
                if full in known or origin in known:
                    found[alias.asname or alias.name] = full if full in known else f"{origin}:{alias.name}"
    return found


def runtime_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Walk a tree, passing over the bodies of `if TYPE_CHECKING:`."""
    yield node
    skipped = node.body if isinstance(node, ast.If) and name_of(node.test).endswith("TYPE_CHECKING") else []
    for child in ast.iter_child_nodes(node):
        if child not in skipped:
            yield from runtime_nodes(child)


def origin_of(node: ast.ImportFrom, source: Source) -> str:
    """Return the absolute name of the module that is imported from."""
    if not node.level:
        return node.module or ""
    parts = source.name.split(".")
    base = parts[: len(parts) - node.level + source.is_package]
    return ".".join([*base, node.module] if node.module else base)


def import_graph(sources: list[Source]) -> dict[str, set[str]]:
    """Return which module imports which, inside the package."""
    known = {s.name for s in sources}
    return {s.name: {t.partition(":")[0] for t in imported(s, known).values()} - {s.name} for s in sources}


def components(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the strongly connected components, each after those it imports (Tarjan)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    done: list[list[str]] = []

    def visit(node: str) -> None:
        order[node] = low[node] = len(order)
        stack.append(node)
        for target in sorted(graph[node]):
            if target not in order:
                visit(target)
            if target in stack:
                low[node] = min(low[node], low[target])
        if low[node] == order[node]:
            start = stack.index(node)
            done.append(stack[start:])
            del stack[start:]

    for node in sorted(graph):
        if node not in order:
            visit(node)
    return done


def longest_chain(graph: Mapping[str, set[str]]) -> list[str]:
    """Return the modules of the longest path along imports; those of a cycle count as all on the path."""
    best: dict[str, list[str]] = {}
    for ring in components(graph):
        below = [best[target] for node in ring for target in graph[node] if target not in ring]
        chain = [*ring, *max(below, key=len, default=[])]
        best.update(dict.fromkeys(ring, chain))
    return max(best.values(), key=len, default=[])
