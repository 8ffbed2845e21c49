"""Profile one vendor from the records: incidents, what its outages look like, where the fault was, how long they take
and what fixed them.

A pattern that held so far is memory, not a diagnosis.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, combinations
from statistics import median

from bot.domain.brief.recommendation import FixRecord, build_fix_record
from bot.domain.catalog.vendors import STANDARD, Directory, resolve_vendor
from bot.domain.fixes.identity import FixGroups
from bot.domain.incidents.outages import map_outages
from bot.domain.incidents.record import Boundary, Incident
from bot.domain.recall.contrast import read_status_page
from bot.domain.recall.ranking import Precedent, Tier
from bot.domain.text.error_codes import find_codes
from bot.domain.text.names import normalize_name

PATTERNS = 5
# A sign that came with one outage only is a case, not a pattern.
SUPPORT = 2
MOST_SIGNS = 3
MOST_OF_ONE = 8
_STATUS = {True: "status page green", False: "status page not green"}


@dataclass(frozen=True, slots=True)
class VendorPattern:
    """Signs that occurred together: an error code, a region, the status page's state."""

    signs: tuple[str, ...]
    outages: int  # how many had them
    boundaries: Mapping[str, int]  # where the fault was, as far as known

    @property
    def usual(self) -> tuple[str, int] | None:
        """The boundary of most of them, and how many; None if none is known."""
        return min(self.boundaries.items(), key=lambda pair: (-pair[1], pair[0]), default=None)


@dataclass(frozen=True, slots=True)
class VendorProfile:
    """The profile."""

    vendor: str
    incidents: tuple[Incident, ...]  # newest first
    outages: int
    boundaries: Mapping[str, int]
    patterns: tuple[VendorPattern, ...]
    minutes: float | None  # median time to resolve of the `timed` outages
    timed: int
    fixes: FixRecord


@dataclass(frozen=True, slots=True)
class _Outage:
    signs: frozenset[str]
    boundary: str | None
    minutes: float | None


def build_vendor_profile(
    vendor: str,
    records: Iterable[Incident],
    at: datetime,
    since: datetime | None = None,
    names: Directory = STANDARD,
    filed: FixGroups | None = None,
) -> VendorProfile:
    """Profile the records that name the vendor, under any of its names, and happened since then."""
    wanted = normalize_name(resolve_vendor(vendor, names))
    found = [r for r in records if r.vendor and normalize_name(resolve_vendor(r.vendor, names)) == wanted]
    found = [r for r in found if since is None or (r.happened_at is not None and r.happened_at >= since)]
    found.sort(key=lambda r: (_read_timestamp(r), r.incident_id), reverse=True)
    outages = _group_outages(found)
    took = [o.minutes for o in outages if o.minutes is not None]
    return VendorProfile(
        vendor=next((r.vendor for r in found if r.vendor), vendor),
        incidents=tuple(found),
        outages=len(outages),
        boundaries=_count_boundaries(outages),
        patterns=_find_patterns(outages),
        minutes=round(median(took), 1) if took else None,
        timed=len(took),
        fixes=build_fix_record([Precedent(r, 1.0, Tier.STRONG) for r in found], at, filed=filed),
    )


def _read_timestamp(record: Incident) -> float:
    return record.happened_at.timestamp() if record.happened_at else 0.0


def _group_outages(records: Sequence[Incident]) -> list[_Outage]:
    outage = map_outages(records)
    groups: dict[str, list[Incident]] = {}
    for record in records:
        groups.setdefault(outage[record.incident_id], []).append(record)
    signs = {key: frozenset(chain.from_iterable(map(_collect_signs, group))) for key, group in groups.items()}
    often = Counter(chain.from_iterable(signs.values()))
    return [_build_outage(group, _choose_common(signs[key], often)) for key, group in groups.items()]


def _choose_common(signs: frozenset[str], often: Mapping[str, int]) -> frozenset[str]:
    """Return the few signs that other outages share. One outage's own signs make no pattern, and all subsets are
    tried."""
    return frozenset(sorted(signs, key=lambda sign: (-often[sign], sign))[:MOST_OF_ONE])


def _build_outage(group: Sequence[Incident], signs: frozenset[str]) -> _Outage:
    """Build one outage; if its records disagree about the fault, it was mixed."""
    known = {r.boundary.value for r in group if r.boundary is not Boundary.UNKNOWN}
    boundary = known.pop() if len(known) == 1 else Boundary.MIXED.value if known else None
    lasted = [
        (r.resolved_at - r.started_at).total_seconds() / 60
        for r in group
        if r.started_at and r.resolved_at and r.resolved_at >= r.started_at
    ]
    return _Outage(signs, boundary, max(lasted, default=None))


def _collect_signs(record: Incident) -> set[str]:
    texts = (record.title, *record.symptoms)
    signs = {code for text in texts for code in find_codes(text)}
    signs |= {region for region in [normalize_name(record.region)] if region}
    page = read_status_page("; ".join((*texts, *record.evidence.values())))
    return signs | ({_STATUS[page]} if page is not None else set())


def _count_boundaries(outages: Iterable[_Outage]) -> Mapping[str, int]:
    counts = Counter(o.boundary for o in outages if o.boundary)
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def _find_patterns(outages: Sequence[_Outage]) -> tuple[VendorPattern, ...]:
    """Return the signs that occurred together in at least two outages; of equal sets of outages the longest.

    Those with one constant boundary come first, then the most frequent.
    """
    every = frozenset(chain.from_iterable(outage.signs for outage in outages))
    having = {sign: frozenset(n for n, outage in enumerate(outages) if sign in outage.signs) for sign in every}
    kinds = {outage.signs for outage in outages}
    together = {s for signs in kinds for size in range(1, MOST_SIGNS + 1) for s in combinations(sorted(signs), size)}
    held = {frozenset(signs): frozenset.intersection(*(having[sign] for sign in signs)) for signs in together}
    longest: dict[frozenset[int], frozenset[str]] = {}
    for signs, where in held.items():
        if len(where) >= SUPPORT:
            longest[where] = min(signs, longest.get(where, signs), key=lambda s: (-len(s), sorted(s)))
    found = [
        VendorPattern(_sort_signs(signs), len(w), _count_boundaries(outages[n] for n in w))
        for w, signs in longest.items()
    ]
    known = [pattern for pattern in found if pattern.usual]
    return tuple(sorted(known, key=_build_sort_key)[:PATTERNS])


def _sort_signs(signs: Iterable[str]) -> tuple[str, ...]:
    """Return codes first, then places, then the status page's state."""
    return tuple(sorted(signs, key=lambda sign: (sign in _STATUS.values(), sign)))


def _build_sort_key(pattern: VendorPattern) -> tuple[bool, int, int, tuple[str, ...]]:
    return len(pattern.boundaries) > 1, -pattern.outages, -len(pattern.signs), pattern.signs
