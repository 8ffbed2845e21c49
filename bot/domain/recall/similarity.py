"""What an alert and a past incident share: identity, fields, signs, and what keeps them apart.

Must not look at text scores or weigh anything; `ranking` does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from bot.domain.incidents.record import Incident
from bot.domain.recall.query import Query
from bot.domain.text.error_codes import find_codes
from bot.domain.text.format import join_names
from bot.domain.text.names import normalize_environment, normalize_name, normalize_title

_WORD = re.compile(r"[^\W_]+")
# A name of so many words is a sentence that nobody writes twice by chance; "High CPU" and "InstanceDown" are not.
TELLING_WORDS = 4


class Identity(StrEnum):
    """Why a record is about the same thing whatever its wording; best first."""

    SAME_ALERT = "same alert"
    SAME_NAME = "same alert name and service"
    SAME_SIGN = "same vendor and service with a shared sign"
    SAME_TELLING_NAME = "same telling alert name"


class Feature(StrEnum):
    """A field match or mismatch; each has its weight of the same name in the calibration."""

    SAME_VENDOR = "same_vendor"
    SAME_SERVICE = "same_service"
    SAME_TITLE = "same_title"
    SAME_REGION = "same_region"
    SHARED_SIGN = "shared_sign"
    OTHER_VENDOR = "other_vendor"
    OTHER_SERVICE = "other_service"
    OTHER_REGION = "other_region"


@dataclass(frozen=True, slots=True)
class Similarity:
    """What was found. `differs` names the fields in which both are known and differ, with the record's value;
    `gated`: whatever else speaks for it, it may be listed and not counted. `shared`: error codes and metric names."""

    identity: Identity | None
    marks: frozenset[Feature]
    shared: tuple[str, ...]
    differs: tuple[tuple[str, str], ...]
    gated: bool


def _join_words(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def _find_shared_signs(query: Query, incident: Incident) -> tuple[str, ...]:
    """Error codes that both name, and metric names of the query that occur in the record, word for word."""
    if not (query.error_codes or query.symptom_names):
        return ()
    told = "\n".join((incident.title, *incident.symptoms, *(a.title or "" for a in incident.alerts)))
    codes = query.error_codes & find_codes(told) if query.error_codes else frozenset()
    words = _join_words(told) if query.symptom_names else ""
    names = (name for name in sorted(query.symptom_names) if _join_words(name).strip() and _join_words(name) in words)
    return (*sorted(codes), *names)


def _is_same(one: str | None, other: str | None) -> bool | None:
    """Whether two known values are the same; None if either is unknown."""
    return None if one is None or other is None else one == other


def _has_same_title(query: Query, incident: Incident) -> bool:
    titles = {normalize_title(incident.title), *(normalize_title(a.title) for a in incident.alerts)}
    return normalize_title(query.title) in titles - {None}


def _find_identity(query: Query, incident: Incident, marks: frozenset[Feature]) -> Identity | None:
    if query.fingerprint and any(a.fingerprint == query.fingerprint for a in incident.alerts):
        return Identity.SAME_ALERT
    if {Feature.SAME_TITLE, Feature.SAME_SERVICE} <= marks:
        return Identity.SAME_NAME
    if {Feature.SAME_VENDOR, Feature.SHARED_SIGN} <= marks and Feature.OTHER_SERVICE not in marks:
        return Identity.SAME_SIGN
    unknown_service = not {Feature.SAME_SERVICE, Feature.OTHER_SERVICE} & marks
    if Feature.SAME_TITLE in marks and unknown_service and len(_join_words(query.title or "").split()) >= TELLING_WORDS:
        return Identity.SAME_TELLING_NAME
    return None


_FIELD_FEATURES: tuple[tuple[str, Feature, Feature], ...] = (
    ("vendor", Feature.SAME_VENDOR, Feature.OTHER_VENDOR),
    ("service", Feature.SAME_SERVICE, Feature.OTHER_SERVICE),
    ("region", Feature.SAME_REGION, Feature.OTHER_REGION),
)


def _list_features(query: Query, incident: Incident, *, shared: bool) -> Iterator[Feature]:
    for name, same, other in _FIELD_FEATURES:
        equal = _is_same(normalize_name(getattr(query, name)), normalize_name(getattr(incident, name)))
        if equal is not None:
            yield same if equal else other
    if _has_same_title(query, incident):
        yield Feature.SAME_TITLE
    if shared:
        yield Feature.SHARED_SIGN


def match_features(query: Query, incident: Incident) -> Similarity:
    """Everything that an alert's query and a record share or not.

    Gated: both name a vendor and they differ; or both name a service, they differ and no vendor is shared; or both
    name an environment and they differ ("prod" is "production").
    """
    shared = _find_shared_signs(query, incident)
    marks = frozenset(_list_features(query, incident, shared=bool(shared)))
    environments = _is_same(normalize_environment(query.environment), normalize_environment(incident.environment))
    differing = [
        ("vendor", incident.vendor, Feature.OTHER_VENDOR in marks),
        ("service", incident.service, Feature.OTHER_SERVICE in marks),
        ("environment", incident.environment, environments is False),
        ("region", incident.region, Feature.OTHER_REGION in marks),
    ]
    return Similarity(
        identity=_find_identity(query, incident, marks),
        marks=marks,
        shared=shared,
        differs=tuple((name, value) for name, value, differs in differing if differs and value),
        gated=Feature.OTHER_VENDOR in marks
        or (Feature.OTHER_SERVICE in marks and Feature.SAME_VENDOR not in marks)
        or environments is False,
    )


def explain_similarity(kin: Similarity, incident: Incident) -> tuple[str, ...]:
    """Why a record qualified and what speaks against it, in plain words, the strongest first."""
    said = {
        Feature.SAME_TITLE: "same alert name",
        Feature.SAME_VENDOR: f"same vendor {incident.vendor}",
        Feature.SAME_SERVICE: f"same service {incident.service}",
        Feature.SHARED_SIGN: f"both show {join_names(kin.shared, 3)}",
        Feature.SAME_REGION: f"same region {incident.region}",
    }
    found = ["the same alert"] if kin.identity is Identity.SAME_ALERT else []
    found += [text for mark, text in said.items() if mark in kin.marks]
    return (*found, *(f"other {name}: {value}" for name, value in kin.differs))
