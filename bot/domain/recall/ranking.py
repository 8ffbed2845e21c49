"""Precedents: recalled incidents with a calibrated probability, a tier, and the reasons why they qualified.

Must not fetch candidates; must not count anything (that is `recommendation`, `boundary`, `skip`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from bot.domain.fixes.identity import FixGroups
from bot.domain.incidents.record import Incident, VerificationStatus
from bot.domain.recall.dismissed import DismissedPrecedent
from bot.domain.recall.query import Query
from bot.domain.recall.similarity import Feature, Identity, Similarity, explain_similarity, match_features
from bot.domain.text.tokens import normalize_numbers

STRONG_FROM = 0.5
POSSIBLE_FROM = 0.2
BACKGROUND_RANKS = slice(10, 30)
# So many candidates: there may be more that were left out.
CUT_OFF_AT = 50
# The same thing in another region still counts, after the same thing here.
ELSEWHERE = 0.02
SIMILAR_SHARE = 0.2
SIMILAR_COSINE = 0.55


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
    """A recalled incident. `why` lists reasons in plain words ("the same alert", "same vendor razorpay", ...);
    `differs` the fields in which record and alert are both known and differ, with the record's value."""

    incident: Incident
    probability: float
    tier: Tier
    why: tuple[str, ...] = ()
    differs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class MissingPart:
    """A part that could not be asked: `what` is "memory", "evidence", "model"; `reason` in plain words."""

    what: str
    reason: str
    since: str | None = None


