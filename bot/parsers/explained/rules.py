"""Explain which rule gave each field of a reading: the parser, a label, a token, a color, a table.

The reader's own readings are asked again in the same order, so that the answer is the rule that really decided.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bot.domain.alerts.alert import Alert
from bot.domain.catalog.vendors import STANDARD, Directory, find_vendor
from bot.domain.text.redaction import mask
from bot.parsers import PARSERS, read
from bot.parsers.common.draft import Draft
from bot.parsers.common.heads import STATE_KEYS, Head, find_heads, read_status_line, read_word_state
from bot.parsers.common.labels import Labels, find_labels
from bot.parsers.common.severity import SEVERITY_KEYS
from bot.parsers.common.subjects import (
    ENVIRONMENT_KEYS,
    REGION_KEYS,
    SERVICE_KEYS,
    VENDOR_KEYS,
    find_affected_service,
    find_labeled_vendor,
    find_status_owner,
    resolve_affected_service,
)
from bot.parsers.common.titles import NAME_KEYS
from bot.parsers.explained.places import find_place
from bot.parsers.message import Message, parse_message
from bot.parsers.vocabulary.places import read_environment, read_region
from bot.parsers.vocabulary.severities import read_severity
from bot.parsers.vocabulary.states import read_color_state, read_emoji_state, read_phrase_state, read_token_state

IN_TEXT = "the words of the post"


@dataclass(frozen=True, slots=True)
class _SharedReadings:
    """What the shared readings find in one post."""

    message: Message
    heads: tuple[Head, ...]
    labels: Labels
    draft: Draft
    parser: str


def _find_key(seen: _SharedReadings, keys: Iterable[str], *, means: Any = bool) -> str | None:
    """Return the first of these labels whose value has a meaning."""
    found = next((key for key in keys if seen.labels.all.get(key) and means(seen.labels.all[key])), None)
    return f"label “{found}”" if found else None


def _explain_title(seen: _SharedReadings, alert: Alert) -> str:
    if seen.draft.title:
        return f"parser {seen.parser}"
    return (
        _find_key(seen, NAME_KEYS, means=lambda v: 3 <= len(v) <= 160 and "://" not in v)
        or "the first line that names it"
    )


def _explain_state(seen: _SharedReadings, alert: Alert) -> str:
    if seen.parser != "generic":
        return f"parser {seen.parser}"
    for head in seen.heads:
        token = next((t for t in head.list_tokens() if read_word_state(t) is alert.state), None)
        if token:
            return f"the token “{token}” of a first line"
    if read_status_line(seen.message) is alert.state:
        return "the newest line of a status page"
    if key := _find_key(seen, STATE_KEYS, means=lambda v: read_token_state(v) is alert.state):
        return key
    if any(read_emoji_state(head.emoji) is alert.state for head in seen.heads):
        return "an emoji that leads a first line"
    told = next((head.text for head in seen.heads if read_phrase_state(head.text) is alert.state), None)
    color = next((c for c in seen.message.colors if read_color_state(c) is alert.state), None)
    return f"the colour {color}" if color else f"the words “{told}”" if told else IN_TEXT


def _explain_severity(seen: _SharedReadings, alert: Alert) -> str:
    if seen.draft.severity:
        return f"parser {seen.parser}"
    if key := _find_key(seen, SEVERITY_KEYS, means=lambda v: read_severity(v[:40]) is not None):
        return key
    if alert.severity_raw:
        return f"the word “{alert.severity_raw}” of a first line or state"
    return "a warning's colour or icon"


def _explain_service(seen: _SharedReadings, alert: Alert) -> str:
    stated = seen.draft.service or find_affected_service(seen.message, seen.labels, seen.heads, alert.title)
    if alert.service != stated and resolve_affected_service(seen.message, seen.heads, stated) == alert.service:
        return f"configuration [services.{alert.service}]" + (f", for “{stated}”" if stated else "")
    if seen.draft.service:
        return f"parser {seen.parser}"
    return _find_key(seen, SERVICE_KEYS, means=lambda v: v == alert.service) or "a name in title, first lines or text"


def _explain_environment(seen: _SharedReadings, alert: Alert) -> str:
    return _find_key(seen, ENVIRONMENT_KEYS, means=read_environment) or "a word inside title, service, host or link"


def _explain_region(seen: _SharedReadings, alert: Alert) -> str:
    if seen.draft.region:
        return f"parser {seen.parser}"
    stated = _find_key(seen, REGION_KEYS, means=lambda v: (read_region(v) or v.casefold()) == alert.region)
    return stated or "table of cloud regions, in the text or a link"


def _explain_vendor(seen: _SharedReadings, alert: Alert) -> str:
    message = seen.message
    if seen.draft.vendor:
        return f"parser {seen.parser}"
    if find_labeled_vendor(seen.labels, message.names) == alert.vendor:
        return f"{_find_key(seen, VENDOR_KEYS)} and the table of vendors"
    about = seen.draft.kind == "vendor_status"
    if about and find_status_owner(message, frozenset()) == alert.vendor:
        return "the owner of the status page (table of vendors)"
    named = (find_vendor(text, anywhere=about, names=message.names) for text in (alert.title or "", message.body))
    return (
        "a name in title or text (table of vendors)"
        if alert.vendor in named
        else "a host in an error (table of vendors)"
    )


_RULES = {
    "state": _explain_state,
    "title": _explain_title,
    "severity": _explain_severity,
    "service": _explain_service,
    "environment": _explain_environment,
    "region": _explain_region,
    "vendor": _explain_vendor,
}


def _explain_fields(seen: _SharedReadings, alert: Alert) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, rule in _RULES.items():
        value = getattr(alert, name)
        if value is None:
            found[name] = {"value": None, "rule": "nothing in the post states it", "where": None}
            continue
        shown = str(getattr(value, "value", value))
        word = alert.severity_raw if name == "severity" else shown
        found[name] = {"value": shown, "rule": rule(seen, alert), "where": find_place(seen.message, word)}
    return found


def _explain_more(seen: _SharedReadings, alert: Alert) -> dict[str, Any]:
    """Return where each symptom, link and label occurs."""
    signs = [
        (s.code or f"{s.name} {s.op or ''} {s.value}".replace("  ", " "), s.code or s.value) for s in alert.symptoms
    ]
    identity = f"parser {seen.parser}" if seen.draft.identity else "name, service, host, vendor and stated dimensions"
    return {
        "symptoms": [{"value": shown, "where": find_place(seen.message, word)} for shown, word in signs],
        "links": {role: find_place(seen.message, url) for role, url in alert.links.items()},
        "labels": {key: find_place(seen.message, value, key) for key, value in alert.labels.items()},
        "fingerprint": {"value": alert.fingerprint, "rule": identity, "parts": list(seen.draft.identity)},
    }


def explain(event: Mapping[str, Any], *, names: Directory = STANDARD) -> dict[str, Any]:
    """Return the rule behind each field that `read` finds, with the part of the post where the value occurs.

    For a message that is no alert, return the rule that refused it. JSON values; any JSON object is explained
    without an error.
    """
    reading = read(event, names=names)
    message = parse_message(event, names=names)
    parser = next(parser for parser in PARSERS if parser.matches(message))
    name = parser.__name__.rpartition(".")[2]
    # People read this docstring: it says what the tool was recognized by, so it is a phrase and not an order.
    matched = (parser.matches.__doc__ or "").strip()
    if not isinstance(reading, Alert):
        return {"parser": name, "kind": reading.kind, "rule": reading.reason}
    draft = parser.parse(message)
    if not isinstance(draft, Draft):  # pragma: no cover  # what was read as an alert has a draft
        return {"parser": name, "kind": reading.kind, "rule": matched}
    found = find_labels(message)
    labels = Labels(found.head, found.fields, found.body, {**found.all, **draft.labels})
    seen = _SharedReadings(message, find_heads(message), labels, draft, name)
    reasons: dict[str, Any] = _mask_json({"fields": _explain_fields(seen, reading), **_explain_more(seen, reading)})
    return {"parser": name, "matched": matched, **reasons}


def _mask_json(value: Any) -> Any:
    """Return the same JSON without secrets: reasons quote the post."""
    if isinstance(value, dict):
        return {_mask_json(key): _mask_json(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_mask_json(inner) for inner in value]
    return mask(value)[0] if isinstance(value, str) else value
