"""Error lines of a service from Loki. Must not put a label value into a query without escaping it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bot.adapters.evidence.http_source import Server
from bot.adapters.evidence.selectors import Chosen, Selectors
from bot.domain.alerts.alert import Alert
from bot.domain.evidence.items import Evidence, EvidenceKind
from bot.domain.evidence.log_templates import WINDOW, LogLine, logs_shown
from bot.ports import EvidenceUnavailable

LIMIT = 1_000
ERRORS = '|~ "(?i)(error|exception|fatal|panic|critical|timeout|timed out|refused|unavailable|denied|failed)"'


def quoted(value: str) -> str:
    """A text as a LogQL string; nothing in it can end the string."""
    plain = "".join(c if c.isprintable() else " " for c in value)
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'


def query_of(labels: Mapping[str, Sequence[str]], line_filter: str) -> str:
    """The LogQL query for lines with these labels. Of several values of one label any will do."""
    parts = []
    for name, values in labels.items():
        if len(values) == 1:
            parts.append(f"{name}={quoted(values[0])}")
        else:
            parts.append(f"{name}=~{quoted('|'.join(map(_as_pattern, values)))}")
    return f"{{{', '.join(parts)}}} {line_filter}".strip()


def _as_pattern(value: str) -> str:
    return "".join(c if c.isalnum() or c in "_-" else f"\\{c}" for c in value)


@dataclass(frozen=True, slots=True)
class LokiLogs:
    """The EvidenceProvider of one Loki. `line_filter` is LogQL that the operator wrote."""

    name: str
    server: Server
    selectors: Selectors
    line_filter: str = ERRORS

    @property
    def kind(self) -> EvidenceKind:
        """See the port."""
        return EvidenceKind.LOGS

    async def observe(self, alert: Alert, at: datetime) -> Sequence[Evidence]:
        """See the port."""
        chosen = self.selectors.of(alert)
        if chosen is None:
            return ()
        lines, cut = await self.lines(chosen, at, self.line_filter)
        return await asyncio.to_thread(logs_shown, lines, chosen.service, self.name, at, truncated=cut)

    async def lines(self, chosen: Chosen, at: datetime, line_filter: str) -> tuple[tuple[LogLine, ...], bool]:
        """The latest lines of the window, and whether there are more. Raises EvidenceUnavailable."""
        asked = (
            ("query", query_of(chosen.labels, line_filter)),
            ("start", _nanoseconds(at - WINDOW)),
            ("end", _nanoseconds(at)),
            ("limit", str(LIMIT)),
            ("direction", "backward"),
        )
        said = await self.server.json("/loki/api/v1/query_range", asked)
        lines = tuple(_lines(said))
        return lines, len(lines) >= LIMIT


def _nanoseconds(at: datetime) -> str:
    return f"{int(at.timestamp() * 1_000_000)}000"


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _lines(said: Any) -> Iterator[LogLine]:
    """The lines of all streams; raises EvidenceUnavailable for an answer of another shape."""
    result = said.get("data") if isinstance(said, dict) and said.get("status") == "success" else None
    if not isinstance(result, dict) or result.get("resultType") != "streams":
        raise EvidenceUnavailable("the answer is no list of log lines: is it Loki, and is the filter one for lines?")
    for stream in _list(result.get("result")):
        for entry in _list(stream.get("values")) if isinstance(stream, dict) else ():
            try:
                nanoseconds, text = entry[0], entry[1]
                yield LogLine(datetime.fromtimestamp(int(nanoseconds) // 1000 / 1_000_000, UTC), str(text))
            except (ValueError, TypeError, LookupError, OverflowError, OSError):
                raise EvidenceUnavailable("the answer holds lines of an unknown form") from None
