"""What told two groups of past incidents apart: region, environment, vendor, service, words of their symptoms.

Computed from the records alone. Must not guess a cause.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

from bot.domain.incident import Incident
from bot.domain.words import content_words, listed

WORDS_SHOWN = 3
_HOST = re.compile(r"\b[\w-]+(?:\.[\w-]+)+\b")
_VAGUE = frozenset({"above", "all", "also", "below", "from", "http", "only", "other", "than", "too", "under"})
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


def _symptom_words(incident: Incident) -> Counter[str]:
    """How many of the title and the symptoms use each word; hosts and the values of fields are told elsewhere."""
    fields = " ".join(field(incident) or "" for _, field in _FIELDS)
    lines = (_HOST.sub(" ", line) for line in (incident.title, *incident.symptoms))
    counts = Counter(word for line in lines for word in content_words(line))
    told = content_words(fields) | _VAGUE
    return Counter({w: n for w, n in counts.items() if len(w) > 2 and not w.isdecimal() and w not in told})


def _own_words(these: Sequence[Incident], others: Sequence[Incident]) -> list[str]:
    """Words that all of `these` mention and none of `others`, those first that the first one uses most."""
    common = set.intersection(*(set(_symptom_words(i)) for i in these))
    foreign = {word for i in others for word in _symptom_words(i)}
    used, text = _symptom_words(these[0]), " ".join((*these[0].symptoms, these[0].title)).casefold()
    return sorted(common - foreign, key=lambda w: (-used[w], text.find(w), w))[:WORDS_SHOWN]


def told_apart(these: Sequence[Incident], those: Sequence[Incident], this_name: str, that_name: str) -> str | None:
    """In words what every incident of one group has and none of the other; None if nothing does or one is
    empty."""
    if not these or not those:
        return None
    said = []
    for name, field in _FIELDS:
        one, other = _values(these, field), _values(those, field)
        if one and other and not one & other:
            said.append(f"{name} {listed(sorted(one), 3)} ({this_name}) or {listed(sorted(other), 3)} ({that_name})")
    for group, rest, group_name in ((these, those, this_name), (those, these, that_name)):
        words = _own_words(group, rest)
        if words:
            said.append(f"only {group_name}: {', '.join(words)}")
    return "; ".join(said) or None
