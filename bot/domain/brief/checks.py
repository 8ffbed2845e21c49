"""The checks that wasted time last time, and those to leave for later. Must not count fixes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from bot.domain.incidents.outages import map_outages
from bot.domain.incidents.record import Incident, VerificationStatus
from bot.domain.recall.ranking import Precedent
from bot.domain.text.format import join_names
from bot.domain.text.names import find_content_words, find_head_word
from bot.domain.text.tokens import normalize

SHOWN = 5
# What every cause has: that another one was about such a thing, too, says nothing of this check.
_VAGUE_HEADS = """
configuration count deploy deployment error failure health latency limit load log metric message number page rate request
restart service setting size state status time timeout usage value"""
_VAGUE = frozenset(_VAGUE_HEADS.split())


@dataclass(frozen=True, slots=True)
class SkippedCheck:
    """A failed check of strong precedents: not the cause in `count` of `of` outages. What it cost then, where known: the
    median and the range of `minutes_known` outages. It is what was lost, not what skipping it will save."""

    check: str
    count: int
    of: int
    minutes_median: float | None = None
    minutes_range: tuple[float, float] | None = None
    incidents: tuple[str, ...] = ()
    minutes_known: int = 0


@dataclass(frozen=True, slots=True)
class PostponedCheck:
    """A failed check that was the cause (or the fix) in another precedent: do it later, do not skip it."""

    check: str
    reason: str
    incidents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _RuledOutCheck:
    """One failed check in one outage."""

    check: str
    incident_id: str
    outage: str
    minutes: float | None


def normalize_check(check: str) -> frozenset[str] | str:
    """The form under which two checks are one: their content words ("Checked the DB pool" is "DB pool")."""
    return find_content_words(check) or normalize(check)


def _collect_checks(strong: Sequence[Precedent], outage: Mapping[str, str]) -> Mapping[object, list[_RuledOutCheck]]:
    """Failed checks by what they looked at, best precedent first."""
    found: dict[object, list[_RuledOutCheck]] = {}
    for precedent in strong:
        incident = precedent.incident
        for failed in incident.failed_checks:
            form = normalize_check(failed.check)
            if form:
                seen = _RuledOutCheck(failed.check, incident.incident_id, outage[incident.incident_id], failed.minutes)
                found.setdefault(form, []).append(seen)
    return found


def _build_skip(seen: Sequence[_RuledOutCheck], total: int) -> SkippedCheck:
    """One check with its count; within an outage the longest time it cost counts."""
    minutes: dict[str, float] = {}
    for one in seen:
        if one.minutes is not None:
            minutes[one.outage] = max(one.minutes, minutes.get(one.outage, one.minutes))
    known = sorted(minutes.values())
    return SkippedCheck(
        check=seen[0].check.strip(),
        count=len({one.outage for one in seen}),
        of=total,
        minutes_median=float(median(known)) if known else None,
        minutes_range=(known[0], known[-1]) if known else None,
        incidents=tuple(dict.fromkeys(one.incident_id for one in seen)),
        minutes_known=len(known),
    )


def _is_mentioned(words: frozenset[str], text: str | None) -> bool:
    return bool(words) and bool(text) and words <= find_content_words(text or "")


def _may_be(check: str, cause: str | None) -> bool:
    """Whether a cause may be what the check looks at, in other words: "DB pool", "the pool of 50 connections"."""
    head = find_head_word(check)
    return head is not None and head not in _VAGUE and _is_mentioned(frozenset({head}), cause)


def _find_guilty(skip: SkippedCheck, strong: Sequence[Incident], possible: Sequence[Incident]) -> PostponedCheck | None:
    """The same check as something to do later, if it was the cause or the fix in an incident that did not rule it
    out; None if it never was. In a strong precedent it need not be named by the same words."""
    words, form = find_content_words(skip.check), normalize_check(skip.check)
    rest = [
        i for i in (*strong, *possible) if form not in {normalize_check(failed.check) for failed in i.failed_checks}
    ]
    if cause := [i.incident_id for i in rest if _is_mentioned(words, i.root_cause)]:
        return PostponedCheck(skip.check, f"it was the cause in {join_names(cause, 3)}", tuple(cause))
    fix = [
        i.incident_id
        for i in rest
        if any(a.status is VerificationStatus.VERIFIED and _is_mentioned(words, a.fix) for a in i.attempts)
    ]
    if fix:
        return PostponedCheck(skip.check, f"it was part of the fix in {join_names(fix, 3)}", tuple(fix))
    like = [i.incident_id for i in strong if i in rest and _may_be(skip.check, i.root_cause)]
    return (
        PostponedCheck(skip.check, f"it may have been the cause in {join_names(like, 3)}", tuple(like))
        if like
        else None
    )


def choose_checks(
    strong: Sequence[Precedent], possible: Sequence[Precedent]
) -> tuple[tuple[SkippedCheck, ...], tuple[PostponedCheck, ...]]:
    """(checks to skip, checks to do later), together at most `SHOWN`, those that wasted most first.

    Only failed checks of strong precedents are told; a possible precedent can still turn a skip into a later.
    """
    outage = map_outages(p.incident for p in strong)
    total = len(set(outage.values()))
    skips = [_build_skip(seen, total) for seen in _collect_checks(strong, outage).values()]
    skips.sort(key=lambda s: (-s.count, -(s.minutes_median or 0.0), normalize(s.check)))
    near, far = ([p.incident for p in tier] for tier in (strong, possible))
    shown = [(skip, _find_guilty(skip, near, far)) for skip in skips[:SHOWN]]
    return tuple(s for s, later in shown if later is None), tuple(later for _, later in shown if later)
