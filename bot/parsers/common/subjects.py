"""Find who and what an alert is about: service, environment, region, vendor, host."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.domain.catalog.vendors import (
    STANDARD,
    Directory,
    find_service,
    find_vendor,
    find_vendor_in_hosts,
    resolve_service,
    resolve_vendor,
)
from bot.parsers.common.heads import Head
from bot.parsers.common.labels import Labels
from bot.parsers.common.symptoms import find_errors
from bot.parsers.message import Message
from bot.parsers.vocabulary.places import read_environment, read_environment_name, read_region

SERVICE_KEYS = (
    "service", "application", "app", "component", "system", "microservice", "affected_service", "impacted_entity", "affected_entity", "impacted_service", "entity", "app_name", "deployment", "workload", "kafka_cluster",
    "container", "dag",
)  # fmt: skip
_WEAK_SERVICE_KEYS = ("project", "repo", "repository", "monitor", "tier", "job", "check")
ENVIRONMENT_KEYS = ("environment", "env", "stage", "environment_name", "deployment_environment", "tags")
REGION_KEYS = ("region", "aws_region", "cloud_region", "location", "affected_region", "zone", "availability_zone", "az")
VENDOR_KEYS = (
    "vendor", "gateway", "provider", "psp", "payment_gateway", "third_party", "upstream_vendor", "processor", "payment_provider", "supplier", "acquirer",
    "vendor_name", "carrier", "sms_provider",
)  # fmt: skip
HOST_KEYS = ("host", "hostname", "device", "server", "instance", "node", "machine", "vm", "device_name", "host_name")
_PLACE_KEYS = ("cluster", "namespace", "source", "region", "zone", "location")
_OF_SERVICE = re.compile(
    r"\b(?:for|on|of|in|by|service|app) ([a-z][a-z0-9]{1,30}(?:-[a-z0-9]{2,30}){1,4})(?![\w/@=-]|\.\w)"
)
_KEBAB = re.compile(r"(?<![\w./@:=-])([a-z][a-z0-9]{1,30}(?:-[a-z0-9]{2,30}){1,4})(?![\w/@=-]|\.\w)")
_NAMED_SERVICE = re.compile(
    r"(?<![\w-])(?:service|dienst|servicio|serviço|servizio)[ \t]+[«\"'`]?([\w-]{3,40})|([^\s，。：:【】\[\]()]{2,20}(?:服务|サービス|服務))",
    re.IGNORECASE,
)
_NOT_A_NAME_LISTED = (
    "impact problem recovery account check notification status unavailable level is has was down the for desk "
    "provider error indisponible caído disruption degradation degraded outage"
)
_ANY_CONTAINER = frozenset({"app", "main", "server", "sidecar", "istio-proxy", "envoy"})  # say nothing of which service
_NOT_A_NAME = frozenset(_NOT_A_NAME_LISTED.split())
_NOT_SERVICES = re.compile(
    r"^(?:p\d\d|re-triggered|on-call|back-to|under-|over-|out-of|up-to|no-|non-|time-out|self-|auto-|[a-z]{2}-[a-z]+-\d|.*-(?:replicated|related|level|side|based)$)"
)
_SCOPED = re.compile(r"^([^()\[\]/]{2,40}?)(?: \(|/)([A-Za-z]{2,12})\)?$")
_SUBJECT = re.compile(r"^([a-z][a-z0-9_.-]{2,30}) (?:is|has|incident|service|does)\b")
_ON_SURFACE = re.compile(
    r"\bon (?:the )?((?:[a-z]+ ){1,2}(?:dashboard|app|portal|page|site|api|console))$", re.IGNORECASE
)
_WORKLOAD = re.compile(
    r"\b(?:deployment|statefulset|daemonset|cronjob) [a-z0-9-]{1,60}/([a-z0-9-]{2,60})\b", re.IGNORECASE
)
_PLACE_NAME = re.compile(r"-(?:prod|production|prd|staging|stg|stage|uat|dev)$")
_REPOSITORY = re.compile(
    r"https://(?:(?:github|gitlab)\.com/[\w.-]+/([\w.-]{2,60})|[\w.:-]+/(?:[\w.-]+/){1,4}([\w.-]{2,60})/-/)"
)
_FROM_API = re.compile(r"\b(?:from|calling|by|to)\s+([A-Z]?[a-z][a-z0-9]{2,20})\s+(?:API|gateway|webhooks?)\b")
_OURS_LISTED = "the our internal rest your public admin payment auth api partner"
_OURS = frozenset(_OURS_LISTED.split())
_STATUS_OWNER = re.compile(
    r"https?://(?:www\.)?status\.([a-z0-9-]{2,40})\.|https?://(?:www\.)?([a-z0-9-]{2,40}?)-?status\.(?:com|io|net|org)|https?://([a-z0-9-]{2,40})\.statuspage\.io"
)
_ON_HOST = re.compile(
    r"\b(?:on|auf|en|sur|em) ((?=[\w.-]*\d)[a-z][\w-]*\d[\w.-]*|[\w-]+(?:\.[\w-]+){1,5})$", re.IGNORECASE
)
_DEVICE = re.compile(
    r"\b(device|host|server|node|instance|rechner|servidor|serveur) ((?=[\w.-]*[\d.])[\w-]+(?:\.[\w-]+){0,6})",
    re.IGNORECASE,
)
_FIRST_HOST = re.compile(r"^((?=[\w.-]*[a-z])[\w-]+(?:\.[\w-]+){2,5}) (?:is|has|recovered|went|ist|est|está)\b")
_NOT_HOST = re.compile(r"^\d+(?:\.\d+)?$")


def infer_host(heads: Sequence[Head], labels: Labels) -> dict[str, str]:
    """Return a host or device in a first line ("Backup failed on nas-01", "Alert for device core-sw2"), as a label."""
    if any(key in labels.all for key in HOST_KEYS):
        return {}
    for head in heads:
        device = _DEVICE.search(head.text)
        if device and not _NOT_HOST.match(device[2]):
            return {"device" if device[1].casefold() == "device" else "host": device[2].rstrip(".")}
        first = _FIRST_HOST.match(head.text)
        if first:
            return {"host": first[1]}
        on = _ON_HOST.search(head.text.rstrip(" .!"))
        if on:
            return {"host": on[1]}
    return {}


def _clean_service(value: str | None) -> str | None:
    """Return a label's value as a service name: short, no address or container image, without scope; else None."""
    if (
        not value
        or len(value) > 80
        or "://" in value
        or value.casefold() in _ANY_CONTAINER
        or re.search(r"/[\w.-]+:[\w.-]+$", value)
    ):
        return None
    return value


