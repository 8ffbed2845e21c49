"""A parser's draft → the alert: the shared readings fill in what the parser left open, secrets masked.

Must not overrule what a parser settled.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from bot.alerts.common.draft import Draft
from bot.alerts.common.fingerprint import fingerprint, normal
from bot.alerts.common.heads import Head, heads_of, severity_in, title_of
from bot.alerts.common.labels import Labels, labels_of
from bot.alerts.common.links import links_of
from bot.alerts.common.symptoms import conditions_of, errors_in, metrics_in, metrics_of, unique
from bot.alerts.message import Message
from bot.alerts.vocabulary.places import environment_in_name, environment_word, region_in
from bot.domain.alert import Alert, AlertState, Symptom
from bot.domain.vendors import find_vendor, named_vendor, vendor_in_hosts

SERVICE_KEYS = (
    "service", "application", "app", "service.name", "component", "project", "system", "microservice", "affected_service", "app_name", "repo",
    "repository", "deployment", "workload", "tier", "kafka_cluster", "container", "monitor", "dag",
)  # fmt: skip
ENVIRONMENT_KEYS = ("environment", "env", "stage", "environment_name", "deployment_environment", "tags")
REGION_KEYS = ("region", "aws_region", "cloud_region", "location", "affected_region", "zone", "availability_zone", "az")
VENDOR_KEYS = (
    "vendor", "gateway", "provider", "psp", "payment_gateway", "third_party", "upstream_vendor", "processor", "payment_provider", "supplier", "acquirer",
    "vendor_name", "carrier", "sms_provider",
)  # fmt: skip
HOST_KEYS = ("host", "hostname", "device", "server", "instance", "node", "machine", "vm", "device_name", "host_name")
_DIMENSIONS = (
    "job", "branch", "workflow", "project", "cluster", "namespace", "queue", "topic", "database", "component", "method", "issuer", "gateway", "vendor",
    "provider", "task", "dag", "repo", "check", "monitor", "region", "environment", "env", "zone", "tenant", "shard", "partition", "endpoint", "url",
    "mountpoint", "disk", "volume", "interface", "ifname", "plan", "channel", "bank", "tier", "service", "application",
)  # fmt: skip
_VOLATILE = re.compile(r"(?:^|_)(?:id|uid|uuid|time|ts|at|since|duration|count|value|status|state|severity|priority|level|error|reason|message|trace|request|user|author|commit|release|version|pod|instance|code|event|attempt|retry)(?:_|$)", re.IGNORECASE)  # fmt: skip
_KEBAB = re.compile(r"(?<![\w./@:=-])([a-z][a-z0-9]{1,30}(?:-[a-z0-9]{2,30}){1,4})(?![\w/@=-])")
_NAMED_SERVICE = re.compile(
    r"\b(?:service|dienst|servicio|serviço|servizio)\s+[«\"'`]?([\w-]{3,40})|([^\s，。：:【】\[\]()]{2,20}(?:服务|サービス|服務))",
    re.IGNORECASE,
)
_NOT_SERVICES = re.compile(
    r"^(?:p\d\d|re-triggered|on-call|back-to|under-|over-|out-of|up-to|no-|non-|time-out|[a-z]{2}-[a-z]+-\d)"
)
_FROM_API = re.compile(r"\b(?:from|calling|by|to)\s+([A-Z]?[a-z][a-z0-9]{2,20})\s+(?:API|gateway|webhooks?)\b")
_STATUS_OWNER = re.compile(
    r"https?://(?:www\.)?status\.([a-z0-9-]{2,40})\.|https?://([a-z0-9-]{2,40}?)-?status\.(?:com|io|net|org)|https?://([a-z0-9-]{2,40})\.statuspage\.io"
)


def service_of(labels: Labels, heads: Sequence[Head], body: str) -> str | None:
    """What is affected: a label, else a kebab-case name or "service X" in the first lines, else in the body."""
    labelled = labels.first(*SERVICE_KEYS)
    if labelled and len(labelled) <= 80:
        return labelled
    for text in (" ".join(head.text for head in heads), body[:4000]):
        named = _NAMED_SERVICE.search(text)
        if named and (named[1] or named[2]).casefold() not in {
            "impact",
            "problem",
            "recovery",
            "account",
            "check",
            "notification",
            "status",
            "unavailable",
            "level",
        }:
            return named[1] or named[2]
        found = next(
            (m[1] for m in _KEBAB.finditer(re.sub(r"https?://\S+", " ", text)) if not _NOT_SERVICES.match(m[1])), None
        )
        if found:
            return found
    return None


def environment_of(labels: Labels, names: Sequence[str | None]) -> str | None:
    """The environment a label states, else one inside the given names (title, service, host)."""
    stated = (environment_word(labels.all[key]) for key in ENVIRONMENT_KEYS if key in labels.all)
    inside = (environment_in_name(name) for name in names if name)
    return next((found for found in (*stated, *inside) if found), None)


def region_of(message: Message, labels: Labels) -> str | None:
    """The region a label states, else the first cloud region in the text, else one in a link's address."""
    for key in REGION_KEYS:
        value = labels.all.get(key)
        if value and (found := region_in(value)):
            return found
        if value and key.endswith("region") and re.fullmatch(r"[\w-]{2,30}", value):
            return value.casefold()
    texts = (message.body, *(link.url for link in message.links if "egion" in link.url or "console.aws" in link.url))
    return next((found for found in map(region_in, texts) if found), None)


