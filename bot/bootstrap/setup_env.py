"""The `.env` file of the working directory: one variable written into it, everything else left byte for byte.

Must not print or log what it writes.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from dotenv.parser import Binding, parse_stream

from bot.ports import ConfigurationRejected

PRIVATE = 0o600


def edited(text: str, name: str, value: str | None) -> str:
    """The text with NAME=value: in the place of the first line that sets it, else at the end; None takes it out. Every
    other line stays as it is. The value must be one that needs no quotes."""
    line = None if value is None else f"{name}={value}\n"
    kept: list[str] = []
    for binding in parse_stream(StringIO(text, newline="")):
        if not _sets(binding, name):
            kept.append(binding.original.string)
            continue
        kept.append(_space_before(binding.original.string) + (line or ""))
        line = None
    before = "".join(kept)
    if line is None:
        return before
    return before + ("" if not before or before.endswith("\n") else "\n") + line


def _sets(binding: Binding, name: str) -> bool:
    """Names are read whatever their case."""
    return not binding.error and binding.key is not None and binding.key.upper() == name


def _space_before(line: str) -> str:
    """Empty lines above a setting belong to it for the parser, and to the reader of the file."""
    return line[: len(line) - len(line.lstrip("\r\n"))]


@dataclass(frozen=True, slots=True)
class EnvFile:
    """The file, which need not exist yet. A link is followed, so that it stays one."""

    path: Path

    def read(self) -> str:
        """Its text, empty where there is none. Raises ConfigurationRejected where it cannot be read."""
        try:
            with self.path.open(encoding="utf-8", newline="") as file:
                return file.read()
        except FileNotFoundError:
            return ""
        except (OSError, UnicodeDecodeError) as problem:
            raise ConfigurationRejected(f"{self.path} cannot be read: {problem}.") from problem

    def check(self) -> None:
        """Whether it can be read and written, before anybody is asked for anything. Raises ConfigurationRejected."""
        self.read()
        try:
            tempfile.TemporaryFile(prefix=".env-", dir=self.path.resolve().parent).close()
        except OSError as problem:
            raise _no_room(self.path.resolve().parent, problem) from problem

    def put(self, name: str, value: str | None) -> None:
        """Set one variable, or take it out, at once and whole: a crash leaves the old file or the new one. Only its owner
        may read it afterwards. Raises ConfigurationRejected where it cannot be written."""
        made = edited(self.read(), name, value)
        target = self.path.resolve()
        try:
            handle, beside = tempfile.mkstemp(prefix=".env-", dir=target.parent)  # readable by its owner alone
        except OSError as problem:
            raise _no_room(target.parent, problem) from problem
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
                file.write(made)
                file.flush()
                os.fsync(file.fileno())
            Path(beside).chmod(PRIVATE)
            Path(beside).replace(target)
        except OSError as problem:
            Path(beside).unlink(missing_ok=True)
            raise ConfigurationRejected(f"{target} cannot be written: {problem.strerror}.") from problem


def _no_room(folder: Path, problem: OSError) -> ConfigurationRejected:
    return ConfigurationRejected(
        f"Nothing can be written in {folder}: {problem.strerror}. Run this in a folder of yours."
    )
