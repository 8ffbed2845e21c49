"""The recall query: what is happening now, dense in symptoms. Must not search or score anything."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from bot.domain.access.visibility import Viewer
from bot.domain.alerts.alert import Alert, Symptom
from bot.domain.text.error_codes import (
    choose_telling_names,
    find_codes,
    find_metric_names,
    list_code_words,
    normalize_code,
)
from bot.domain.text.format import cut
from bot.domain.text.names import split_name

TEXT_LIMIT = 8_000
DETAIL_LIMIT = 500


# What a person typed may be the name of an incident, if it is no longer than one.
TITLE_LIMIT = 200


@dataclass(frozen=True, slots=True)
class KnownNames:
    """Names that the records know; they are recognised in an alert's text even where no table lists them."""

    vendors: frozenset[str] = frozenset()
    services: frozenset[str] = frozenset()
    regions: frozenset[str] = frozenset()


OPERATOR = Viewer(sees_all=True)


@dataclass(frozen=True, slots=True)
class Query:
    """What to recall by. `text` is for text scoring; the fields are for identity, matches and gates.

    `exclude` holds ids that must not come back (the alert's own incident). Codes and names are in compared form.
    """

    text: str
    fingerprint: str | None = None
    title: str | None = None
    service: str | None = None
    vendor: str | None = None
    region: str | None = None
    environment: str | None = None
    error_codes: frozenset[str] = frozenset()
    symptom_names: frozenset[str] = frozenset()
    exclude: frozenset[str] = frozenset()
    labels: dict[str, str] = field(default_factory=dict)


@lru_cache(maxsize=4096)
def _compile_name(name: str) -> re.Pattern[str]:
    # Not as a part of a host name, a path, an address or a longer name: those say where, not who.
    return re.compile(rf"(?<![\w./@-]){re.escape(name)}(?![\w/@-]|\.\w)", re.IGNORECASE)


def _find_names(names: Iterable[str], text: str) -> tuple[str, ...]:
    """Which of the names the text names as a word of its own, sorted."""
    folded = text.casefold()
    return tuple(sorted(n for n in names if len(n) > 2 and n.casefold() in folded and _compile_name(n).search(text)))


def _take_only(names: tuple[str, ...]) -> str | None:
    """The name, if there is exactly one: of several nobody can say which one fails."""
    return names[0] if len(names) == 1 else None


def _is_name_like(service: str) -> bool:
    """Whether a service's name cannot be an ordinary word ("payments-api" can be recognised, "search" cannot)."""
    return any(not c.isalpha() for c in service)


def _recognize(known: KnownNames, text: str) -> tuple[str | None, str | None, str | None]:
    """(vendor, service, region) that a text names, where it is exactly one of those that the records know."""
    services = (s for s in known.services if _is_name_like(s))
    return (
        _take_only(_find_names(known.vendors, text)),
        _take_only(_find_names(services, text)),
        _take_only(_find_names(known.regions, text)),
    )


def _describe_symptom(symptom: Symptom) -> str:
    """A symptom in the words of the alert, without its value: numbers differ each time."""
    parts = (symptom.name, symptom.code, cut(symptom.text, DETAIL_LIMIT) if symptom.text else None)
    return " ".join(part for part in parts if part)


def _join_readable(alert: Alert) -> str:
    """Everything in which an alert may name a vendor, service or region; joined names are parted."""
    names = [alert.title or "", *(s.name or "" for s in alert.symptoms)]
    parts = [*names, *(split_name(n) for n in names), *(s.text or "" for s in alert.symptoms)]
    return "\n".join([*parts, *(v for _, v in sorted(alert.labels.items())), cut(alert.text, TEXT_LIMIT)])


def _join_dense(parts: Iterable[str | None]) -> str:
    """The parts in one text, repeated words kept: they weigh more, and measured better."""
    return cut(" ".join(" ".join(part.split()) for part in parts if part), TEXT_LIMIT)


def build_query(alert: Alert, known: KnownNames | None = None, exclude: frozenset[str] = frozenset()) -> Query:
    """What to recall for an alert. `exclude`: ids that must not come back (its own incident)."""
    vendor, service, region = _recognize(known or KnownNames(), _join_readable(alert))
    vendor, service, region = alert.vendor or vendor, alert.service or service, alert.region or region
    said = [_describe_symptom(s) for s in alert.symptoms]
    # What the tool's people wrote about it, too: often it says the problem where name and numbers do not.
    rest = cut(alert.text, DETAIL_LIMIT)
    texts = [alert.title or "", *(s.text or "" for s in alert.symptoms), rest]
    codes = frozenset(normalize_code(s.code) for s in alert.symptoms if s.code).union(*map(find_codes, texts))
    names = choose_telling_names([*(s.name for s in alert.symptoms), *(n for t in texts for n in find_metric_names(t))])
    return Query(
        text=_join_dense([vendor or "internal", service, region, alert.title, *said, *list_code_words(codes), rest]),
        fingerprint=alert.fingerprint or None,
        title=alert.title,
        service=service,
        vendor=vendor,
        region=region,
        environment=alert.environment,
        error_codes=codes,
        symptom_names=names,
        exclude=exclude,
        labels=dict(sorted(alert.labels.items())),
    )


def build_text_query(
    text: str,
    known: KnownNames | None = None,
    *,
    vendor: str | None = None,
    service: str | None = None,
    region: str | None = None,
    environment: str | None = None,
    exclude: frozenset[str] = frozenset(),
) -> Query:
    """What to recall for words that a person wrote; fields they named go before names recognised in the words."""
    seen_vendor, seen_service, seen_region = _recognize(known or KnownNames(), text)
    codes = find_codes(text)
    return Query(
        text=_join_dense([vendor, service, region, text, *list_code_words(codes)]),
        title=text if len(text) <= TITLE_LIMIT and "\n" not in text.strip() else None,
        service=service or seen_service,
        vendor=vendor or seen_vendor,
        region=region or seen_region,
        environment=environment,
        error_codes=codes,
        symptom_names=choose_telling_names(find_metric_names(text)),
        exclude=exclude,
    )