def vendor_of(
    message: Message, labels: Labels, title: str | None, known: frozenset[str], *, about_vendor: bool
) -> str | None:
    """The third party that fails: a label, else a name in title or text, else the owner of a host in an error text."""
    labelled = labels.first(*VENDOR_KEYS)
    if labelled and len(labelled) <= 60:
        return named_vendor(labelled)
    if about_vendor and (owner := _status_owner(message, known)):
        return owner
    text = re.sub(r"https?://\S+", " ", message.body)
    for place in (title or "", text):
        if found := find_vendor(place, known, anywhere=about_vendor):
            return found
    lines = "\n".join(line for line in message.lines if errors_in(line))
    called = _FROM_API.search(title or "")
    return vendor_in_hosts(lines) or (
        called[1].casefold()
        if called and called[1].casefold() not in {"the", "our", "internal", "rest", "your"}
        else None
    )


def _status_owner(message: Message, known: frozenset[str]) -> str | None:
    """Whose status page the post links to."""
    for link in message.links:
        found = vendor_in_hosts(link.url, anywhere=True)
        match = _STATUS_OWNER.search(link.url)
        if found or match:
            return found or named_vendor(next(group for group in match.groups() if group)) if match else found
    return find_vendor(message.poster.name, known, anywhere=True)


def identity_of(labels: Labels, title: str | None, service: str | None, environment: str | None) -> tuple[str, ...]:
    """The shared identity: name without state and numbers, service, host, and the dimensions that head and fields state."""
    host = labels.first(*HOST_KEYS) or ""
    near = {**labels.fields, **labels.head}
    stated = {
        k: v
        for k, v in labels.head.items()
        if not _VOLATILE.search(k) and not v[:1].isdigit() and v.casefold() not in {"true", "false"}
    }
    stated |= {k: v for k, v in labels.fields.items() if k in _DIMENSIONS}
    vendor = labels.first(*VENDOR_KEYS) or ""
    place = environment if environment and any(k in near for k in ENVIRONMENT_KEYS) else ""
    return (
        normal(title or ""),
        service or "",
        host,
        vendor.casefold(),
        place or "",
        *(f"{k}={stated[k]}" for k in sorted(stated)),
    )


def finish(message: Message, draft: Draft, known_vendors: frozenset[str], *, root: Alert | None = None) -> Alert:
    """Fill in what the draft leaves open. A broadcast reply takes the identity of the alert it answers (`root`)."""
    found, heads = labels_of(message), heads_of(message)
    labels = Labels(found.head, found.fields, found.body, {**found.all, **draft.labels})
    title = draft.title if "title" in draft.settled else draft.title or title_of(message, heads, labels)
    severity, raw = draft.severity, draft.severity_raw
    if severity is None and "severity" not in draft.settled:
        severity, raw = severity_in(message, heads, labels, draft.state)
    service = draft.service if "service" in draft.settled else draft.service or service_of(labels, heads, message.body)
    host = labels.first(*HOST_KEYS)
    environment = draft.environment or (
        None
        if "environment" in draft.settled
        else environment_of(labels, (title, service, host, *(h.text for h in heads[:2])))
    )
    region = draft.region or (None if "region" in draft.settled else region_of(message, labels))
    about_vendor = draft.kind == "vendor_status"
    vendor = draft.vendor or (
        None
        if "vendor" in draft.settled or draft.kind == "ci"
        else vendor_of(message, labels, title, known_vendors, about_vendor=about_vendor)
    )
    identity = draft.identity or identity_of(labels, title, service, environment)
    return Alert(
        tool=draft.tool,
        state=draft.state,
        fingerprint=root.fingerprint if root else fingerprint(draft.tool, identity),
        kind=draft.kind,
        title=title,
        severity=severity,
        severity_raw=raw,
        service=service,
        environment=environment,
        region=region,
        vendor=vendor,
        symptoms=_symptoms(message, draft, labels.all),
        links=links_of(message, draft.links),
        labels=labels.all,
        alerts=draft.members,
        delivery=message.delivery,
        text=message.body,
        truncated=message.truncated,
    )


def _symptoms(message: Message, draft: Draft, labels: Mapping[str, str]) -> tuple[Symptom, ...]:
    if draft.state in {AlertState.ACKNOWLEDGED, AlertState.ESCALATED} and draft.symptoms:
        return draft.symptoms
    text = re.sub(r"https?://[^\s/]{1,100}/\S*", " ", message.body)
    return unique((*draft.symptoms, *errors_in(text), *metrics_of(labels), *metrics_in(text), *conditions_of(labels)))
