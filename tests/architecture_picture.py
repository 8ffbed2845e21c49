"""Draw the floors and rooms of the source package from the code, as text.

`python -m tests.architecture_picture` writes the drawing into docs/architecture.md; `tests/test_architecture_docs.py`
fails when it is out of date. The order of the floors comes from the import contracts in pyproject.toml, which
`make check` enforces; a room is a folder, and the sentence beside it is the first of its docstring.
"""

from __future__ import annotations

import ast
import re
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCUMENT = ROOT / "docs" / "architecture.md"
PACKAGE = "bot"
WIDTH = 112
NAMES_SHOWN = 12  # of a room's files; a longer list says how many there are instead
BLOCK = re.compile(r"(<!-- picture:begin[^>]*-->\n).*?(<!-- picture:end -->)", re.DOTALL)


def read_layers(package: str) -> list[list[str]]:
    """Return the layers of a package as its contract orders them, top first; siblings share a layer."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for contract in config["tool"]["importlinter"]["contracts"]:
        if contract["type"] == "layers" and contract.get("containers") == [package]:
            return [[name.strip(" ()") for name in re.split(r"[|:]", layer)] for layer in contract["layers"]]
    return []


def list_modules(folder: Path) -> list[str]:
    """Return the names of the modules that lie directly in a folder."""
    return sorted(path.stem for path in folder.glob("*.py") if path.stem not in {"__init__", "__main__"})


def list_rooms(folder: Path) -> list[Path]:
    """Return the sub-packages of a folder, without those that only hold data or migrations."""
    return sorted(path.parent for path in folder.glob("*/__init__.py"))


def read_summary(path: Path) -> str:
    """Return the first sentence of a module's docstring, without its full stop."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    first = " ".join(docstring.split("\n\n")[0].split())
    return re.split(r"\.(?: |$)", first)[0]


def format_modules(folder: Path) -> str:
    """Return the modules of a folder as a list of names, or their number where there are many."""
    names = list_modules(folder)
    return f"{len(names)} files" if len(names) > NAMES_SHOWN else " · ".join(names)


def draw_package(folder: Path) -> Iterator[str]:
    """Yield the lines inside one package's box: its own files, then a line for each room."""
    if own := format_modules(folder):
        yield own
    rooms = list_rooms(folder)
    width = max((len(room.name) for room in rooms), default=0)
    order = {name: n for n, layer in enumerate(read_layers(".".join(folder.relative_to(ROOT).parts))) for name in layer}
    for room in sorted(rooms, key=lambda one: (order.get(one.name, 0), one.name)):
        inner = [f"{sub.name}/ ({len(list_modules(sub))})" for sub in list_rooms(room)]
        names = " · ".join(filter(None, [format_modules(room), *inner]))
        yield f"{room.name + '/':<{width + 1}}  {names}"


def draw_box(name: str) -> Iterator[str]:
    """Yield the box of one package or top-level module, drawn over the whole width."""
    path = ROOT / PACKAGE / name
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    title = textwrap.shorten(f"─ {name} ── {read_summary(source)}", WIDTH - 4, placeholder=" …") + " "
    yield f"┌{title:─<{WIDTH - 2}}┐"
    for line in draw_package(path) if path.is_dir() else ():
        indent = " " * (len(line) - len(line.split("  ", 1)[-1].lstrip())) if "  " in line else ""
        for row in textwrap.wrap(line, WIDTH - 4, subsequent_indent=indent, drop_whitespace=True):
            yield f"│ {row:<{WIDTH - 4}} │"
    yield f"└{'─' * (WIDTH - 2)}┘"


def draw() -> str:
    """Return the whole picture: one box for each package, the top floor first."""
    lines: list[str] = []
    for floor in read_layers(PACKAGE):
        if len(floor) > 1:
            lines.append(f"  {' | '.join(floor)}: side by side, none imports another")
        lines += (line for name in floor for line in draw_box(name))
    return "\n".join(lines)


def insert(text: str, picture: str) -> str:
    """Return the document with the picture in its place."""
    return BLOCK.sub(lambda found: f"{found[1]}```text\n{picture}\n```\n{found[2]}", text)


if __name__ == "__main__":
    DOCUMENT.write_text(insert(DOCUMENT.read_text(encoding="utf-8"), draw()), encoding="utf-8")
