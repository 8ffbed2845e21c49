"""The incident record: what a team knows about one problem it worked on, and what was tried.

This is imported, exported, retained and recalled. Unknown is None, never "". The state of an incident is in
`bot.domain.incidents.lifecycle`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any


class VerificationStatus(StrEnum):
    """Whether an attempt is known to have worked."""

    VERIFIED = "VERIFIED"
    PARTIAL = "PARTIAL"
    FAILED = "FAILED"
    UNVERIFIED = "UNVERIFIED"


class Boundary(StrEnum):
    """Where the fault lies."""

    VENDOR = "vendor"
    INTERNAL = "internal"
    MIXED = "mixed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One fix that was tried."""

    fix: str  # verbatim; steps are separated by newlines or ";"
    status: VerificationStatus = VerificationStatus.UNVERIFIED
    note: str | None = None
    runbook_id: str | None = None
    by: str | None = None
    at: datetime | None = None
    how: str | None = None  # how the status was decided: "button", "modal", "import", ...
    suggested: bool = False  # the bot had proposed it


@dataclass(frozen=True, slots=True)
class Runbook:
    """A named procedure."""

    id: str
    title: str
    steps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FailedCheck:
    """Something that was inspected and turned out not to be the cause."""

    check: str
    minutes: float | None = None  # what it cost, if known


@dataclass(frozen=True, slots=True)
class Announcement:
    """An alert that announced the incident."""

    fingerprint: str | None = None
    tool: str | None = None
    title: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """Where the record comes from."""

    kind: str = "import"  # "slack", "import" or "seed"
    url: str | None = None
    channel: str | None = None
    visibility: str = "public"  # "public", or "private:<channel id>" for members of that channel only


# The texts that a resolution records, in the order in which people are asked for them. Recording, import, import merge,
# purge, bank and index iterate over them. A new one is a field of `Incident`, of the JSON model in `records.incident_json`
# (which drops what it does not name) and of `Resolution`, and a name here; docs/architecture.md lists the rest.
RESOLUTION_TEXTS = ("root_cause", "lesson", "customer_impact")


@dataclass(frozen=True, slots=True)
class Incident:
    """One incident record."""

    incident_id: str
    title: str
    service: str | None = None
    vendor: str | None = None
    region: str | None = None
    environment: str | None = None
    severity: str | None = None  # in the source's own word, which need not be a `Severity`
    symptoms: tuple[str, ...] = ()
    customer_impact: str | None = None
    started_at: datetime | None = None
    resolved_at: datetime | None = None
    boundary: Boundary = Boundary.UNKNOWN
    root_cause: str | None = None
    attempts: tuple[Attempt, ...] = ()
    runbooks: tuple[Runbook, ...] = ()
    failed_checks: tuple[FailedCheck, ...] = ()
    lesson: str | None = None
    evidence: Mapping[str, str] = field(default_factory=dict)
    alerts: tuple[Announcement, ...] = ()
    source: Source = field(default_factory=Source)
    apart_from: tuple[str, ...] = ()  # ids that a person said were not the same outage

    @property
    def happened_at(self) -> datetime | None:
        """The time for sorting and for dates shown: the start if known, else the end."""
        return self.started_at or self.resolved_at

    def list_texts(self) -> list[tuple[str, str]]:
        """Return (name, text) of the resolution's texts that are recorded, in the order of the fields."""
        names = (name for name in Incident.__slots__ if name in RESOLUTION_TEXTS)
        return [(name, text) for name in names if (text := getattr(self, name))]

    def replace_texts(self, texts: Iterable[tuple[str, str]]) -> Incident:
        """Return the record with these of the resolution's texts."""
        values: dict[str, Any] = dict(texts)
        return replace(self, **values)
