"""Error lines of a service from systemd-journal-gatewayd. Must not ask for more entries than one answer can hold."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.adapters.evidence.http_source import HttpSource
from bot.adapters.evidence.selectors import ChosenLabels, Selectors
from bot.domain.alerts.alert import Alert
from bot.domain.evidence.items import Evidence, EvidenceKind
from bot.domain.evidence.log_templates import WINDOW, LogLine, observe_logs
from bot.domain.text.json_types import JsonObject
from bot.ports.errors import EvidenceUnavailable

# An entry has a kilobyte of fields, and an answer ends at 1 MiB.
LIMIT = 500
# From that many before the end. One more than that is asked for: the gateway of systemd 252 counts the place where it
# starts, and would leave out the very latest entry.
RANGE = f"entries=:-{LIMIT}:{LIMIT + 1}"
KINDS = ("application/json",)
ERRORS = ("0", "1", "2", "3")  # emerg, alert, crit, err


@dataclass(frozen=True, slots=True)
class JournaldLogs:
    """The EvidenceProvider of one journal gateway."""

    name: str
    server: HttpSource
    selectors: Selectors
    priorities: tuple[str, ...] = ERRORS  # syslog's, of which any will do

    @property
    def kind(self) -> EvidenceKind:
        """See the port."""
        return EvidenceKind.LOGS

    async def observe(self, alert: Alert, at: datetime) -> Sequence[Evidence]:
        """See the port."""
        chosen = self.selectors.find(alert)
        if chosen is None:
            return ()
        lines, cut = await self.read_lines(chosen, at, self.priorities)
        return await asyncio.to_thread(observe_logs, lines, chosen.service, self.name, at, truncated=cut)

    async def read_lines(
        self, chosen: ChosenLabels, at: datetime, priorities: Sequence[str]
    ) -> tuple[tuple[LogLine, ...], bool]:
        """Return the latest lines of the window, and whether there are more. Raises EvidenceUnavailable."""
        fields = {**chosen.labels, **({"PRIORITY": priorities} if priorities else {})}
        matches = [(name, value) for name, values in fields.items() for value in values]
        answer = await self.server.read("/entries", matches, KINDS, {"Range": RANGE})
        whole = answer.body[: answer.body.rfind(b"\n") + 1] if answer.cut else answer.body
        entries = [_read_entry(line) for line in whole.splitlines() if line.strip()]
        lines = [line for line in entries if line is not None and at - WINDOW <= line.at <= at]
        if entries and not any(entries):
            raise EvidenceUnavailable("the answer holds entries of an unknown form")
        oldest_is_recent = len(entries) >= LIMIT and entries[0] is not None and entries[0].at >= at - WINDOW
        return tuple(lines), answer.cut or oldest_is_recent


def _read_entry(raw: bytes) -> LogLine | None:
    """Parse one entry; None for one without time, or that is not JSON."""
    try:
        entry = json.loads(raw)
        at = datetime.fromtimestamp(int(entry["__REALTIME_TIMESTAMP"]) / 1_000_000, UTC)
    except (ValueError, TypeError, LookupError, OverflowError, OSError, RecursionError):
        return None
    return LogLine(at, _read_message(entry))


def _read_message(entry: JsonObject) -> str:
    """Return the text. The gateway writes bytes that are no UTF-8 as a list of numbers, and several texts as a list of
    them."""
    said = entry.get("MESSAGE")
    if isinstance(said, list) and all(isinstance(n, int) and 0 <= n < 256 for n in said):
        return bytes(said).decode("utf-8", "replace")
    if isinstance(said, list):
        return " ".join(part for part in said if isinstance(part, str))
    return said if isinstance(said, str) else ""
