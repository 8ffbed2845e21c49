"""Ask a person on a terminal, or read answers line by line from a pipe. Never echoes a secret."""

from __future__ import annotations

import getpass
import shutil
import sys
import textwrap
from collections.abc import Callable
from typing import TypeVar

from bot.doctor.finding import Finding
from bot.domain.operations.setup_answers import AnswerRejected
from bot.domain.operations.setup_steps import read_yes
from bot.observability import escape_terminal_text

T = TypeVar("T")
MAX_WIDTH = 88
MARKS = {True: "✓", None: "–", False: "✗"}
YES_OR_NO = "Please answer y or n."


class InputEnded(Exception):  # said in a sentence by whoever asked
    """Raised at the end of the input; the message names what was to be answered."""


def say(text: str = "") -> None:
    """Print a paragraph, wrapped at the width of the terminal if there is one. Leading spaces stay as indent."""
    width = min(MAX_WIDTH, shutil.get_terminal_size().columns) if sys.stdout.isatty() else sys.maxsize
    for line in text.split("\n"):
        line = escape_terminal_text(line)  # names come from elsewhere
        indent = " " * (len(line) - len(line.lstrip(" ")))
        more = f"{indent}   " if line.lstrip().startswith(("→", "✓", "✗", "1 ", "2 ")) else indent
        rows = textwrap.wrap(
            line, width, subsequent_indent=more, break_long_words=False, break_on_hyphens=False, drop_whitespace=True
        )
        sys.stdout.write("\n".join(rows or [""]) + "\n")
    sys.stdout.flush()


def say_exactly(line: str) -> None:
    """Print a line that must not be wrapped, such as a link."""
    sys.stdout.write("\n".join(map(escape_terminal_text, line.split("\n"))) + "\n")
    sys.stdout.flush()


def ask(prompt: str, name: str, *, hidden: bool = False) -> str:
    """Return one answer without its line end. `name` says what it is for. Raises InputEnded."""
    if not sys.stdin.isatty():
        say_exactly(prompt)
        line = sys.stdin.readline()
        if not line:
            raise InputEnded(name)
        return line.rstrip("\r\n")
    try:
        return (
            getpass.getpass(escape_terminal_text(prompt) + " ") if hidden else input(escape_terminal_text(prompt) + " ")
        )
    except EOFError as ended:
        say_exactly("")
        raise InputEnded(name) from ended


def ask_until(prompt: str, name: str, read: Callable[[str], T | None], again: str) -> T:
    """Return one answer that can be read; print `again` after each other one. Raises InputEnded."""
    while (found := read(ask(prompt, name))) is None:
        say(again)
    return found


def ask_usable(prompt: str, name: str, read: Callable[[str], T], *, hidden: bool = False) -> T:
    """Return one usable answer; say what is wrong with each other one."""
    while True:
        try:
            return read(ask(prompt, name, hidden=hidden))
        except AnswerRejected as wrong:
            say(f"✗ {wrong}")


def ask_yes_no(prompt: str, name: str, *, default: bool) -> bool:
    """Ask until the answer is yes or no; Enter means `default`."""
    return ask_until(prompt, name, lambda answer: read_yes(answer, default=default), YES_OR_NO)


def print_finding(finding: Finding) -> bool:
    """Print a finding. Return whether the answer may stay."""
    say(f"{MARKS[finding.ok]} {finding.check}: {finding.detail}")
    if finding.ok is not True and finding.fix:
        say(f"  → {finding.fix}")
    return finding.ok is not False
