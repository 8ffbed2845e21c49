"""Whether a command line in a document is one that `precedent` accepts; nothing is run. Must not be lenient with options."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import cast

import typer
from typer.core import TyperGroup
from typer.main import get_command

from bot.cli import app

UsageError = cast("type[Exception]", typer.BadParameter.__mro__[1])  # the library shows the one only
ENDS = re.compile(r"\s(?:\||>|<|;|&&|#)\s.*$")
INLINE = re.compile(r"`(?:\S+/)?precedent (?![-–—…])([^`\n]+)`")
BLOCK = re.compile(r"^ {3,}(?:.*(?:\s|bin/)| )precedent ([a-z].*)$", re.MULTILINE)


def refused(line: str, *, partly: bool = False) -> str | None:
    """Why `precedent LINE` is not accepted, None if it is. `partly`: arguments may be left out, as in running text."""
    words = shlex.split(ENDS.sub("", f"{line} ").strip())
    command = get_command(app)
    while isinstance(command, TyperGroup) and words:
        name = words.pop(0)
        found = command.get_command(typer.Context(command), name)
        if found is None:
            return f"there is no command {name}"
        command = found
    if isinstance(command, TyperGroup):
        return None
    try:
        command.make_context(command.name, words)
    except typer.Exit:
        return None
    except UsageError as wrong:
        return None if partly and type(wrong).__name__ == "MissingParameter" else str(wrong)
    return None


def command_lines(text: str) -> Iterator[tuple[str, bool]]:
    """Every `precedent …` of a Markdown text, and whether it stands in running text."""
    for line in INLINE.findall(text):
        yield line, True
    for line in BLOCK.findall(text):
        yield line, False
