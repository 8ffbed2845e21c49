"""A parser's draft → the alert: the shared readings fill in what the parser left open. Must not overrule what it settled."""

from __future__ import annotations

import re
from collections.abc import Mapping

from bot.domain.alerts.alert import Alert, Symptom
from bot.parsers.common.counts import counts_in
from bot.parsers.common.draft import Draft
from bot.parsers.common.fingerprint import fingerprint, normal
from bot.parsers.common.heads import heads_of
from bot.parsers.common.labels import Labels, labels_of
from bot.parsers.common.links import links_of
from bot.parsers.common.numbers import numbered_labels, status_labels
from bot.parsers.common.severity import severity_in
from bot.parsers.common.subjects import (
    ENVIRONMENT_KEYS,
    HOST_KEYS,
    called_service,
    environment_of,
    inferred_host,
    labelled_vendor,
    region_of,
    service_of,
    vendor_of,
)
from bot.parsers.common.symptoms import (
    conditions_of,
    error,
    errors_in,
    expression_metrics,
    metrics_in,
    metrics_of,
    unique,
)
from bot.parsers.common.titles import title_of
from bot.parsers.message import Message

_DIMENSIONS_LISTED = (
    "job branch workflow project cluster namespace queue topic database component method issuer gateway "
    "vendor provider task dag repo check monitor region environment env zone tenant shard partition endpoint "
    "mountpoint disk volume interface ifname plan channel bank tier service application"
)
_DIMENSIONS = frozenset(_DIMENSIONS_LISTED.split())
_VOLATILE = re.compile(
    r"(?:^|_)(?:id|uid|uuid|time|ts|at|since|duration|count|value|status|state|severity|priority|level|error|reason|message|trace|request|user|author"
    r"|commit|release|version|pod|instance|code|event|attempt|retry|scheduled|last|first|total|current)(?:_|$)",
    re.IGNORECASE,
)
_REASON_KEYS = ("reason", "cause", "issue", "error", "grund", "ursache", "motivo", "raison", "原因", "エラー")
_VALUE_KEYS = ("value", "current_value", "valor", "valor_actual", "wert", "aktueller_wert", "valeur")


def _identity(
    draft: Draft, labels: Labels, title: str | None, service: str | None, environment: str | None
) -> tuple[str, ...]:
    """The shared identity: name without state and numbers, service, host, and the dimensions that head and fields state."""
    near = {**labels.fields, **labels.head}
    stated = {
        key: value
        for key, value in labels.head.items()
        if not _VOLATILE.search(key) and not value[:1].isdigit() and value.casefold() not in {"true", "false"}
    }
    stated |= {key: value for key, value in labels.fields.items() if key in _DIMENSIONS and "://" not in value}
    place = environment if environment and any(key in near for key in ENVIRONMENT_KEYS) else ""
    host = labels.first(*HOST_KEYS) or ""
    vendor = labelled_vendor(labels) or ""
    lasting = (
        service if service and (draft.kind == "ci" or service in near.values() or service in (title or "")) else ""
    )
    return (normal(title or ""), lasting, host, vendor, place or "", *(f"{k}={stated[k]}" for k in sorted(stated)))


def _symptoms(message: Message, draft: Draft, labels: Mapping[str, str], title: str | None) -> tuple[Symptom, ...]:
    text = re.sub(r"https?://[^\s/]{1,100}/\S*", " ", message.body)
    reasons = [labels[key] for key in _REASON_KEYS if key in labels]
    told = [
        error(re.split(r"[,;{(]", r, maxsplit=1)[0].strip(), r)
        for r in reasons
        if 3 <= len(r) <= 120 and "://" not in r
    ]
    values = {title or key: labels[key] for key in _VALUE_KEYS if key in labels}
    numbers = [
        *expression_metrics((link.url for link in message.links), text),
        *metrics_of(labels),
        *metrics_of(values),
        *metrics_in(text),
    ]
    return unique((*draft.symptoms, *errors_in(text), *numbers, *conditions_of(labels), *told))


def finish(message: Message, draft: Draft, known_vendors: frozenset[str], *, root: Alert | None = None) -> Alert:
    """Fill in what the draft leaves open. A broadcast reply takes the identity of the alert it answers (`root`)."""
    settled, heads, found = draft.settled, heads_of(message), labels_of(message)
    labels = Labels(found.head, found.fields, found.body, {**found.all, **draft.labels})
    if "host" not in settled:
        labels = Labels(found.head, found.fields, found.body, {**labels.all, **inferred_host(heads, labels)})
    title = draft.title or (None if "title" in settled else title_of(message, heads, labels))
    severity, raw = draft.severity, draft.severity_raw
    if severity is None and "severity" not in settled:
        severity, raw = severity_in(message, heads, labels, draft.state)
    service = draft.service or (None if "service" in settled else service_of(message, labels, heads, title))
    names = (title, service, labels.first(*HOST_KEYS), *(head.text for head in heads[:2]))
    environment = draft.environment or (None if "environment" in settled else environment_of(message, labels, names))
    vendor = draft.vendor
    if vendor is None and "vendor" not in settled and draft.kind != "ci":
        vendor = vendor_of(message, labels, title, known_vendors, about_vendor=draft.kind == "vendor_status")
    identity = draft.identity or _identity(draft, labels, title, service, environment)
    aside = numbered_labels(message) | (status_labels(message, title) if draft.kind == "vendor_status" else {})
    firing, cleared = counts_in(message)
    return Alert(
        tool=draft.tool,
        state=draft.state,
        fingerprint=root.fingerprint if root else fingerprint(draft.tool, identity),
        kind=draft.kind,
        title=title or (root.title if root else None),
        severity=severity,
        severity_raw=raw,
        service=called_service(message, heads, service),
        environment=environment,
        region=draft.region or region_of(message, labels),
        vendor=vendor,
        symptoms=_symptoms(message, draft, labels.all, title),
        links=links_of(message, draft.links),
        labels={**aside, **labels.all},
        alerts=draft.members,
        delivery=message.delivery,
        text=message.body,
        truncated=message.truncated,
        firing=firing,
        cleared=cleared,
    )
