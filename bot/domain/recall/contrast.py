"""What told two groups of past incidents apart: region, environment, vendor, service, what the vendor's status page said,
a deploy named or not, words of their symptoms; and which group an alert is like.

Computed from the records and the alert alone. Must not guess a cause.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bot.domain.alerts.alert import Alert
from bot.domain.incidents.record import Incident
from bot.domain.text.format import join_names
from bot.domain.text.names import find_content_words, normalize_environment, normalize_name

WORDS_SHOWN = 3
_HOST = re.compile(r"\b[\w-]+(?:\.[\w-]+)+\b")
_HTTP_STATUS = re.compile(r"[45]\d\d")
_VAGUE = frozenset({"above", "all", "also", "below", "from", "http", "only", "other", "than", "too", "under"})
_STATUS_GREEN = re.compile(
    r"\bstatus\s*page\b[^.;\n]{0,40}\b(?:green|operational|normal|fine|no incident)", re.IGNORECASE
)
_STATUS_RED = re.compile(
    r"\bstatus\s*page\b[^.;\n]{0,40}\b(?:red|yellow|orange|degraded|outage|down|disruption|investigating)",
    re.IGNORECASE,
)
_DEPLOY = re.compile(
    r"\b(?:re)?deploy(?:s|ed|ment|ments|ing)?\b|\brelease[sd]?\b|\broll(?:ed)?[\s-]?out\b", re.IGNORECASE
)
_NO_DEPLOY = re.compile(
    r"\b(?:no|without(?: a)?|not)\s+(?:\w+\s+)?(?:deploys?|deployments?|releases?|rollouts?)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class _Trait:
    """A field that past incidents and an alert both have, and the form in which its values are compared."""

    name: str
    then: Callable[[Incident], str | None]
    now: Callable[[Alert], str | None]
    form: Callable[[str | None], str | None] = normalize_name


_FIELDS = (
    _Trait("region", lambda i: i.region, lambda a: a.region),
    _Trait("environment", lambda i: i.environment, lambda a: a.environment, normalize_environment),
    _Trait("vendor", lambda i: i.vendor, lambda a: a.vendor),
    _Trait("service", lambda i: i.service, lambda a: a.service),
)


def read_status_page(text: str) -> bool | None:
    """Whether a status page was green; None if none is named."""
    green, red = _STATUS_GREEN.search(text), _STATUS_RED.search(text)
    return None if bool(green) == bool(red) else bool(green)


# What a text says or does not say; what is not said is not known to be absent, so only the group that all say it is told.
_SIGNS: tuple[tuple[str, frozenset[str], Callable[[str], bool]], ...] = (
    ("status page green", frozenset({"green", "operational"}), lambda text: read_status_page(text) is True),
    ("status page not green", frozenset({"red", "degraded"}), lambda text: read_status_page(text) is False),
    (
        "a deploy named",
        frozenset({"deploy", "deployed", "deployment", "release", "rollout"}),
        lambda text: bool(_DEPLOY.search(_NO_DEPLOY.sub(" ", text))),
    ),
    ("no deploy, as noted", frozenset({"deploy", "release"}), lambda text: bool(_NO_DEPLOY.search(text))),
)


@dataclass(frozen=True, slots=True)
class Likeness:
    """Which group an alert is like: its name if all that tells speaks for one, `because` the values that do ("eu-west-1"),
    and `said`: a sentence about it, also where they contradict each other."""

    group: str | None = None
    because: str | None = None
    said: str | None = None


def _collect_forms(incidents: Sequence[Incident], trait: _Trait) -> Mapping[str, str]:
    """The values of a field as recorded, by the form in which they are compared."""
    values = (trait.then(incident) for incident in incidents)
    return {form: value for value in values if value and (form := trait.form(value))}


def _count_symptom_words(incident: Incident) -> Counter[str]:
    """How many of the title and the symptoms use each word; hosts and the values of fields are told elsewhere."""
    fields = " ".join(trait.then(incident) or "" for trait in _FIELDS)
    lines = (_HOST.sub(" ", line) for line in (incident.title, *incident.symptoms))
    counts = Counter(word for line in lines for word in find_content_words(line))
    told = find_content_words(fields) | _VAGUE
    return Counter({w: n for w, n in counts.items() if len(w) > 2 and _is_telling(w) and w not in told})


def _is_telling(word: str) -> bool:
    """Whether a word can tell cases apart: no bare number, unless it is an HTTP status of an error."""
    return not word.isdecimal() or bool(_HTTP_STATUS.fullmatch(word))


def _find_own_words(these: Sequence[Incident], others: Sequence[Incident]) -> list[str]:
    """Words that all of `these` mention and none of `others`, those first that the first one uses most."""
    common = set.intersection(*(set(_count_symptom_words(i)) for i in these))
    foreign = {word for i in others for word in _count_symptom_words(i)}
    used, text = _count_symptom_words(these[0]), _join_record(these[0]).casefold()
    return sorted(common - foreign, key=lambda w: (-used[w], text.find(w), w))


def _join_record(incident: Incident) -> str:
    return "\n".join((*incident.symptoms, incident.title))


def _join_observed(incident: Incident) -> str:
    """Everything that was observed then, without what people concluded from it."""
    return "\n".join((_join_record(incident), *(f"{key}: {value}" for key, value in sorted(incident.evidence.items()))))


def _find_own_signs(these: Sequence[Incident], others: Sequence[Incident]) -> list[tuple[str, frozenset[str]]]:
    """What all of `these` say and none of `others`, each with the words in which texts say it."""
    return [
        (name, words | find_content_words(name))
        for name, words, seen in _SIGNS
        if all(seen(_join_observed(i)) for i in these) and not any(seen(_join_observed(i)) for i in others)
    ]


def _find_own_sayings(these: Sequence[Incident], others: Sequence[Incident]) -> list[str]:
    """Signs and words that only `these` have. A sign of which one word is told anyway is left to it; of which more are,
    it stands in their place: "status page green" says what "status, page, green" does not."""
    words = _find_own_words(these, others)
    signs = [(name, told) for name, told in _find_own_signs(these, others) if len(told & set(words)) != 1]
    covered = frozenset[str]().union(*(told for _, told in signs))
    return [*(name for name, _ in signs), *(word for word in words if word not in covered)]


def _format_trait(name: str, value: Mapping[str, str], incidents: Sequence[Incident], trait: _Trait) -> str:
    known = sum(1 for i in incidents if trait.then(i))
    part = f", {known} of {len(incidents)} say" if known < len(incidents) else ""
    return f"{join_names(sorted(value.values()), 3)} ({name}{part})"


def describe_contrast(
    these: Sequence[Incident], those: Sequence[Incident], this_name: str, that_name: str
) -> str | None:
    """In words what the incidents of one group have and none of the other; None if nothing does or one is empty. A field
    that some leave open still tells, and how many state it is said."""
    if not these or not those:
        return None
    said = []
    for trait in _FIELDS:
        one, other = _collect_forms(these, trait), _collect_forms(those, trait)
        if one and other and not one.keys() & other.keys():
            values = _format_trait(this_name, one, these, trait), _format_trait(that_name, other, those, trait)
            said.append(f"{trait.name} {values[0]} or {values[1]}")
    for group, rest, group_name in ((these, those, this_name), (those, these, that_name)):
        if found := _find_own_sayings(group, rest)[:WORDS_SHOWN]:
            said.append(f"{', '.join(found)} ({group_name} only)")
    return "; ".join(said) or None


def _join_alert(alert: Alert) -> str:
    symptoms = (part for s in alert.symptoms for part in (s.name, s.code, s.text) if part)
    return "\n".join((alert.title or "", alert.text, *symptoms))


def _match_fields(alert: Alert, groups: Mapping[str, Sequence[Incident]]) -> list[tuple[str, str]]:
    """(group, value) for each field by which the alert is like one group and unlike all others."""
    found = []
    for trait in _FIELDS:
        value, forms = trait.now(alert), {name: _collect_forms(group, trait) for name, group in groups.items()}
        holders = [name for name, known in forms.items() if trait.form(value) in known]
        if value and len(holders) == 1 and all(forms.values()):
            found.append((holders[0], value))
    return found


def _match_text(alert: Alert, groups: Mapping[str, Sequence[Incident]]) -> list[tuple[str, str]]:
    """(group, words) for each group whose signs, or of whose own words at least two, the alert says."""
    text, found = _join_alert(alert), []
    words = find_content_words(text)
    for name, group in groups.items():
        rest = [incident for other, others in groups.items() if other != name for incident in others]
        seen = {sign for sign, _, sees in _SIGNS if sees(text)}
        signs = [sign for sign, _ in _find_own_signs(group, rest) if sign in seen]
        own = [word for word in _find_own_words(group, rest)[:WORDS_SHOWN] if word in words]
        if signs or len(own) > 1:
            found.append((name, ", ".join(signs or own)))
    return found


def find_likeness(alert: Alert, groups: Mapping[str, Sequence[Incident]]) -> Likeness:
    """Which of several groups (by name, none empty) the alert at hand is like: by fields, else by what its text says.
    Nothing if there are fewer than two groups or nothing tells."""
    if len(groups) < 2:
        return Likeness()
    found = _match_fields(alert, groups) or _match_text(alert, groups)
    if not found:
        return Likeness()
    values: dict[str, list[str]] = {}
    for name, value in found:
        values.setdefault(name, []).append(value)
    parts = [
        f"{', '.join(of)}, as in the {name} {'one' if len(groups[name]) == 1 else 'ones'}"
        for name, of in values.items()
    ]
    said = f"this alert is {' but '.join(parts)}"
    name, because = next(iter(values)), ", ".join(next(iter(values.values())))
    return Likeness(name, because, said) if len(values) == 1 else Likeness(said=said)
