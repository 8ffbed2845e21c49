"""Where the fault lies, by the strong precedents' word. Must not look at evidence or at fixes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bot.domain.apart import told_apart
from bot.domain.incident import Boundary
from bot.domain.outages import outage_of
from bot.domain.ranking import Precedent


@dataclass(frozen=True, slots=True)
class BoundaryCall:
    """The boundary of the top strong precedent; `votes` counts outages per boundary when they disagree or agree;
    `told_apart_by` says in words what told the cases apart, if anything did."""

    value: Boundary = Boundary.UNKNOWN
    votes: Mapping[str, int] = field(default_factory=dict)
    told_apart_by: str | None = None


def _votes(strong: Sequence[Precedent]) -> Mapping[str, int]:
    """Outages per boundary. An outage votes once, with its best incident that states a boundary."""
    outage = outage_of(p.incident for p in strong)
    voice: dict[str, Boundary] = {}
    for precedent in strong:
        key = outage[precedent.incident.incident_id]
        if voice.get(key, Boundary.UNKNOWN) is Boundary.UNKNOWN:
            voice[key] = precedent.incident.boundary
    counts = Counter(boundary.value for boundary in voice.values())
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def call_boundary(strong: Sequence[Precedent]) -> BoundaryCall:
    """The word of the best strong precedent that states a boundary (best first), with the votes of all outages."""
    stated = [p.incident for p in strong if p.incident.boundary is not Boundary.UNKNOWN]
    if not stated:
        return BoundaryCall(votes=_votes(strong))
    value = stated[0].boundary
    agreeing = [i for i in stated if i.boundary is value]
    others = [i for i in stated if i.boundary is not value]
    apart = told_apart(agreeing, others, value.value, "/".join(sorted({i.boundary.value for i in others})))
    return BoundaryCall(value, _votes(strong), apart)
