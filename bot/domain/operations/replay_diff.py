"""Find the briefs that changed between two replays of the same alerts, grouped and worst first.

Briefs are compared as JSON, because the older ones were written by another version: what one side does not know is
no difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from bot.domain.text.tokens import normalize

Json = Mapping[str, Any]
NOTHING = "–"
_CONFIDENCE = {"HIGH": 0, "MEDIUM": 1, "LOW": 2}


class ChangeKind(StrEnum):
    """What changed, worst first: a brief's kind is that of its worst difference."""

    SILENT = "answers no longer"
    FIX = "another fix is recommended"
    ANSWERS = "answers now"
    STEPS = "other steps of the same fix"
    CONFIDENCE = "another confidence"
    FAULT = "the fault lies elsewhere"
    LEAD = "another precedent leads"
    CAUSE = "another root cause"
    WARNINGS = "other warnings"
    LISTED = "other counts or lists"
    WORDING = "wording only"


ORDER = {kind: number for number, kind in enumerate(ChangeKind)}


@dataclass(frozen=True, slots=True)
class BriefDifference:
    """One part of a brief before and now, as text."""

    part: str
    before: str
    now: str


@dataclass(frozen=True, slots=True)
class ChangedBrief:
    """A brief that changed."""

    about: Mapping[str, str]  # its alert: incident, channel, service, title, time
    kind: ChangeKind
    differences: tuple[BriefDifference, ...]


@dataclass(frozen=True, slots=True)
class ReplayComparison:
    """Two replays side by side."""

    compared: int
    changes: tuple[ChangedBrief, ...] = ()
    gone: int = 0  # alerts that are no longer stored
    added: int = 0  # alerts that the first replay did not have
    moved: int = 0  # of the added, those stored again meanwhile with other evidence

    @property
    def count_by_kind(self) -> Mapping[ChangeKind, int]:
        """How many briefs of each kind changed, worst first."""
        counts = Counter(change.kind for change in self.changes)
        return {kind: counts[kind] for kind in ChangeKind if counts[kind]}


def _at(brief: Json, *path: str) -> Any:
    found: Any = brief
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def _list_rows(brief: Json, name: str) -> list[Any]:
    rows = _at(brief, name)
    return rows if isinstance(rows, list) else []


def _list_values(brief: Json, name: str, *keys: str) -> list[str]:
    return [" ".join(str(_at(row, key)) for key in keys) if keys else str(row) for row in _list_rows(brief, name)]


def _read_lead(brief: Json) -> str | None:
    return next(iter(_list_values(brief, "sources", "incident_id")), None)


def _format_counts(brief: Json) -> str | None:
    best = _at(brief, "recommendation")
    names = ("successes", "partial", "failures", "outages")
    return ", ".join(f"{name} {_at(best, name)}" for name in names) if best else None


def _list_skips(brief: Json) -> list[str]:
    return [f"{_at(row, 'check')}: {_at(row, 'count')} of {_at(row, 'of')}" for row in _list_rows(brief, "skip")]


