"""Read an alert that a tool states field by field, like a post: with the same words, tables and identity.

What the tool states counts; the shared readings look for the rest in its labels and texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from bot.domain.alerts.alert import Alert, AlertMember, AlertState, NotAlert, Symptom
from bot.domain.catalog.vendors import STANDARD, Directory, resolve_vendor
from bot.parsers.common.draft import Draft
from bot.parsers.common.finish import finish
from bot.parsers.masking import mask_alert
from bot.parsers.message import parse_message
from bot.parsers.vocabulary.noise import HEARTBEAT_NAMES, find_noise
from bot.parsers.vocabulary.places import read_environment
from bot.parsers.vocabulary.severities import read_severity


@dataclass(frozen=True, slots=True)
class IntakeAlert:
    """An alert as a tool states it."""

    tool: str
    state: AlertState
    title: str
    # the parts that name the alert; empty means name, service, host and stated dimensions
    identity: tuple[str, ...] = ()
    severity: str | None = None
    service: str | None = None
    vendor: str | None = None
    region: str | None = None
    environment: str | None = None
    texts: tuple[str, ...] = ()  # sentences (summary, description)
    symptoms: tuple[Symptom, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    members: tuple[AlertMember, ...] = ()
    firing: int | None = None  # members of the group that fire; not all need be listed
    cleared: int | None = None  # members that cleared


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _build_event(given: IntakeAlert) -> dict[str, Any]:
    """Return the values as a post would hold them: title, sentences, fields, buttons."""
    card = {
        "title": _escape(given.title),
        "text": "\n".join(map(_escape, given.texts)),
        "fields": [{"title": _escape(key), "value": _escape(value)} for key, value in given.labels.items()],
        "actions": [{"text": _escape(role), "url": _escape(url)} for role, url in given.links.items()],
    }
    return {"type": "message", "subtype": "bot_message", "bot_id": "B0", "attachments": [card]}


def build_alert(given: IntakeAlert, names: Directory = STANDARD) -> Alert | NotAlert:
    """Return the alert, masked; a heartbeat or a test notification is none."""
    noise = find_noise(given.title)
    if given.title in HEARTBEAT_NAMES:
        return NotAlert("heartbeat", "a sign of life")
    if noise and noise[0] == "test_notification":
        return NotAlert(*noise)
    draft = Draft(
        given.tool,
        given.state,
        title=given.title,
        identity=given.identity,
        severity=read_severity(given.severity) if given.severity else None,
        severity_raw=given.severity,
        service=given.service,
        vendor=resolve_vendor(given.vendor, names) if given.vendor else None,
        region=given.region,
        environment=(read_environment(given.environment) or given.environment) if given.environment else None,
        symptoms=given.symptoms,
        labels=given.labels,
        links=given.links,
        members=given.members,
    )
    alert = finish(parse_message(_build_event(given), names=names), draft, frozenset())
    return mask_alert(replace(alert, firing=given.firing, cleared=given.cleared))
