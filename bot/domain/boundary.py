"""Where the fault lies, by the strong precedents' word (design 6). Must not look at evidence or at fixes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.domain.incident import Boundary


@dataclass(frozen=True, slots=True)
class BoundaryCall:
    """The boundary of the top strong precedent; `votes` counts outages per boundary when they disagree or agree;
    `told_apart_by` says in words what told the cases apart, if anything did."""

    value: Boundary = Boundary.UNKNOWN
    votes: Mapping[str, int] = field(default_factory=dict)
    told_apart_by: str | None = None
