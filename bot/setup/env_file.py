"""Edit the `.env` file of the working directory: set one variable and leave everything else byte for byte.

Whoever could read the file, such as a bot that runs as another user, still can. Must not print or log what it writes.
"""

from __future__ import annotations

import os
import re
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from dotenv.parser import Binding, parse_stream

from bot.ports.errors import ConfigurationRejected

# For a new file; of one that is there, what it had of these bits stays.
PRIVATE, AT_MOST = 0o600, 0o640
OTHERS = 0o007
ACCESS_LIST = "system.posix_acl_access"
NEWLINES = ("\r\n", "\n", "\r")
_NEWLINE = re.compile(r"\r\n|\n|\r")
# A comment behind a value, which is in quotes or without.
_COMMENT = re.compile(
    r"""=[^\S\r\n]*(?:'(?:\\'|[^'])*'|"(?:\\"|[^"])*"|[^'"\s][^\r\n]*?|)(?P<comment>[^\S\r\n]+\#[^\r\n]*)?[\r\n]*\Z""",
    re.VERBOSE,
)


def edit_text(text: str, name: str, value: str | None) -> str:
    """Return the text with NAME=value in place of the first line that sets it (keeping a comment at its end), or else
    at the end; None removes it.

    Every other line stays as it is, and lines end as they did. The value must not need quotes.
    """
    first = _NEWLINE.search(text)
    end = first[0] if first else "\n"
    line = None if value is None else f"{name}={value}"
    kept: list[str] = []
    for binding in parse_stream(StringIO(text, newline="")):
        was = binding.original.string
        if not _is_binding(binding, name):
            kept.append(was)
            continue
        kept.append(
            _read_leading_newlines(was) + ("" if line is None else line + _read_comment(was) + _read_line_end(was, end))
        )
        line = None
    before = "".join(kept)
    if line is None:
        return before
    return before + ("" if not before or before.endswith(NEWLINES) else end) + line + end


def _is_binding(binding: Binding, name: str) -> bool:
    """Return whether a line sets this name; names are case-insensitive."""
    return not binding.error and binding.key is not None and binding.key.upper() == name


def _read_leading_newlines(line: str) -> str:
    """Return the empty lines above a setting: they belong to it for the parser, and for the reader of the file."""
    return line[: len(line) - len(line.lstrip("\r\n"))]


def _read_comment(line: str) -> str:
    found = _COMMENT.search(line)
    return (found["comment"] or "").rstrip() if found else ""


def _read_line_end(line: str, otherwise: str) -> str:
    return next((end for end in NEWLINES if line.endswith(end)), otherwise)


@dataclass(frozen=True, slots=True)
class EnvFile:
    """The file, which need not exist yet. A link is followed, so that it stays a link."""

    path: Path

    def read(self) -> str:
        """Return its text, empty if there is no file. Raises ConfigurationRejected if it cannot be read."""
        try:
            if self.path.exists() and not self.path.is_file():  # a pipe would wait, and a device be replaced
                raise ConfigurationRejected(f"{self.path} cannot be read: it is not a file.")
            with self.path.open(encoding="utf-8", newline="") as file:
                return file.read()
        except FileNotFoundError:
            return ""
        except (OSError, UnicodeDecodeError) as problem:
            raise ConfigurationRejected(f"{self.path} cannot be read: {problem}.") from problem

    def check(self) -> None:
        """Check that it can be read and written, before anybody is asked for anything. Raises ConfigurationRejected."""
        self.read()
        target = self.path.resolve()
        try:
            with tempfile.TemporaryFile(prefix=".env-", dir=target.parent) as beside:
                if not _copy_ownership(beside.fileno(), target) and not os.access(target, os.W_OK):
                    raise _build_foreign_owner_error(target)
        except OSError as problem:
            raise _build_write_error(target.parent, problem) from problem

    def put(self, name: str, value: str | None) -> str | None:
        """Set one variable, or remove it, atomically: a crash leaves the old file or the new one.

        Owner, group and readers stay, except that people outside its group lose access; if they had it until now,
        return a sentence that says so. If a new file could not be given to the owner or group of the old one, the old
        one is overwritten instead, which a crash can interrupt. Raises ConfigurationRejected if it cannot be written.
        """
        made = edit_text(self.read(), name, value).encode()
        target = self.path.resolve()
        try:
            open_to_all = target.exists() and bool(target.stat().st_mode & OTHERS)
            handle, beside = tempfile.mkstemp(prefix=".env-", dir=target.parent)  # readable by its owner alone
        except OSError as problem:
            raise _build_write_error(target.parent, problem) from problem
        try:
            with os.fdopen(handle, "wb") as file:
                _write(file.fileno(), made)
                alike = _copy_ownership(file.fileno(), target)
            if alike:
                Path(beside).replace(target)
            else:
                Path(beside).unlink()  # there is room for it
                _write_over(target, made)
            still = bool(target.stat().st_mode & OTHERS)
        except PermissionError as problem:
            Path(beside).unlink(missing_ok=True)
            raise _build_foreign_owner_error(target) from problem
        except OSError as problem:
            Path(beside).unlink(missing_ok=True)
            raise ConfigurationRejected(f"{target} cannot be written: {problem.strerror}.") from problem
        return _format_warning(target, still=still) if open_to_all else None


def _write(handle: int, made: bytes) -> None:
    with os.fdopen(os.dup(handle), "wb") as file:
        file.write(made)
        file.flush()
        os.fsync(file.fileno())


def _write_over(target: Path, made: bytes) -> None:
    """Overwrite the file in place: we may not change its owner, group or access list."""
    with target.open("r+b") as file:
        with suppress(PermissionError):
            os.fchmod(file.fileno(), _compute_mode(os.fstat(file.fileno())))
        _write(file.fileno(), made)
        file.truncate(len(made))
        os.fsync(file.fileno())


def _copy_ownership(handle: int, target: Path) -> bool:
    """Give a new file the owner, group, access list and mode of the file that it replaces; without one, its owner alone
    may read it. Return False if that is not permitted."""
    if not target.exists():
        os.fchmod(handle, PRIVATE)
        return True
    was, now = target.stat(), os.fstat(handle)
    try:
        if (was.st_uid, was.st_gid) != (now.st_uid, now.st_gid):
            os.fchown(handle, was.st_uid, was.st_gid)
        if (listed := _read_access_list(target)) is not None:
            os.setxattr(handle, ACCESS_LIST, listed)
        os.fchmod(handle, _compute_mode(was))
    except OSError:
        return False
    return True


def _read_access_list(target: Path) -> bytes | None:
    """Return the access list, if the system keeps one; the group bits of the mode then mean something else."""
    with suppress(OSError, AttributeError):  # none, or a system without
        return os.getxattr(target, ACCESS_LIST)
    return None


def _compute_mode(was: os.stat_result) -> int:
    return stat.S_IMODE(was.st_mode) & AT_MOST


def _format_warning(target: Path, *, still: bool) -> str:
    if still:
        return f"Everybody on this machine can read {target}; its owner should say `chmod o= {target}`."
    return f"Everybody on this machine could read {target}; only its owner and group can now, as far as they could."


def _build_foreign_owner_error(target: Path) -> ConfigurationRejected:
    return ConfigurationRejected(
        f"{target} belongs to another user, and may not be written by this one. Run this as its owner."
    )


def _build_write_error(folder: Path, problem: OSError) -> ConfigurationRejected:
    return ConfigurationRejected(
        f"Nothing can be written in {folder}: {problem.strerror}. Run this in a folder of yours."
    )
