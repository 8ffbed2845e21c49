"""The sources of evidence, as the workflows see them, and the work of asking them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from bot.domain.alerts.alert import Alert
from bot.domain.brief.decide import Brief, add_evidence
from bot.domain.evidence.items import Evidence, EvidenceKind, has_pending
from bot.domain.recall.ranking import MissingPart
from bot.ports.delivery.inbox import ReceivedEvent
from bot.ports.posts import PostedBrief

# The kind of inbox row that owes a brief what its sources say later.
LATER = "evidence"
MISSING = "evidence"


class EvidenceProvider(Protocol):
    """One source: a metrics server, a log store, a list of deploys, a vendor's status page.

    Promise: reads only, asks only what the operator configured (never an address that came with an alert), follows no
    redirect, reads at most 1 MiB of an answer, masks secrets in texts, and says of each thing whether it was observed
    or why not. The caller sets the deadline by cancelling. Asking again changes nothing. Raises EvidenceUnavailable
    where nothing at all can be said.
    """

    @property
    def name(self) -> str:
        """What the brief calls the source ("prometheus", "github deployments")."""
        ...

    @property
    def kind(self) -> EvidenceKind:
        """What it is mostly about: that is unavailable when the source does not answer."""
        ...

    async def observe(self, alert: Alert, at: datetime) -> Sequence[Evidence]:
        """Return what it shows about this alert at `at` (UTC), empty where nothing is configured for the alert's
        service."""
        ...


@dataclass(frozen=True, slots=True)
class GatheredEvidence:
    """What sources answered about an alert."""

    at: datetime | None = None  # when the sources were asked, None if none was
    evidence: tuple[Evidence, ...] = ()
    not_asked: str | None = None  # why none was asked, None where there is none to ask


class PendingEvidence(Protocol):
    """Sources that are being asked about one alert."""

    async def collect(self) -> GatheredEvidence:
        """Return what is there by the deadline; the rest is unavailable and pending. Never raises."""
        ...


class EvidenceSources(Protocol):
    """All sources as one. Never raises: a source that fails is unavailable, with the reason."""

    @property
    def names(self) -> Sequence[str]:
        """Names of the configured sources."""
        ...

    def ask(self, alert: Alert, name: str) -> PendingEvidence:
        """Begin to ask all of them at once, without waiting. Under `name` the rest is found later."""
        ...


class _NothingPending:
    async def collect(self) -> GatheredEvidence:
        return GatheredEvidence()


class _NoSources:
    names: Sequence[str] = ()

    def ask(self, _alert: Alert, _name: str) -> PendingEvidence:
        return _NothingPending()


NO_SOURCES: EvidenceSources = _NoSources()


def attach_evidence(brief: Brief, gathered: GatheredEvidence) -> Brief:
    """Return the brief with what sources answered, or with the reason why none was asked."""
    if gathered.not_asked:
        return replace(brief, missing=(*brief.missing, MissingPart(MISSING, gathered.not_asked)))
    return add_evidence(brief, gathered.evidence, gathered.at)


def build_completion_work(briefs: Iterable[PostedBrief]) -> tuple[ReceivedEvent, ...]:
    """Return the work that completes each brief whose sources are still being asked; it is queued once, however often
    it is requested."""
    return tuple(
        _build_work(f"complete/{b.delivery_id}", b.incident_id, f"{b.incident_id}/{b.channel}")
        for b in briefs
        if has_pending(b.brief.evidence)
    )


def build_refresh_work(incident_id: str, said: str) -> tuple[ReceivedEvent, ...]:
    """Return the work that asks the sources again after something was recorded about an incident; `said` names that."""
    return (_build_work(f"refresh/{incident_id}/{said}", incident_id, f"{incident_id}/{said}"),)


def _build_work(event: str, incident_id: str, name: str) -> ReceivedEvent:
    key = f"{LATER}/{event}"
    return ReceivedEvent(key, key, LATER, {"incident_id": incident_id, "name": name})
