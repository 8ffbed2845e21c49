"""Merge an imported record into one that people worked on since: what they recorded stays."""

from __future__ import annotations

from dataclasses import replace

from bot.domain.fixes.steps import normalize_fix
from bot.domain.incidents.record import Attempt, Boundary, Incident
from bot.domain.text.tokens import normalize

# Attempts that an import or a seed brought; all others a person recorded here.
BROUGHT = frozenset({None, "import", "seed"})


def _build_key(attempt: Attempt) -> tuple[object, ...]:
    return normalize_fix(attempt.fix), attempt.status, attempt.by, attempt.at


def merge_import(before: Incident, imported: Incident) -> Incident:
    """Return the imported record with what people recorded on the former one.

    Every attempt by a person stays; with any of those also the checks, root cause, boundary, lesson and end that
    the import does not state. An incident that people worked on in Slack keeps its place, and with it its audience.
    """
    if before.source.kind not in BROUGHT:
        # where people worked on it decides who may see it, whatever the file states
        imported = replace(imported, source=before.source)
    stated = {_build_key(attempt) for attempt in imported.attempts}
    theirs = tuple(a for a in before.attempts if a.how not in BROUGHT and _build_key(a) not in stated)
    if not theirs:
        return imported
    known = {normalize(check.check) for check in imported.failed_checks}
    checks = tuple(check for check in before.failed_checks if normalize(check.check) not in known)
    return replace(
        imported.replace_texts(before.list_texts()),
        attempts=imported.attempts + theirs,
        failed_checks=imported.failed_checks + checks,
        boundary=before.boundary if before.boundary is not Boundary.UNKNOWN else imported.boundary,
        resolved_at=imported.resolved_at or before.resolved_at,
        alerts=imported.alerts + tuple(a for a in before.alerts if a not in imported.alerts),
    )
