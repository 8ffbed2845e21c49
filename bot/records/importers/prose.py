"""A write-up or a description as native fields.

Only text under a heading or label that is known is read, and a summary.
"""

from __future__ import annotations

from bot.domain.incidents.record import RESOLUTION_TEXTS
from bot.records.importers.coerce import build_attempts, drop_empty
from bot.records.importers.entries import NativeRow
from bot.records.importers.sections import (
    WriteUp,
    convert_labels_to_headings,
    convert_wiki,
    format_steps,
    read_checks,
    read_write_up,
)


def read_description(text: str) -> NativeRow:
    """Return the native fields that a description fills."""
    return read_write_up_fields(read_write_up(convert_labels_to_headings(convert_wiki(text)))) if text else {}


def read_write_up_fields(told: WriteUp) -> NativeRow:
    """Return the native fields that the sections of a write-up fill; their other text goes under `evidence`, unchanged."""
    parts = told.parts
    summary = parts.get("summary") or told.opening
    symptoms = read_checks(parts.get("symptoms")) or ([summary] if summary else [])
    failed = read_checks(parts.get("failed_fix"))
    attempts = [{"fix": fix, "status": "FAILED"} for fix in failed] + build_attempts(format_steps(parts.get("fix")))
    kept = dict(told.rest) | ({"Summary": summary} if summary and parts.get("symptoms") else {})
    return drop_empty(
        iter(
            [
                ("symptoms", symptoms),
                *((name, parts.get(name)) for name in RESOLUTION_TEXTS),
                ("attempts", attempts),
                ("failed_checks", read_checks(parts.get("failed_checks"))),
                ("evidence", kept),
            ]
        )
    )
