"""Which briefs are others than before: the differences between two replays of the same alerts, grouped and worst first.

Works on briefs as JSON values (`brief_json`), for those from before were written by another version: what one side does not
know is no difference. Must not decide a brief, read a file or render.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from bot.domain.text.tokens import normalise

Json = Mapping[str, Any]
NOTHING = "–"
_CONFIDENCE = {"HIGH": 0, "MEDIUM": 1, "LOW": 2}


class Kind(StrEnum):
    """What changed, worst first: the worst of a brief's differences is its kind."""

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


ORDER = {kind: number for number, kind in enumerate(Kind)}


@dataclass(frozen=True, slots=True)
class Difference:
    """One part of a brief before and now, as text."""

    part: str
    before: str
    now: str


@dataclass(frozen=True, slots=True)
class Changed:
    """A brief that is another now. `about` names its alert: incident, channel, service, title, time."""

    about: Mapping[str, str]
    kind: Kind
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two replays side by side. `gone` alerts are no longer stored, `added` were not in the first, and of those `moved`
    something was stored anew meanwhile (other evidence): none of these is compared."""

    compared: int
    changes: tuple[Changed, ...] = ()
    gone: int = 0
    added: int = 0
    moved: int = 0

    @property
    def kinds(self) -> Mapping[Kind, int]:
        """How many briefs of each kind changed, worst first."""
        counts = Counter(change.kind for change in self.changes)
        return {kind: counts[kind] for kind in Kind if counts[kind]}


def _at(brief: Json, *path: str) -> Any:
    found: Any = brief
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def _rows(brief: Json, name: str) -> list[Any]:
    rows = _at(brief, name)
    return rows if isinstance(rows, list) else []


def _each(brief: Json, name: str, *keys: str) -> list[str]:
    return [" ".join(str(_at(row, key)) for key in keys) if keys else str(row) for row in _rows(brief, name)]


def _lead(brief: Json) -> str | None:
    return next(iter(_each(brief, "sources", "incident_id")), None)


def _counts(brief: Json) -> str | None:
    best = _at(brief, "recommendation")
    names = ("successes", "partial", "failures", "outages")
    return ", ".join(f"{name} {_at(best, name)}" for name in names) if best else None


def _skips(brief: Json) -> list[str]:
    return [f"{_at(row, 'check')}: {_at(row, 'count')} of {_at(row, 'of')}" for row in _rows(brief, "skip")]


Part = tuple[Kind, str, str, Callable[[Json], object]]
# The kind of a difference, what it is called, the key of the brief that must be known on both sides, and the part itself.
PARTS: tuple[Part, ...] = (
    (Kind.FIX, "fix", "recommendation", lambda b: _at(b, "recommendation", "fix")),
    (Kind.STEPS, "steps", "steps", lambda b: _each(b, "steps")),
    (Kind.CONFIDENCE, "confidence", "recommendation", lambda b: _at(b, "recommendation", "confidence")),
    (Kind.FAULT, "fault", "boundary", lambda b: _at(b, "boundary", "value")),
    (Kind.LEAD, "leads", "sources", _lead),
    (Kind.CAUSE, "root cause", "root_cause", lambda b: _at(b, "root_cause", "text")),
    (Kind.CAUSE, "verified", "root_cause", lambda b: _at(b, "root_cause", "verified")),
    (Kind.WARNINGS, "contradicted", "contradictions", lambda b: _each(b, "contradictions", "lead")),
    (Kind.WARNINGS, "warnings", "step_warnings", lambda b: _each(b, "step_warnings")),
    (Kind.WARNINGS, "did not work", "did_not_work", lambda b: _each(b, "did_not_work", "fix", "failures")),
    (Kind.LISTED, "counts", "recommendation", _counts),
    (Kind.LISTED, "precedents", "sources", lambda b: sorted(_each(b, "sources", "incident_id"))),
    (Kind.LISTED, "possible", "possible", lambda b: sorted(_each(b, "possible", "incident_id"))),
    (Kind.LISTED, "alternatives", "alternatives", lambda b: _each(b, "alternatives", "fix", "confidence")),
    (Kind.LISTED, "skip", "skip", _skips),
    (Kind.LISTED, "later", "later", lambda b: _each(b, "later", "check")),
    (Kind.LISTED, "nearest", "insufficient_memory", lambda b: _at(b, "insufficient_memory", "nearest")),
    (Kind.WORDING, "verdict", "verdict", lambda b: _at(b, "verdict")),
    (Kind.WORDING, "explained", "recommendation", lambda b: _at(b, "recommendation", "explanation")),
    (Kind.WORDING, "told apart by", "boundary", lambda b: _at(b, "boundary", "told_apart_by")),
    (Kind.WORDING, "no answer for", "insufficient_memory", lambda b: _at(b, "insufficient_memory", "reason")),
    (Kind.WORDING, "collect", "insufficient_memory", lambda b: _each(_at(b, "insufficient_memory") or {}, "collect")),
)
# What tells enough where a brief answers no longer, or answers now: all else follows from that.
ENOUGH = frozenset({"verdict", "fix", "confidence", "leads"})


def differences(before: Json, now: Json) -> tuple[Kind | None, tuple[Difference, ...]]:
    """The kind of a brief's change, and its parts before and now, the worst first; None where nothing changed."""
    found = [
        (kind if _form(old) != _form(new) else Kind.WORDING, Difference(part, _text(old), _text(new)))
        for kind, part, key, of in PARTS
        if key in before and key in now and _text(old := of(before)) != _text(new := of(now))
    ]
    was_silent, is_silent = (bool(_at(brief, "insufficient_memory")) for brief in (before, now))
    if was_silent != is_silent:
        shown = tuple(one for _, one in found if one.part in ENOUGH)
        return (Kind.SILENT if is_silent else Kind.ANSWERS), tuple(sorted(shown, key=lambda one: one.part != "verdict"))
    if not found:
        return None, ()
    found.sort(key=lambda one: ORDER[one[0]])
    return found[0][0], tuple(one for _, one in found)


