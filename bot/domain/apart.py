"""What told two groups of past incidents apart: region, environment, vendor, service, words of their symptoms.

Computed from the records alone. Must not guess a cause.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bot.domain.incident import Incident
from bot.domain.words import content_words, listed

WORDS_SHOWN = 3
_FIELDS: tuple[tuple[str, Callable[[Incident], str | None]], ...] = (
    ("region", lambda i: i.region),
    ("environment", lambda i: i.environment),
    ("vendor", lambda i: i.vendor),
    ("service", lambda i: i.service),
)


def _values(incidents: Sequence[Incident], field: Callable[[Incident], str | None]) -> frozenset[str] | None:
    """All values of a field; None if any incident leaves it open, for then it tells nothing apart."""
    values = [field(incident) for incident in incidents]
    return None if any(v is None for v in values) else frozenset(v for v in values if v)


def _symptom_words(incident: Incident) -> frozenset[str]:
    return content_words(" ".join((incident.title, *incident.symptoms)))


def _own_words(these: Sequence[Incident], others: Sequence[Incident]) -> list[str]:
    """Words that all of `these` mention and none of `others`, in the order of the first one's symptoms."""
    common = frozenset.intersection(*(_symptom_words(i) for i in these))
    foreign = frozenset[str]().union(*(_symptom_words(i) for i in others))
    telling = sorted(w for w in common - foreign if not w.isdecimal() and len(w) > 2)
    text = " ".join((*these[0].symptoms, these[0].title)).casefold()
    return sorted(telling, key=lambda w: (text.find(w), w))[:WORDS_SHOWN]


def told_apart(these: Sequence[Incident], those: Sequence[Incident], this_name: str, that_name: str) -> str | None:
    """In words what every incident of one group has and none of the other; None if nothing does. Neither is empty."""
    said = []
    for name, field in _FIELDS:
        one, other = _values(these, field), _values(those, field)
        if one and other and not one & other:
            said.append(
                f"{name} {listed(sorted(one), 3)} ({this_name}), {name} {listed(sorted(other), 3)} ({that_name})"
            )
    for group, rest, group_name in ((these, those, this_name), (those, these, that_name)):
        words = _own_words(group, rest)
        if words:
            said.append(f"only {group_name}: {', '.join(words)}")
    return "; ".join(said) or None
