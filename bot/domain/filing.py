"""Which wordings are one fix, as persons said: their acts in order, made into the filing that `same_fix` goes by.

Must not compare wordings itself. The last that was said of two wordings holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.domain.same_fix import Filed, computed_name, fix_key
from bot.domain.steps import fix_form


@dataclass(frozen=True, slots=True)
class FixesSaid:
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


def filed_of(acts: Sequence[FixesSaid]) -> Filed:
    """The filing that these acts make (oldest first). A wording that was said to differ from one that reads the same is
    filed by itself; those said to be one are filed together, unless that would join two of which the contrary was said."""
    verdicts = {_pair(act): act for act in acts if fix_form(act.one) != fix_form(act.other)}
    apart = [act for act in verdicts.values() if not act.same]
    own = {fix_form(act.one) for act in apart if fix_key(act.one) == fix_key(act.other)}
    groups: dict[str, frozenset[str]] = {name: frozenset({name}) for name in own}
    differ = {frozenset({_name(act.one, own), _name(act.other, own)}) for act in apart}
    for act in sorted((a for a in verdicts.values() if a.same), key=lambda a: (a.at, a.number)):
        one, other = (groups.get(n, frozenset({n})) for n in (_name(act.one, own), _name(act.other, own)))
        joined = one | other
        if not any(pair <= joined for pair in differ):
            groups |= dict.fromkeys(joined, joined)
    return {name: min(group) for name, group in sorted(groups.items())}


def _pair(act: FixesSaid) -> frozenset[str]:
    return frozenset({fix_form(act.one), fix_form(act.other)})


def _name(fix: str, own: set[str]) -> str:
    """What a wording is filed under: itself, where it stands alone, else all that read the same."""
    form = fix_form(fix)
    return form if form in own else computed_name(fix)