def compare(before: Iterable[Json], now: Iterable[Json]) -> Comparison:
    """Two replays, one line for each alert: `incident_id`, `channel`, `evidence_at`, `brief`, and what names the alert."""
    first = {_key(line): line for line in before}
    second = {_key(line): line for line in now}
    both = [key for key in first if key in second]
    still = [key for key in both if first[key].get("evidence_at") == second[key].get("evidence_at")]
    changes = []
    for key in still:
        kind, parts = differences(first[key]["brief"], second[key]["brief"])
        if kind is not None:
            changes.append((_rank(kind, first[key], second[key]), Changed(_about(second[key]), kind, parts)))
    changes.sort(key=lambda one: one[0])
    moved = len(both) - len(still)
    return Comparison(len(still), tuple(c for _, c in changes), len(first) - len(both), len(second) - len(both), moved)


def _key(line: Json) -> tuple[str, str]:
    return str(line.get("incident_id")), str(line.get("channel"))


def _about(line: Json) -> dict[str, str]:
    return {name: str(line.get(name) or "") for name in ("incident_id", "channel", "service", "title", "at")}


def _rank(kind: Kind, before: Json, now: Json) -> tuple[int, int, str, str]:
    """Worst first: by kind, then by how sure either side is, for that is what people follow."""
    sure = min(_CONFIDENCE.get(str(_at(line["brief"], "recommendation", "confidence")), 3) for line in (before, now))
    return ORDER[kind], sure, str(now.get("at") or ""), str(now.get("incident_id"))


def _text(value: object) -> str:
    if value is None or value == []:
        return NOTHING
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value)


def _form(value: object) -> str:
    """What two texts have in common that say the same."""
    return "\n".join(normalise(str(v)) for v in value) if isinstance(value, list) else normalise(_text(value))
