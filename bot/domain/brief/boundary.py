"""Where the fault lies, by the strong precedents' word. Must not look at evidence or at fixes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bot.domain.alerts.alert import Alert
from bot.domain.incidents.outages import map_outages
from bot.domain.incidents.record import Boundary, Incident
from bot.domain.recall.contrast import describe_contrast, find_likeness
from bot.domain.recall.ranking import Precedent


@dataclass(frozen=True, slots=True)
class BoundaryCall:
    """Where the fault lies; `votes` counts outages per boundary when they disagree or agree; `told_apart_by` says in words
    what told the cases apart, if anything did. `this_alert`: which of disagreeing cases the alert at hand is like, in
    words; `like`: the values by which it is like those that agree with `value`, None if it is like none."""

    value: Boundary = Boundary.UNKNOWN
    votes: Mapping[str, int] = field(default_factory=dict)
    told_apart_by: str | None = None
    this_alert: str | None = None
    like: str | None = None


def _count_votes(strong: Sequence[Precedent]) -> Mapping[str, int]:
    """Outages per boundary. An outage votes once, with its best incident that states a boundary."""
    outage = map_outages(p.incident for p in strong)
    voice: dict[str, Boundary] = {}
    for precedent in strong:
        key = outage[precedent.incident.incident_id]
        if voice.get(key, Boundary.UNKNOWN) is Boundary.UNKNOWN:
            voice[key] = precedent.incident.boundary
    counts = Counter(boundary.value for boundary in voice.values())
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def call_boundary(strong: Sequence[Precedent], alert: Alert | None = None) -> BoundaryCall:
    """The word of the best strong precedent that states a boundary (best first), with the votes of all outages. Where they
    disagree and the alert is like one side by what tells them apart, that side's word."""
    stated = [p.incident for p in strong if p.incident.boundary is not Boundary.UNKNOWN]
    if not stated:
        return BoundaryCall(votes=_count_votes(strong))
    sides: dict[str, list[Incident]] = {}
    for incident in stated:
        sides.setdefault(incident.boundary.value, []).append(incident)
    found = find_likeness(alert, sides) if alert else None
    value = Boundary(found.group) if found and found.group else stated[0].boundary
    others = [i for i in stated if i.boundary is not value]
    apart = describe_contrast(
        sides[value.value], others, value.value, "/".join(sorted({i.boundary.value for i in others}))
    )
    return BoundaryCall(
        value,
        _count_votes(strong),
        apart,
        found.said if found else None,
        found.because if found and found.group else None,
    )


def has_other_boundary(call: BoundaryCall, worked_in: Sequence[str]) -> bool:
    """Whether a fix worked only in cases whose boundary is another one than that of this call; a mixed case speaks for
    both sides."""
    if call.value in {Boundary.UNKNOWN, Boundary.MIXED} or not worked_in:
        return False
    return not {call.value.value, Boundary.MIXED.value, Boundary.UNKNOWN.value} & set(worked_in)
