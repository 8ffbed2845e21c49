"""The audit log: who changed what, when, and what it was before and after.

A line's detail is JSON where there is a before or an after, and one sentence otherwise.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.domain.text.json_types import JsonObject


@dataclass(frozen=True, slots=True)
class AuditLine:
    """One act, as a use case hands it over; the store adds the time."""

    actor: str  # a Slack id, or the name of what did it
    action: str
    # what was changed: an incident id, a channel id
    object: str  # what was changed: an incident id, a channel id
    detail: str


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One act, as it is read back. `before` and `after` are None where only `detail` says what changed."""

    at: datetime
    actor: str
    action: str
    object: str
    detail: str
    before: JsonObject | None = None
    after: JsonObject | None = None


class AuditLog(Protocol):
    """Read what was audited. Raises StoreUnavailable."""

    def stream_lines(self, since: datetime | None = None) -> AsyncIterator[AuditEntry]:
        """Yield every line since then, oldest first, without holding them all in memory."""
        ...


def format_change(before: JsonObject, after: JsonObject, note: str = "") -> str:
    """Return the detail of a line: the values that differ, before and after (absent is null), and a sentence."""
    names = [name for name in dict.fromkeys((*before, *after)) if before.get(name) != after.get(name)]
    old, new = ({name: values.get(name) for name in names} for values in (before, after))
    return json.dumps({"before": old, "after": new, "note": note}, ensure_ascii=False, separators=(",", ":"))


def read_detail(detail: str) -> tuple[str, JsonObject | None, JsonObject | None]:
    """Split a detail into its sentence, the values before, and the values after."""
    try:
        said = json.loads(detail)
    except ValueError:
        return detail, None, None
    if not isinstance(said, dict) or not {"before", "after"} <= said.keys():
        return detail, None, None
    return str(said.get("note") or ""), said["before"], said["after"]
