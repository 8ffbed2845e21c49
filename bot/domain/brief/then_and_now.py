"""What evidence showed when an incident happened, kept as readable text by signal, and how it compares with now.

Must not judge: "then" comes from a record, "now" from a source, and each is called what it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bot.domain.evidence.items import Evidence, EvidenceKind, format_observed, select_observed, sort_evidence
from bot.domain.recall.ranking import Precedent
from bot.domain.text.format import fit_one_line

MOST_SIGNALS = 20
SIGNAL_LIMIT = 60
VALUE_LIMIT = 80
# Lines of a log are many and never the same: they are looked at, not compared.
_KEPT = frozenset(EvidenceKind) - {EvidenceKind.LOGS}


@dataclass(frozen=True, slots=True)
class PastSnapshot:
    """The snapshot of a past incident, by signal."""

    incident_id: str
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ThenAndNow:
    """One signal in a past incident and at present."""

    signal: str
    what: str
    then: str
    now: str


def take_snapshot(evidence: Iterable[Evidence], before: Mapping[str, str] | None = None) -> dict[str, str]:
    """What was observed, as a record keeps it: {"error_ratio": "18.2 %"}. What was kept `before` stays as it is: the
    first look is nearest to how it began."""
    kept = dict(before or {})
    for item in select_observed(sort_evidence(evidence)):
        if (
            item.kind in _KEPT
            and len(kept) < MOST_SIGNALS
            and (said := fit_one_line(format_observed(item), VALUE_LIMIT))
        ):
            kept.setdefault(fit_one_line(item.signal, SIGNAL_LIMIT), said)
    return kept


def find_past_snapshot(strong: Sequence[Precedent]) -> PastSnapshot | None:
    """The snapshot of the best strong precedent (best first) that has one by signal, which can be compared; else of the
    best that has one in a person's words."""
    known = [p.incident for p in strong if p.incident.evidence]
    best = next((i for i in known if not all(" " in name for name in i.evidence)), known[0] if known else None)
    if best is None:
        return None
    values = sorted(best.evidence.items())[:MOST_SIGNALS]
    return PastSnapshot(
        best.incident_id, {fit_one_line(k, SIGNAL_LIMIT): fit_one_line(v, VALUE_LIMIT) for k, v in values}
    )


def compare_then_and_now(then: PastSnapshot | None, evidence: Sequence[Evidence]) -> tuple[ThenAndNow, ...]:
    """The signals that are known of both, in the order of what is shown now."""
    if then is None:
        return ()
    found: dict[str, ThenAndNow] = {}
    for item in select_observed(evidence):
        if item.signal in then.values and format_observed(item):
            pair = ThenAndNow(
                item.signal, item.what, then.values[item.signal], fit_one_line(format_observed(item), VALUE_LIMIT)
            )
            found.setdefault(item.signal, pair)
    return tuple(found.values())
