"""Incident records as JSON: the one reader and the one writer (design 4.1), for seeds, import, export, bank and store.

Must not read files or decide what to do with a bad record.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.domain.incident import Incident


def read_record(row: Mapping[str, Any], *, how: str = "import") -> Incident:
    """An incident from one decoded JSON object in any accepted form; raises RecordRejected (field, reason)."""
    raise NotImplementedError


def write_record(incident: Incident) -> dict[str, Any]:
    """The record as JSON values: keys of design 4.1 in order, unknown as null, times ISO 8601 in UTC ("...Z")."""
    raise NotImplementedError
