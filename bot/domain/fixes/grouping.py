"""Which wordings are one fix, as persons said: their acts in order, made into the filing that `same_fix` goes by.

Must not compare wordings itself. The last that was said of two wordings holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.domain.fixes.identity import FixGroups, build_fix_key, is_same_fix, name_fix
from bot.domain.fixes.steps import normalize_fix
from bot.domain.incidents.record import Incident
from bot.domain.text.names import find_content_words

# Of so many wordings pairs are looked for, and so many pairs are shown.
WORDINGS, PAIRS = 12, 5
# Words in common from which two fixes may be one; a person decides.
ALIKE = 0.34


@dataclass(frozen=True, slots=True)
class FixEquivalence:
    """A person said of two wordings that they are one fix, or that they are two. The incidents are those that word it so:
    when one of them is purged, this goes with it."""

    same: bool
    one: str
    other: str
    one_incident: str
    other_incident: str
    by: str
    at: datetime
    number: int = 0


@dataclass(frozen=True, slots=True)
class Wording:
    """A fix as it is worded, and the first incident that words it so."""

    fix: str
    incident_id: str


@dataclass(frozen=True, slots=True)
class FixPair:
    """Two wordings, and whether they are counted as one fix now."""

    one: Wording
    other: Wording
    same: bool


def list_wordings(records: Iterable[Incident]) -> tuple[Wording, ...]:
    """Every fix that was tried, each wording once. What carries a runbook is one fix with all that carry it."""
    found: dict[str, Wording] = {}
    for record in records:
        for attempt in record.attempts:
            if attempt.fix.strip() and not attempt.runbook_id:
                found.setdefault(normalize_fix(attempt.fix), Wording(attempt.fix, record.incident_id))
    return tuple(found.values())


def choose_pairs(records: Iterable[Incident], acts: Sequence[FixEquivalence]) -> tuple[FixPair, ...]:
    """The pairs of wordings that a person may want to say something of: first those of which something was said, then
    those that are counted apart and read alike, then those that are counted as one."""
    filed, said = build_fix_groups(acts), {_build_pair(act) for act in acts}
    wordings = list_wordings(records)[:WORDINGS]
    found: list[tuple[int, FixPair]] = []
    for place, one in enumerate(wordings):
        for other in wordings[place + 1 :]:
            same = is_same_fix(one.fix, other.fix, filed)
            was_said = frozenset({normalize_fix(one.fix), normalize_fix(other.fix)}) in said
            if was_said or same or _is_alike(one.fix, other.fix):
                found.append((0 if was_said else 1 + same, FixPair(one, other, same)))
    return tuple(pair for _, pair in sorted(found, key=lambda each: each[0])[:PAIRS])


def _is_alike(one: str, other: str) -> bool:
    first, second = find_content_words(one), find_content_words(other)
    return len(first & second) >= ALIKE * len(first | second) > 0


def build_fix_groups(acts: Sequence[FixEquivalence]) -> FixGroups:
    """The filing that these acts make (oldest first). A wording that was said to differ from one that reads the same is
    filed by itself; those said to be one are filed together, unless that would join two of which the contrary was said."""
    verdicts = {_build_pair(act): act for act in acts if normalize_fix(act.one) != normalize_fix(act.other)}
    apart = [act for act in verdicts.values() if not act.same]
    own = {normalize_fix(act.one) for act in apart if build_fix_key(act.one) == build_fix_key(act.other)}
    groups: dict[str, frozenset[str]] = {name: frozenset({name}) for name in own}
    differ = {frozenset({_name_wording(act.one, own), _name_wording(act.other, own)}) for act in apart}
    for act in sorted((a for a in verdicts.values() if a.same), key=lambda a: (a.at, a.number)):
        one, other = (
            groups.get(n, frozenset({n})) for n in (_name_wording(act.one, own), _name_wording(act.other, own))
        )
        joined = one | other
        if not any(pair <= joined for pair in differ):
            groups |= dict.fromkeys(joined, joined)
    return {name: min(group) for name, group in sorted(groups.items())}


def _build_pair(act: FixEquivalence) -> frozenset[str]:
    return frozenset({normalize_fix(act.one), normalize_fix(act.other)})


def _name_wording(fix: str, own: set[str]) -> str:
    """What a wording is filed under: itself, where it stands alone, else all that read the same."""
    form = normalize_fix(fix)
    return form if form in own else name_fix(fix)
