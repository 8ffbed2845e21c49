"""Precedents: recalled incidents with a calibrated probability, a tier, and the reasons why they qualified (design 5).

Must not fetch candidates; must not count anything (that is `recommendation`, `boundary`, `skip`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from bot.domain.incident import Incident


class Tier(StrEnum):
    """How far a precedent may be used: strong counts, possible is listed and never counted, none is not shown."""

    STRONG = "strong"
    POSSIBLE = "possible"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class TextScore:
    """What the index measured between query and record. All 0 for a candidate found by its fields alone.

    `bm25_share` is BM25 / the query's own maximum (0..1); `bm25_mass` is ln(1 + BM25 / (max_idf * (k1 + 1)));
    `chargram_share` is the character-n-gram BM25 / its own maximum (0..1); `cosine` is None in lexical mode.
    """

    bm25_share: float = 0.0
    bm25_mass: float = 0.0
    chargram_share: float = 0.0
    cosine: float | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A record that may be a precedent, with its text score."""

    incident: Incident
    score: TextScore = field(default_factory=TextScore)


@dataclass(frozen=True, slots=True)
class Precedent:
    """A recalled incident. `why` lists reasons in plain words ("the same alert", "same vendor razorpay", ...)."""

    incident: Incident
    probability: float
    tier: Tier
    why: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Missing:
    """A part that could not be asked: `what` is "memory", "evidence", "model"; `reason` in plain words."""

    what: str
    reason: str
    since: str | None = None


@dataclass(frozen=True, slots=True)
class Recalled:
    """The answer of a recall: all tiers, best first. `known` is how many records the viewer's memory holds."""

    precedents: tuple[Precedent, ...] = ()
    known: int = 0
    missing: tuple[Missing, ...] = ()

    @property
    def strong(self) -> tuple[Precedent, ...]:
        """The precedents that count."""
        return tuple(p for p in self.precedents if p.tier is Tier.STRONG)

    @property
    def possible(self) -> tuple[Precedent, ...]:
        """The precedents that are listed and never counted."""
        return tuple(p for p in self.precedents if p.tier is Tier.POSSIBLE)
