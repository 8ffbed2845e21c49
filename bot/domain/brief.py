"""The brief: what the person on call reads first. `decide` is the one function that every surface shows (design 6).

Must not read a clock, call a model, or render Slack blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.domain.alert import Alert
from bot.domain.boundary import BoundaryCall
from bot.domain.incident import Boundary
from bot.domain.ranking import Missing, Recalled
from bot.domain.recommendation import DidNotWork, Recommendation
from bot.domain.skip import Later, Skip


@dataclass(frozen=True, slots=True)
class IncidentView:
    """How the incident stands, as the brief shows it."""

    incident_id: str
    state: str
    fired: int
    opened_at: datetime
    cleared_at: datetime | None = None
    acknowledged_by: str | None = None


@dataclass(frozen=True, slots=True)
class AlertHistory:
    """History from alerts alone, before now: `times` incidents of this fingerprint in `days`, of which
    `unrecorded` cleared with no recorded fix; `median_minutes` to clear, if known."""

    days: int
    times: int
    unrecorded: int
    median_minutes: float | None = None


@dataclass(frozen=True, slots=True)
class InsufficientMemory:
    """Why memory cannot answer, and what to collect. `nearest` names the nearest record and what tells it apart."""

    reason: str
    nearest: str | None = None
    collect: tuple[str, ...] = ()
    runbook: str | None = None


@dataclass(frozen=True, slots=True)
class RootCause:
    """The root cause as a record states it; `verified` if that incident has a VERIFIED attempt."""

    text: str
    verified: bool
    incident_id: str


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A precedent as the brief lists it."""

    incident_id: str
    title: str
    boundary: Boundary
    tier: str
    probability: float
    date: datetime | None = None
    why: tuple[str, ...] = ()
    url: str | None = None
    fixed_by: str | None = None


@dataclass(frozen=True, slots=True)
class Brief:
    """Everything that a thread, `/recall`, the command line and Details show. Keys as in design 4.3."""

    verdict: str
    alert: Alert
    incident: IncidentView | None = None
    memory_mode: str = "on"
    insufficient_memory: InsufficientMemory | None = None
    boundary: BoundaryCall = field(default_factory=BoundaryCall)
    root_cause: RootCause | None = None
    steps: tuple[str, ...] = ()
    step_warnings: tuple[str, ...] = ()
    recommendation: Recommendation | None = None
    alternatives: tuple[Recommendation, ...] = ()
    did_not_work: tuple[DidNotWork, ...] = ()
    skip: tuple[Skip, ...] = ()
    later: tuple[Later, ...] = ()
    sources: tuple[SourceLine, ...] = ()
    possible: tuple[SourceLine, ...] = ()
    missing: tuple[Missing, ...] = ()
    history: AlertHistory | None = None
    now: datetime | None = None


def decide(
    alert: Alert,
    recalled: Recalled,
    evidence: Sequence[object],
    now: datetime,
    *,
    incident: IncidentView | None = None,
    history: AlertHistory | None = None,
    memory_mode: str = "on",
) -> Brief:
    """The brief."""
    raise NotImplementedError


def with_life(brief: Brief, incident: IncidentView) -> Brief:
    """The same brief with the incident's state as it is now."""
    raise NotImplementedError
