"""Finish a parser's draft: the shared readings fill in what it left open, and never overrule what it settled."""

from __future__ import annotations

import re
from collections.abc import Mapping

from bot.domain.alerts.alert import Alert, Symptom
from bot.parsers.common.counts import read_counts
from bot.parsers.common.draft import Draft
from bot.parsers.common.fingerprint import build_fingerprint, normalize_identity
from bot.parsers.common.heads import find_heads
from bot.parsers.common.labels import Labels, find_labels
from bot.parsers.common.links import find_links
from bot.parsers.common.numbers import find_numbered_labels, find_status_labels
from bot.parsers.common.severity import find_severity
from bot.parsers.common.subjects import (
    ENVIRONMENT_KEYS,
    HOST_KEYS,
    find_affected_service,
    find_environment,
    find_failing_vendor,
    find_labeled_vendor,
    find_region,
    infer_host,
    resolve_affected_service,
)
from bot.parsers.common.symptoms import (
    build_error,
    find_conditions,
    find_errors,
    find_expression_metrics,
    find_label_metrics,
    find_metrics,
    remove_duplicates,
)
from bot.parsers.common.titles import find_title
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


def _build_identity(
    draft: Draft, labels: Labels, title: str | None, service: str | None, environment: str | None
) -> tuple[str, ...]:
    """Return the shared identity: name without state and numbers, service, host, and stated dimensions."""
    near = {**labels.fields, **labels.head}
    stated = {
        key: value
        for key, value in labels.head.items()
        if not _VOLATILE.search(key) and not value[:1].isdigit() and value.casefold() not in {"true", "false"}
    }
    stated |= {key: value for key, value in labels.fields.items() if key in _DIMENSIONS and "://" not in value}
    place = environment if environment and any(key in near for key in ENVIRONMENT_KEYS) else ""
    host = labels.find_first(*HOST_KEYS) or ""
    vendor = find_labeled_vendor(labels) or ""
    lasting = (
        service if service and (draft.kind == "ci" or service in near.values() or service in (title or "")) else ""
    )
    return (
        normalize_identity(title or ""),
        lasting,
        host,
        vendor,
        place or "",
        *(f"{k}={stated[k]}" for k in sorted(stated)),
    )


def _collect_symptoms(
    message: Message, draft: Draft, labels: Mapping[str, str], title: str | None
) -> tuple[Symptom, ...]:
    text = re.sub(r"https?://[^\s/]{1,100}/\S*", " ", message.body)
    reasons = [labels[key] for key in _REASON_KEYS if key in labels]
    told = [
        build_error(re.split(r"[,;{(]", r, maxsplit=1)[0].strip(), r)
        for r in reasons
        if 3 <= len(r) <= 120 and "://" not in r
    ]
    values = {title or key: labels[key] for key in _VALUE_KEYS if key in labels}
    numbers = [
        *find_expression_metrics((link.url for link in message.links), text),
        *find_label_metrics(labels),
        *find_label_metrics(values),
        *find_metrics(text),
    ]
    return remove_duplicates((*draft.symptoms, *find_errors(text), *numbers, *find_conditions(labels), *told))


def finish(message: Message, draft: Draft, known_vendors: frozenset[str], *, root: Alert | None = None) -> Alert:
    """Fill in what the draft leaves open. A broadcast reply takes the identity of the alert that it answers (`root`)."""
    settled, heads, found = draft.settled, find_heads(message), find_labels(message)
    labels = Labels(found.head, found.fields, found.body, {**found.all, **draft.labels})
    if "host" not in settled:
        labels = Labels(found.head, found.fields, found.body, {**labels.all, **infer_host(heads, labels)})
    title = draft.title or (None if "title" in settled else find_title(message, heads, labels))
    severity, raw = draft.severity, draft.severity_raw
    if severity is None and "severity" not in settled:
        severity, raw = find_severity(message, heads, labels, draft.state)
    service = draft.service or (None if "service" in settled else find_affected_service(message, labels, heads, title))
    names = (title, service, labels.find_first(*HOST_KEYS), *(head.text for head in heads[:2]))
    environment = draft.environment or (None if "environment" in settled else find_environment(message, labels, names))
    vendor = draft.vendor
    if vendor is None and "vendor" not in settled and draft.kind != "ci":
        vendor = find_failing_vendor(message, labels, title, known_vendors, about_vendor=draft.kind == "vendor_status")
    identity = draft.identity or _build_identity(draft, labels, title, service, environment)
    aside = find_numbered_labels(message) | (
        find_status_labels(message, title) if draft.kind == "vendor_status" else {}
    )
    firing, cleared = read_counts(message)
    return Alert(
        tool=draft.tool,
        state=draft.state,
        fingerprint=root.fingerprint if root else build_fingerprint(draft.tool, identity),
        kind=draft.kind,
        title=title or (root.title if root else None),
        severity=severity,
        severity_raw=raw,
        service=resolve_affected_service(message, heads, service),
        environment=environment,
        region=draft.region or find_region(message, labels),
        vendor=vendor,
        symptoms=_collect_symptoms(message, draft, labels.all, title),
        links=find_links(message, draft.links),
        labels={**aside, **labels.all},
        alerts=draft.members,
        delivery=message.delivery,
        text=message.body,
        truncated=message.truncated,
        firing=firing,
        cleared=cleared,
    )
