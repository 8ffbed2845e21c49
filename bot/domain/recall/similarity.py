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
from bot.domain.text.error_codes import codes_in
from bot.domain.text.names import environment_form, listed, same_form, title_form

_WORD = re.compile(r"[^\W_]+")
# A name of so many words is a sentence that nobody writes twice by chance; "High CPU" and "InstanceDown" are not.
TELLING_WORDS = 4


class Identity(StrEnum):
    """Why a record is about the same thing whatever its wording; best first."""

    SAME_ALERT = "same alert"
    SAME_NAME = "same alert name and service"
    SAME_SIGN = "same vendor and service with a shared sign"
    SAME_TELLING_NAME = "same telling alert name"


class Mark(StrEnum):
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
class Kin:
    """What was found. `differs` names the fields in which both are known and differ, with the record's value;
    `gated`: whatever else speaks for it, it may be listed and not counted. `shared`: error codes and metric names."""

    identity: Identity | None
    marks: frozenset[Mark]
    shared: tuple[str, ...]
    differs: tuple[tuple[str, str], ...]
    gated: bool


def _words(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def _shared_signs(query: Query, incident: Incident) -> tuple[str, ...]:
    """Error codes that both name, and metric names of the query that occur in the record, word for word."""
    if not (query.error_codes or query.symptom_names):
        return ()
    told = "\n".join((incident.title, *incident.symptoms, *(a.title or "" for a in incident.alerts)))
    codes = query.error_codes & codes_in(told) if query.error_codes else frozenset()
    words = _words(told) if query.symptom_names else ""
    names = (name for name in sorted(query.symptom_names) if _words(name).strip() and _words(name) in words)
    return (*sorted(codes), *names)


def _same(one: str | None, other: str | None) -> bool | None:
    """Whether two known values are the same; None if either is unknown."""
    return None if one is None or other is None else one == other


def _same_title(query: Query, incident: Incident) -> bool:
    titles = {title_form(incident.title), *(title_form(a.title) for a in incident.alerts)}
    return title_form(query.title) in titles - {None}


def _identity(query: Query, incident: Incident, marks: frozenset[Mark]) -> Identity | None:
    if query.fingerprint and any(a.fingerprint == query.fingerprint for a in incident.alerts):
        return Identity.SAME_ALERT
    if {Mark.SAME_TITLE, Mark.SAME_SERVICE} <= marks:
        return Identity.SAME_NAME
    if {Mark.SAME_VENDOR, Mark.SHARED_SIGN} <= marks and Mark.OTHER_SERVICE not in marks:
        return Identity.SAME_SIGN
    unknown_service = not {Mark.SAME_SERVICE, Mark.OTHER_SERVICE} & marks
    if Mark.SAME_TITLE in marks and unknown_service and len(_words(query.title or "").split()) >= TELLING_WORDS:
        return Identity.SAME_TELLING_NAME
    return None


_FIELD_MARKS: tuple[tuple[str, Mark, Mark], ...] = (
    ("vendor", Mark.SAME_VENDOR, Mark.OTHER_VENDOR),
    ("service", Mark.SAME_SERVICE, Mark.OTHER_SERVICE),
    ("region", Mark.SAME_REGION, Mark.OTHER_REGION),
)


def _marks(query: Query, incident: Incident, *, shared: bool) -> Iterator[Mark]:
    for name, same, other in _FIELD_MARKS:
        equal = _same(same_form(getattr(query, name)), same_form(getattr(incident, name)))
        if equal is not None:
            yield same if equal else other
    if _same_title(query, incident):
        yield Mark.SAME_TITLE
    if shared:
        yield Mark.SHARED_SIGN


def find_kin(query: Query, incident: Incident) -> Kin:
    """Everything that an alert's query and a record share or not.

    Gated: both name a vendor and they differ; or both name a service, they differ and no vendor is shared; or both
    name an environment and they differ ("prod" is "production").
    """
    shared = _shared_signs(query, incident)
    marks = frozenset(_marks(query, incident, shared=bool(shared)))
    environments = _same(environment_form(query.environment), environment_form(incident.environment))
    differing = [
        ("vendor", incident.vendor, Mark.OTHER_VENDOR in marks),
        ("service", incident.service, Mark.OTHER_SERVICE in marks),
        ("environment", incident.environment, environments is False),
        ("region", incident.region, Mark.OTHER_REGION in marks),
    ]
    return Kin(
        identity=_identity(query, incident, marks),
        marks=marks,
        shared=shared,
        differs=tuple((name, value) for name, value, differs in differing if differs and value),
        gated=Mark.OTHER_VENDOR in marks
        or (Mark.OTHER_SERVICE in marks and Mark.SAME_VENDOR not in marks)
        or environments is False,
    )


def reasons(kin: Kin, incident: Incident) -> tuple[str, ...]:
    """Why a record qualified and what speaks against it, in plain words, the strongest first."""
    said = {
        Mark.SAME_TITLE: "same alert name",
        Mark.SAME_VENDOR: f"same vendor {incident.vendor}",
        Mark.SAME_SERVICE: f"same service {incident.service}",
        Mark.SHARED_SIGN: f"both show {listed(kin.shared, 3)}",
        Mark.SAME_REGION: f"same region {incident.region}",
    }
    found = ["the same alert"] if kin.identity is Identity.SAME_ALERT else []
    found += [text for mark, text in said.items() if mark in kin.marks]
    return (*found, *(f"other {name}: {value}" for name, value in kin.differs))