def _find_in_title(title: str) -> str | None:
    """Return the service in a title: all of it if it is one bare name, its subject, or where it says the fault is."""
    if re.fullmatch(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+", title):
        return title
    found = _SUBJECT.match(title) or _ON_SURFACE.search(title)
    return found[1] if found and found[1].casefold() not in _NOT_A_NAME else None


def _find_in_text(text: str) -> str | None:
    """Return "service X" in running text, else its first kebab-case name."""
    named = _NAMED_SERVICE.search(text)
    if named and (named[1] or named[2]).casefold() not in _NOT_A_NAME:
        return named[1] or named[2]
    bare = re.sub(r"https?://\S+", " ", text)
    return next((m[1] for m in _KEBAB.finditer(bare) if not _NOT_SERVICES.match(m[1])), None)


def find_affected_service(message: Message, labels: Labels, heads: Sequence[Head], title: str | None) -> str | None:
    """Return what is affected, by: label, title, first lines, weaker label, repository, body."""
    stated = (_clean_service(labels.all.get(key)) for key in SERVICE_KEYS)
    brackets = (_SCOPED.match(bracket) for head in heads for bracket in head.brackets[:1])
    hosts = [labels.all[key] for key in (*HOST_KEYS, *_PLACE_KEYS) if key in labels.all]
    scoped = (match[1].strip() for match in brackets if match and read_environment(match[2]))
    weak = (_clean_service(labels.all.get(key)) for key in _WEAK_SERVICE_KEYS)
    repository = (m[1] or m[2] for m in (_REPOSITORY.match(link.url) for link in message.links) if m)
    for found in (
        *stated,
        _find_in_title(title or ""),
        *scoped,
        _find_in_text(" ".join(head.text for head in heads)),
        *weak,
        *repository,
        *(m[1] for m in _WORKLOAD.finditer(message.body[:4000])),
        *(
            m[1]
            for m in _OF_SERVICE.finditer(re.sub(r"https?://\S+", " ", message.body[:4000]))
            if not _PLACE_NAME.search(m[1])
        ),
    ):
        if found and not any(host.startswith(found) for host in hosts):
            return found
    return None


def resolve_affected_service(message: Message, heads: Sequence[Head], service: str | None) -> str | None:
    """Return the service's configured name; if none is stated, a configured one in the first lines."""
    if service:
        return resolve_service(service, message.names)
    return find_service("\n".join(head.text for head in heads), message.names)


def find_environment(message: Message, labels: Labels, names: Sequence[str | None]) -> str | None:
    """Return the environment in a label, else in the given names, else in a short link label."""
    stated = (read_environment(labels.all[key]) for key in ENVIRONMENT_KEYS if key in labels.all)
    inside = (read_environment_name(name) for name in names if name)
    linked = (read_environment_name(link.label) for link in message.links if 3 < len(link.label) <= 60)
    return next((found for found in (*stated, *inside, *linked) if found), None)


def find_region(message: Message, labels: Labels) -> str | None:
    """Return the region in a label, else the first cloud region in the text, else one in a link's address."""
    for key in REGION_KEYS:
        value = labels.all.get(key)
        if value and (found := read_region(value)):
            return found
        if value and key.endswith("region") and re.fullmatch(r"[\w-]{2,30}", value):
            return value.casefold()
    texts = (message.body, *(link.url for link in message.links if "egion" in link.url or "console.aws" in link.url))
    return next((found for found in map(read_region, texts) if found), None)


def find_labeled_vendor(labels: Labels, names: Directory = STANDARD) -> str | None:
    """Return the vendor in a label, without what follows a dash or comma."""
    value = labels.find_first(*VENDOR_KEYS)
    short = re.split(r"\s+[–—-]\s+|\s*[(,;|]", value, maxsplit=1)[0].strip() if value else ""
    return resolve_vendor(short, names) if short and len(short) <= 60 else None


def find_failing_vendor(
    message: Message, labels: Labels, title: str | None, known: frozenset[str], *, about_vendor: bool
) -> str | None:
    """Return the third party that fails, by: label, status page's owner, title or text, owner of a host in an error."""
    names = message.names
    if found := find_labeled_vendor(labels, names) or (find_status_owner(message, known) if about_vendor else None):
        return found
    text = re.sub(r"https?://\S+", " ", message.body)
    for place in (title or "", text):
        if found := find_vendor(place, known, anywhere=about_vendor, names=names):
            return found
    lines = "\n".join(line for line in message.lines if find_errors(line))
    called = _FROM_API.search(title or "")
    if called and called[1].casefold() not in _OURS:
        return find_vendor_in_hosts(lines, names=names) or called[1].casefold()
    return find_vendor_in_hosts(lines, names=names)


def find_status_owner(message: Message, known: frozenset[str]) -> str | None:
    """Return whose status page the post links to, by the page's host, else by the poster's name."""
    for link in message.links:
        listed = find_vendor_in_hosts(link.url, anywhere=True, names=message.names)
        match = _STATUS_OWNER.match(link.url)
        if listed:
            return listed
        if match:
            return resolve_vendor(next(group for group in match.groups() if group), message.names)
    return find_vendor(message.poster.name, known, anywhere=True, names=message.names)
