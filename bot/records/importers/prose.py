"""What a write-up or a description says, as native fields. Must not read what is not under a heading or label it knows, but
for a summary.
"""

from __future__ import annotations

from bot.records.importers.coerce import attempts_of, compact
from bot.records.importers.entries import Row
from bot.records.importers.sections import (
    WriteUp,
    checks_of,
    from_wiki,
    read_write_up,
    steps_of,
    with_labels_as_headings,
)


def said_in(text: str) -> Row:
    """The native fields that a description fills."""
    return prose_fields(read_write_up(with_labels_as_headings(from_wiki(text)))) if text else {}


def prose_fields(told: WriteUp) -> Row:
    """The native fields that the sections of a write-up fill; their other text under `evidence`, as it stands."""
    parts = told.parts
    summary = parts.get("summary") or told.opening
    symptoms = checks_of(parts.get("symptoms")) or ([summary] if summary else [])
    failed = checks_of(parts.get("failed_fix"))
    attempts = [{"fix": fix, "status": "FAILED"} for fix in failed] + attempts_of(steps_of(parts.get("fix")))
    kept = dict(told.rest) | ({"Summary": summary} if summary and parts.get("symptoms") else {})
    return compact(
        iter(
            [
                ("symptoms", symptoms),
                ("root_cause", parts.get("root_cause")),
                ("customer_impact", parts.get("customer_impact")),
                ("lesson", parts.get("lesson")),
                ("attempts", attempts),
                ("failed_checks", checks_of(parts.get("failed_checks"))),
                ("evidence", kept),
            ]
        )
    )
