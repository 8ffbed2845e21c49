"""Error lines of a service from Loki. Must not put a label value into a query without escaping it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bot.adapters.evidence.http_source import HttpSource
from bot.adapters.evidence.selectors import ChosenLabels, Selectors
from bot.domain.alerts.alert import Alert
from bot.domain.evidence.items import Evidence, EvidenceKind
from bot.domain.evidence.log_templates import WINDOW, LogLine, observe_logs
from bot.ports.errors import EvidenceUnavailable

LIMIT = 1_000
ERRORS = '|~ "(?i)(error|exception|fatal|panic|critical|timeout|timed out|refused|unavailable|denied|failed)"'


def quote_logql(value: str) -> str:
    """Return a text as a LogQL string; nothing in it can end the string."""
    plain = "".join(c if c.isprintable() else " " for c in value)
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'


def build_query(labels: Mapping[str, Sequence[str]], line_filter: str) -> str:
    """Return the LogQL query for lines with these labels. Of several values of one label any will do."""
    parts = []
    for name, values in labels.items():
        if len(values) == 1:
            parts.append(f"{name}={quote_logql(values[0])}")
        else:
            parts.append(f"{name}=~{quote_logql('|'.join(map(_build_pattern, values)))}")
    return f"{{{', '.join(parts)}}} {line_filter}".strip()


def _build_pattern(value: str) -> str:
    return "".join(c if c.isalnum() or c in "_-" else f"\\{c}" for c in value)


@dataclass(frozen=True, slots=True)
class LokiLogs:
    """The EvidenceProvider of one Loki."""

    name: str
    server: HttpSource
    selectors: Selectors
    line_filter: str = ERRORS  # LogQL that the operator wrote

    @property
    def kind(self) -> EvidenceKind:
        """See the port."""
        return EvidenceKind.LOGS

    async def observe(self, alert: Alert, at: datetime) -> Sequence[Evidence]:
        """See the port."""
        chosen = self.selectors.find(alert)
        if chosen is None:
            return ()
        lines, cut = await self.read_lines(chosen, at, self.line_filter)
        return await asyncio.to_thread(observe_logs, lines, chosen.service, self.name, at, truncated=cut)

    async def read_lines(
        self, chosen: ChosenLabels, at: datetime, line_filter: str
    ) -> tuple[tuple[LogLine, ...], bool]:
        """Return the latest lines of the window, and whether there are more. Raises EvidenceUnavailable."""
        asked = (
            ("query", build_query(chosen.labels, line_filter)),
            ("start", _to_nanoseconds(at - WINDOW)),
            ("end", _to_nanoseconds(at)),
            ("limit", str(LIMIT)),
            ("direction", "backward"),
        )
        said = await self.server.read_json("/loki/api/v1/query_range", asked)
        lines = tuple(_read_lines(said))
        return lines, len(lines) >= LIMIT


def _to_nanoseconds(at: datetime) -> str:
    return f"{int(at.timestamp() * 1_000_000)}000"


def _read_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _read_lines(said: Any) -> Iterator[LogLine]:
    """Return the lines of all streams. Raises EvidenceUnavailable for an answer of another shape."""
    result = said.get("data") if isinstance(said, dict) and said.get("status") == "success" else None
    if not isinstance(result, dict) or result.get("resultType") != "streams":
        raise EvidenceUnavailable("the answer is no list of log lines: is it Loki, and is the filter one for lines?")
    for stream in _read_list(result.get("result")):
        for entry in _read_list(stream.get("values")) if isinstance(stream, dict) else ():
            try:
                nanoseconds, text = entry[0], entry[1]
                yield LogLine(datetime.fromtimestamp(int(nanoseconds) // 1000 / 1_000_000, UTC), str(text))
            except (ValueError, TypeError, LookupError, OverflowError, OSError):
                raise EvidenceUnavailable("the answer holds lines of an unknown form") from None
