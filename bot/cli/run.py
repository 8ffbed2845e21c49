"""How a command runs and ends: one event loop, one sentence for what went wrong, and an exit status by kind of failure."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from pydantic import ValidationError
from pydantic_settings import SettingsError

from bot.observability import escape_terminal_text
from bot.ports.errors import ConfigurationRejected, IncidentNotFound, PrecedentError, RecordRejected
from bot.settings import SETTINGS_FILE, Settings

T = TypeVar("T")
_NON_ASCII = re.compile(r"[^\n -~]")
REFUSED, USAGE, DOWN = 1, 2, 3


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end. A PrecedentError becomes one sentence on stderr and exit 1 (refused input) or 3 (a
    dependency)."""
    try:
        return asyncio.run(work)
    except ConfigurationRejected as wrong:
        fail(str(wrong), USAGE)
    except (RecordRejected, IncidentNotFound) as refused:
        fail(str(refused), REFUSED)
    except PrecedentError as down:
        fail(str(down), DOWN)
    except KeyboardInterrupt:
        fail("stopped", 130)


def fail(sentence: str, status: int) -> NoReturn:
    """Print a sentence on stderr and exit."""
    sys.stderr.write(f"precedent: {escape_terminal_text(sentence)}\n")
    raise SystemExit(status)


def read_settings(**changes: Any) -> Settings:
    """Read the settings. Exits with 2 and a sentence that names a bad one and what is allowed."""
    try:
        return Settings(**changes)
    except ValidationError as bad:
        first = bad.errors()[0]
        name = "_".join(str(part) for part in first["loc"]).upper()
        fail(f"{name} is not usable: {first['msg']}. Correct it in the environment or in .env.", USAGE)
    except UnicodeDecodeError as other:
        fail(
            f"a settings file cannot be read: {SETTINGS_FILE} (or what a *_FILE variable names) is not UTF-8, at byte {other.start}.",
            USAGE,
        )
    except (SettingsError, OSError) as unreadable:
        fail(f"a settings file cannot be read: {unreadable.__cause__ or unreadable}.", USAGE)


def print_json(value: object) -> None:
    """Print one JSON document, with everything escaped that a terminal would obey."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    sys.stdout.write(_NON_ASCII.sub(_escape, text) + "\n")


def _escape(found: re.Match[str]) -> str:
    letter = found[0]
    if letter.isprintable():
        return letter
    return json.dumps(letter)[1:-1] if letter > "\x7f" else f"\\u{ord(letter):04x}"


def read_input(name: str) -> str:
    """Return the text of a file, or of standard input for "-", without byte order mark and with line feeds only.

    Bytes that are not UTF-8 become lone surrogates, for the reader of the line to refuse. Exits with 2 if it cannot be
    read.
    """
    try:
        raw = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except FileNotFoundError:
        fail(f"there is no file {name}.", USAGE)
    except OSError as problem:
        fail(f"{name} cannot be read: {problem.strerror}.", USAGE)
    text = raw.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n")
