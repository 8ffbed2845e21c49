"""Error lines of a service from files of JSON lines: only the end of each file that the window needs, and never more
than a bound.

Must not open what is outside the configured folders, whatever links say, and must not write anything.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path

from bot.adapters.evidence.log_records import LogRecord, read_log_record
from bot.domain.alerts.alert import Alert
from bot.domain.catalog.vendors import fold_name
from bot.domain.evidence.items import Evidence, EvidenceKind, Unavailable
from bot.domain.evidence.log_templates import WINDOW, LogLine, observe_logs
from bot.ports.errors import EvidenceUnavailable

CHUNK = 64 * 1024
MOST_BYTES = 4 * 1024 * 1024
MOST_FILES, MOST_LOOKED_AT = 20, 2_000


@dataclass(slots=True)
class LogLines:
    """What was read so far."""

    left_bytes: int = MOST_BYTES  # what may still be read
    lines: list[LogLine] = field(default_factory=list)
    in_window: int = 0
    bad: int = 0
    truncated: bool = False
    outside: int = 0
    unreadable: int = 0
    files: int = 0


@dataclass(frozen=True, slots=True)
class FileLogs:
    """The EvidenceProvider of log files."""

    name: str
    folder: Path
    patterns: Mapping[str, Sequence[str]]  # by folded name of the service, relative to `folder`
    links_into: tuple[Path, ...] = ()  # a link may lead out of `folder` only into one of these
    most_bytes: int = MOST_BYTES

    @property
    def kind(self) -> EvidenceKind:
        """See the port."""
        return EvidenceKind.LOGS

    async def observe(self, alert: Alert, at: datetime) -> Sequence[Evidence]:
        """See the port."""
        patterns = self.patterns.get(fold_name(alert.service)) if alert.service else None
        if not patterns or not alert.service:
            return ()
        return await asyncio.to_thread(self._build_evidence, patterns, alert.service, at)

    def _build_evidence(self, patterns: Sequence[str], service: str, at: datetime) -> tuple[Evidence, ...]:
        found = self.read_logs(patterns, at)
        shown = observe_logs(found.lines, service, self.name, at, truncated=found.truncated)
        if not found.bad:
            return shown
        skipped = f"{found.bad} log lines of {service}"
        reason = "skipped: not JSON with a time"
        return (*shown, Unavailable(EvidenceKind.LOGS, "log_skipped", skipped, self.name, reason))

    def read_logs(self, patterns: Sequence[str], at: datetime) -> LogLines:
        """Read the files. Raises EvidenceUnavailable where no file can be read, or no line of the window."""
        found = LogLines(self.most_bytes)
        for path in self._find_files(patterns, at - WINDOW, found):
            with suppress(OSError):
                _read_tail(path, at, found)
                continue
            found.unreadable += 1
        if not found.files:
            raise EvidenceUnavailable(f"no file matches {', '.join(patterns)}")
        if found.unreadable + found.outside >= found.files:
            why = "leads out of the configured folder" if found.outside else "cannot be read by the bot's user"
            raise EvidenceUnavailable(f"every file of {', '.join(patterns)} {why}")
        if found.bad and not found.in_window:
            raise EvidenceUnavailable(f"none of {found.bad} lines is JSON with a time")
        found.truncated |= bool(found.unreadable or found.outside)
        return found

    def _find_files(self, patterns: Sequence[str], since: datetime, found: LogLines) -> Iterator[Path]:
        """Return files that were written to in the window, latest first. Two names of one file count once."""
        roots = [root for root in (self.folder, *self.links_into) if root.is_absolute()]
        real_roots = [Path(os.path.realpath(root)) for root in roots]
        named = (path for pattern in patterns for path in self.folder.glob(pattern))
        recent: dict[Path, float] = {}
        for path in islice(named, MOST_LOOKED_AT):
            found.files += 1
            real = Path(os.path.realpath(path))
            if not any(real.is_relative_to(root) for root in real_roots):
                found.outside += 1
                continue
            try:
                status = real.stat()
            except OSError:
                found.unreadable += 1
                continue
            if stat.S_ISREG(status.st_mode) and status.st_mtime >= since.timestamp():
                recent[real] = status.st_mtime
        ordered = sorted(recent, key=lambda path: -recent[path])
        found.truncated |= len(ordered) > MOST_FILES or found.files >= MOST_LOOKED_AT
        yield from ordered[:MOST_FILES]


def _read_tail(path: Path, at: datetime, found: LogLines) -> None:
    """Add the lines of the window at the end of a file. Lines of a file are nearly in the order of their times."""
    # not following: what was looked at may have been replaced by a link since
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return
        end, rest = os.fstat(handle).st_size, b""
        while end > 0:
            size = min(CHUNK, end, found.left_bytes)
            if size <= 0:
                found.truncated = True
                return
            end -= size
            file.seek(end)
            found.left_bytes -= size
            block = (file.read(size) or b"") + rest
            rest, newline, whole = (b"", b"", block) if end == 0 else block.partition(b"\n")
            if not newline and end > 0:
                rest = block  # one long line: its beginning is further up
                continue
            if _take_block(whole, at, found):
                return


def _take_block(block: bytes, at: datetime, found: LogLines) -> bool:
    """Add the lines of a block; return whether it begins before the window, so that nothing above matters."""
    records = [read_log_record(line) for line in block.split(b"\n") if line.strip()]
    since = at - WINDOW
    for record in records:
        if record is None:
            found.bad += 1
        elif since <= record.at <= at:
            found.in_window += 1
            if record.is_error:
                found.lines.append(LogLine(record.at, record.text))
    first: LogRecord | None = next((record for record in records if record is not None), None)
    return first is not None and first.at < since
