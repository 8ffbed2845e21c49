"""What persons said of precedents and fixes, heeded in a recall. Must not judge anew what they said, or lose it in silence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from bot.domain.access.visibility import Viewer
from bot.domain.fixes.identity import FixGroups
from bot.domain.recall.dismissed import DismissedPrecedent, is_same_kind
from bot.domain.recall.query import Query
from bot.domain.recall.ranking import (
    POSSIBLE_FROM,
    Precedent,
    Recalled,
    Tier,
    build_sort_key,
    cap_probability,
    choose_tier,
)


@dataclass(frozen=True, slots=True)
class Feedback:
    """What holds now."""

    set_aside: tuple[DismissedPrecedent, ...] = ()
    filed: FixGroups = field(default_factory=dict)


def apply_feedback(recalled: Recalled, query: Query, said: Feedback, viewer: Viewer) -> Recalled:
    """The recall with what was said: a precedent set aside for this kind of alert is at most possible, and not shown where
    it is pinned off for the service; each says so. Nothing else about it changes."""
    asides = {
        a.incident_id: a
        for a in _sort_dismissals(said.set_aside)
        if is_same_kind(a, query) and viewer.may_see(a.visibility)
    }
    if not asides:
        return replace(recalled, filed=said.filed)
    heeded = [_demote(p, asides.get(p.incident.incident_id)) for p in recalled.precedents]
    shown = {p.incident.incident_id for p in recalled.precedents if p.tier is not Tier.NONE}
    listed = tuple(aside for incident_id, aside in sorted(asides.items()) if incident_id in shown)
    return replace(recalled, precedents=tuple(sorted(heeded, key=build_sort_key)), filed=said.filed, set_aside=listed)


def _sort_dismissals(asides: Sequence[DismissedPrecedent]) -> list[DismissedPrecedent]:
    """The one that holds last: what is pinned off, then the newest."""
    return sorted(asides, key=lambda a: (a.pinned_off, a.at, a.number))


def _demote(precedent: Precedent, aside: DismissedPrecedent | None) -> Precedent:
    if aside is None:
        return precedent
    probability = min(precedent.probability, cap_probability(precedent.probability))
    if aside.pinned_off:
        probability = min(probability, POSSIBLE_FROM * precedent.probability / 2)
    why = (aside.reason_text, *precedent.why)
    return replace(precedent, probability=probability, tier=choose_tier(probability), why=why)
