"""An alert that a tool states field by field, read like a post: the same words, tables and identity. Must not do I/O.

What the tool states itself stands; what it leaves open the shared readings look for in its labels and texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from bot.domain.alerts.alert import Alert, AlertMember, AlertState, NotAlert, Symptom
from bot.domain.catalog.vendors import STANDARD, Directory, named_vendor
from bot.parsers.common.draft import Draft
from bot.parsers.common.finish import finish
from bot.parsers.masking import masked
from bot.parsers.message import parse_message
from bot.parsers.vocabulary.noise import HEARTBEAT_NAMES, noise_of
from bot.parsers.vocabulary.places import environment_word
from bot.parsers.vocabulary.severities import severity_of


@dataclass(frozen=True, slots=True)
class Given:
    """What a tool states. `texts` are its sentences (summary, description), `identity` the parts that name the alert;
    empty: name, service, host and stated dimensions. `firing` and `cleared` count a group's members, of which not all
    may be listed."""

    tool: str
    state: AlertState
    title: str
    identity: tuple[str, ...] = ()
    severity: str | None = None
    service: str | None = None
    vendor: str | None = None
    region: str | None = None
    environment: str | None = None
    texts: tuple[str, ...] = ()
    symptoms: tuple[Symptom, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    members: tuple[AlertMember, ...] = ()
    firing: int | None = None
    cleared: int | None = None


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _event(given: Given) -> dict[str, Any]:
    """The values as a post holds them: title, sentences, fields, buttons."""
    card = {
        "title": _escaped(given.title),
        "text": "\n".join(map(_escaped, given.texts)),
        "fields": [{"title": _escaped(key), "value": _escaped(value)} for key, value in given.labels.items()],
        "actions": [{"text": _escaped(role), "url": _escaped(url)} for role, url in given.links.items()],
    }
    return {"type": "message", "subtype": "bot_message", "bot_id": "B0", "attachments": [card]}


def alert_of(given: Given, names: Directory = STANDARD) -> Alert | NotAlert:
    """The alert, masked; a heartbeat or a test notification is none."""
    noise = noise_of(given.title)
    if given.title in HEARTBEAT_NAMES:
        return NotAlert("heartbeat", "a sign of life")
    if noise and noise[0] == "test_notification":
        return NotAlert(*noise)
    draft = Draft(
        given.tool,
        given.state,
        title=given.title,
        identity=given.identity,
        severity=severity_of(given.severity) if given.severity else None,
        severity_raw=given.severity,
        service=given.service,
        vendor=named_vendor(given.vendor, names) if given.vendor else None,
        region=given.region,
        environment=(environment_word(given.environment) or given.environment) if given.environment else None,
        symptoms=given.symptoms,
        labels=given.labels,
        links=given.links,
        members=given.members,
    )
    alert = finish(parse_message(_event(given), names=names), draft, frozenset())
    return masked(replace(alert, firing=given.firing, cleared=given.cleared))