Part = tuple[ChangeKind, str, str, Callable[[Json], object]]
# The kind of a difference, what it is called, the key of the brief that must be known on both sides, and the part itself.
PARTS: tuple[Part, ...] = (
    (ChangeKind.FIX, "fix", "recommendation", lambda b: _at(b, "recommendation", "fix")),
    (ChangeKind.STEPS, "steps", "steps", lambda b: _list_values(b, "steps")),
    (ChangeKind.CONFIDENCE, "confidence", "recommendation", lambda b: _at(b, "recommendation", "confidence")),
    (ChangeKind.FAULT, "fault", "boundary", lambda b: _at(b, "boundary", "value")),
    (ChangeKind.LEAD, "leads", "sources", _read_lead),
    (ChangeKind.CAUSE, "root cause", "root_cause", lambda b: _at(b, "root_cause", "text")),
    (ChangeKind.CAUSE, "verified", "root_cause", lambda b: _at(b, "root_cause", "verified")),
    (ChangeKind.WARNINGS, "contradicted", "contradictions", lambda b: _list_values(b, "contradictions", "lead")),
    (ChangeKind.WARNINGS, "warnings", "step_warnings", lambda b: _list_values(b, "step_warnings")),
    (ChangeKind.WARNINGS, "did not work", "did_not_work", lambda b: _list_values(b, "did_not_work", "fix", "failures")),
    (ChangeKind.LISTED, "counts", "recommendation", _format_counts),
    (ChangeKind.LISTED, "precedents", "sources", lambda b: sorted(_list_values(b, "sources", "incident_id"))),
    (ChangeKind.LISTED, "possible", "possible", lambda b: sorted(_list_values(b, "possible", "incident_id"))),
    (ChangeKind.LISTED, "alternatives", "alternatives", lambda b: _list_values(b, "alternatives", "fix", "confidence")),
    (ChangeKind.LISTED, "skip", "skip", _list_skips),
    (ChangeKind.LISTED, "later", "later", lambda b: _list_values(b, "later", "check")),
    (ChangeKind.LISTED, "nearest", "insufficient_memory", lambda b: _at(b, "insufficient_memory", "nearest")),
    (ChangeKind.WORDING, "verdict", "verdict", lambda b: _at(b, "verdict")),
    (ChangeKind.WORDING, "explained", "recommendation", lambda b: _at(b, "recommendation", "explanation")),
    (ChangeKind.WORDING, "told apart by", "boundary", lambda b: _at(b, "boundary", "told_apart_by")),
    (ChangeKind.WORDING, "no answer for", "insufficient_memory", lambda b: _at(b, "insufficient_memory", "reason")),
    (
        ChangeKind.WORDING,
        "collect",
        "insufficient_memory",
        lambda b: _list_values(_at(b, "insufficient_memory") or {}, "collect"),
    ),
)
# Enough to show if a brief no longer has an answer, or has one now: everything else follows from that.
ENOUGH = frozenset({"verdict", "fix", "confidence", "leads"})


def find_differences(before: Json, now: Json) -> tuple[ChangeKind | None, tuple[BriefDifference, ...]]:
    """Return the kind of a brief's change and its differences, worst first; None and () if nothing changed."""
    found = [
        (
            kind if _normalize(old) != _normalize(new) else ChangeKind.WORDING,
            BriefDifference(part, _format_value(old), _format_value(new)),
        )
        for kind, part, key, of in PARTS
        if key in before and key in now and _format_value(old := of(before)) != _format_value(new := of(now))
    ]
    was_silent, is_silent = (bool(_at(brief, "insufficient_memory")) for brief in (before, now))
    if was_silent != is_silent:
        shown = tuple(one for _, one in found if one.part in ENOUGH)
        return (ChangeKind.SILENT if is_silent else ChangeKind.ANSWERS), tuple(
            sorted(shown, key=lambda one: one.part != "verdict")
        )
    if not found:
        return None, ()
    found.sort(key=lambda one: ORDER[one[0]])
    return found[0][0], tuple(one for _, one in found)


def compare_replays(before: Iterable[Json], now: Iterable[Json]) -> ReplayComparison:
    """Compare two replays, one line for each alert: `incident_id`, `channel`, `evidence_at`, `brief`, and its names."""
    first = {_build_key(line): line for line in before}
    second = {_build_key(line): line for line in now}
    both = [key for key in first if key in second]
    still = [key for key in both if first[key].get("evidence_at") == second[key].get("evidence_at")]
    changes = []
    for key in still:
        kind, parts = find_differences(first[key]["brief"], second[key]["brief"])
        if kind is not None:
            changes.append(
                (
                    _build_sort_key(kind, first[key], second[key]),
                    ChangedBrief(_describe_alert(second[key]), kind, parts),
                )
            )
    changes.sort(key=lambda one: one[0])
    moved = len(both) - len(still)
    return ReplayComparison(
        len(still), tuple(c for _, c in changes), len(first) - len(both), len(second) - len(both), moved
    )


def _build_key(line: Json) -> tuple[str, str]:
    return str(line.get("incident_id")), str(line.get("channel"))


def _describe_alert(line: Json) -> dict[str, str]:
    return {name: str(line.get(name) or "") for name in ("incident_id", "channel", "service", "title", "at")}


def _build_sort_key(kind: ChangeKind, before: Json, now: Json) -> tuple[int, int, str, str]:
    """Order by kind, then by the confidence of either side: people follow the confident briefs."""
    sure = min(_CONFIDENCE.get(str(_at(line["brief"], "recommendation", "confidence")), 3) for line in (before, now))
    return ORDER[kind], sure, str(now.get("at") or ""), str(now.get("incident_id"))


def _format_value(value: object) -> str:
    if value is None or value == []:
        return NOTHING
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value)


def _normalize(value: object) -> str:
    """Return the form that two texts share if they say the same."""
    return "\n".join(normalize(str(v)) for v in value) if isinstance(value, list) else normalize(_format_value(value))
