"""What a parser knows about a post before the shared readings fill in the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.domain.alerts.alert import AlertMember, AlertState, Severity, Symptom


@dataclass(frozen=True, slots=True)
class Draft:
    """A parser's findings. The shared readings look for what is None, unless `settled` names it."""

    tool: str
    state: AlertState
    title: str | None = None
    kind: str = "alert"
    # parts of the fingerprint; empty means the shared identity (title, service, host, ...)
    identity: tuple[str, ...] = ()
    severity: Severity | None = None
    severity_raw: str | None = None
    service: str | None = None
    environment: str | None = None
    region: str | None = None
    vendor: str | None = None
    symptoms: tuple[Symptom, ...] = ()
    links: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    members: tuple[AlertMember, ...] = ()
    settled: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Refusal:
    """A parser's finding that the post is no alert."""

    kind: str
    reason: str