@dataclass(frozen=True, slots=True)
class OutsideMemory:
    """What a shared bank holds without a record, in another writer's words: may be listed, is never counted."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Recalled:
    """The answer of a recall: all tiers, best first. `known` is how many records the viewer's memory holds; `set_aside`
    what persons said against precedents that would be shown; `filed` which wordings they said to be one fix."""

    precedents: tuple[Precedent, ...] = ()
    known: int = 0
    missing: tuple[MissingPart, ...] = ()
    outside: tuple[OutsideMemory, ...] = ()
    set_aside: tuple[DismissedPrecedent, ...] = ()
    filed: FixGroups = field(default_factory=dict)

    @property
    def strong(self) -> tuple[Precedent, ...]:
        """The precedents that count."""
        return tuple(p for p in self.precedents if p.tier is Tier.STRONG)

    @property
    def possible(self) -> tuple[Precedent, ...]:
        """The precedents that are listed and never counted."""
        return tuple(p for p in self.precedents if p.tier is Tier.POSSIBLE)


@dataclass(frozen=True, slots=True)
class Calibration:
    """Weights of the probability that a candidate is the same problem: a logistic over text scores and fields.

    `background` weighs the distance of the fused score to the mean of ranks 11 to 30: how far a candidate stands out
    from what is always there, whatever stands next to it. The field weights add to the same logit; they are small, for
    vendor, service and region stand in the texts too.
    """

    intercept: float
    bm25_share: float
    bm25_mass: float
    chargram_share: float
    cosine: float
    background: float
    same_vendor: float = 0.6
    same_service: float = 0.4
    same_title: float = 1.0
    same_region: float = 0.0
    shared_sign: float = 0.6
    other_vendor: float = -1.5
    other_service: float = -0.8
    other_region: float = -0.2


LEXICAL = Calibration(intercept=-5.0, bm25_share=1.16, bm25_mass=1.35, chargram_share=1.64, cosine=0.0, background=3.37)
HYBRID = Calibration(intercept=-7.31, bm25_share=0.0, bm25_mass=1.05, chargram_share=0.0, cosine=3.49, background=4.54)
# How much of the words' mass goes with the cosine. Mass, for it grows slowly: many common words in a long text say less.
MASS_BESIDE_COSINE = 0.3


@dataclass(frozen=True, slots=True)
class Band:
    """The probabilities that one kind of identity gives: `low` for any wording, up to `high` for the same wording."""

    low: float
    high: float


# Identity decides, text only orders within it: the bands do not overlap.
BANDS: dict[Identity, Band] = {
    Identity.SAME_ALERT: Band(0.90, 0.98),
    Identity.SAME_NAME: Band(0.76, 0.88),
    Identity.SAME_SIGN: Band(0.60, 0.74),
    Identity.SAME_TELLING_NAME: Band(0.52, 0.59),
}


def fuse_score(score: TextScore) -> float:
    """One score of the text: words and meaning, or words and character n-grams where there is no vector. The two are
    not comparable with each other."""
    if score.cosine is None:
        return score_words(score)
    return score.cosine + MASS_BESIDE_COSINE * score.bm25_mass


def score_words(score: TextScore) -> float:
    """One score of the words and their parts."""
    return 0.6 * score.bm25_share + 0.4 * score.chargram_share


def measure_background(candidates: Sequence[Candidate], by: Callable[[TextScore], float] = fuse_score) -> float:
    """The mean score of ranks 11 to 30 among texts that differ: forty recurrences of one problem are no background to
    it. A rank that nobody holds counts as 0, so that one candidate more or less makes no leap; where the list was cut
    off, it counts as the last one there is."""
    best: dict[str, float] = {}
    for candidate in candidates:
        form = normalize_numbers("\n".join((candidate.incident.title, *candidate.incident.symptoms)))
        best[form] = max(by(candidate.score), best.get(form, 0.0))
    scores = sorted(best.values(), reverse=True)
    if len(candidates) >= CUT_OFF_AT:
        scores += [scores[-1]] * (BACKGROUND_RANKS.stop - len(scores))
    return sum(scores[BACKGROUND_RANKS]) / (BACKGROUND_RANKS.stop - BACKGROUND_RANKS.start)


def _compute_text_logit(score: TextScore, background: float, weights: Calibration) -> float:
    distance = fuse_score(score) - background if fuse_score(score) > 0 else 0.0
    return (
        weights.intercept
        + weights.bm25_share * score.bm25_share
        + weights.bm25_mass * score.bm25_mass
        + weights.chargram_share * score.chargram_share
        + weights.cosine * (score.cosine or 0.0)
        + weights.background * distance
    )


def _estimate_probability(candidate: Candidate, kin: Similarity, background: float, weights: Calibration) -> float:
    logit = _compute_text_logit(candidate.score, background, weights)
    logit += sum(getattr(weights, mark.value) for mark in sorted(kin.marks))
    free = 1 / (1 + math.exp(-logit))
    if kin.identity is not None:
        band = BANDS[kin.identity]
        # Two decimals: within them the better record and the more recent one go first, not a word more or less.
        free = round(band.low + (band.high - band.low) * free, 2)
        free -= ELSEWHERE if Feature.OTHER_REGION in kin.marks else 0.0
    return min(free, cap_probability(free)) if kin.gated else free


def cap_probability(free: float) -> float:
    """Below strong, whatever the probability; the order among gated candidates stays."""
    return 0.40 + 0.09 * free


def choose_tier(probability: float) -> Tier:
    """Strong counts, possible is listed, none is not shown."""
    if probability >= STRONG_FROM:
        return Tier.STRONG
    return Tier.POSSIBLE if probability >= POSSIBLE_FROM else Tier.NONE


def _explain_wording(score: TextScore) -> tuple[str, ...]:
    close = score.bm25_share >= SIMILAR_SHARE or (score.cosine or 0.0) >= SIMILAR_COSINE
    return ("similar wording",) if close else ()


def build_sort_key(precedent: Precedent) -> tuple[float, bool, float, str]:
    """The order of precedents: by probability; equal ones VERIFIED first, then the more recent, then by id."""
    incident = precedent.incident
    verified = any(a.status is VerificationStatus.VERIFIED for a in incident.attempts)
    recency = incident.happened_at.timestamp() if incident.happened_at else -math.inf
    return -precedent.probability, not verified, -recency, incident.incident_id


def rank(
    query: Query, candidates: Sequence[Candidate], *, known: int = 0, calibration: Calibration | None = None
) -> tuple[Precedent, ...]:
    """The candidates as precedents, best first, each judged for itself: never from the gap to the next one, for three
    recurrences would cancel each other out. `known` is how many records the viewer's memory holds; a memory of up to
    ten records has no background. Without `calibration` each is judged by the one for its scores (with or without
    cosine: what was just recorded has no vector yet).
    """
    vectored = [c for c in candidates if c.score.cosine is not None]
    with_vector = measure_background(vectored)
    by_words = measure_background(candidates, score_words) if len(vectored) < len(candidates) else 0.0
    found = []
    for candidate in candidates:
        incident = candidate.incident
        if incident.incident_id in query.exclude:
            continue
        kin = match_features(query, incident)
        only_words = candidate.score.cosine is None
        weights, background = (LEXICAL, by_words) if only_words else (HYBRID, with_vector)
        weights = calibration or weights
        probability = _estimate_probability(candidate, kin, background, weights)
        why = (*explain_similarity(kin, incident), *_explain_wording(candidate.score))
        found.append(Precedent(incident, probability, choose_tier(probability), why, kin.differs))
    return tuple(sorted(found, key=build_sort_key))
