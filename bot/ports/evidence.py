"""The sources of evidence, as the workflows see them, and the work that they are owed. Must not promise anything about what
memory says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from bot.domain.alerts.alert import Alert
from bot.domain.brief.decide import Brief, with_evidence
from bot.domain.evidence.items import Evidence, EvidenceKind, is_pending
from bot.domain.recall.ranking import Missing
from bot.ports.delivery.inbox import ReceivedEvent
from bot.ports.posts import PostedBrief

# The kind of inbox row that owes a brief what its sources say later.
LATER = "evidence"
MISSING = "evidence"


class EvidenceProvider(Protocol):
    """One source: a metrics server, a log store, a list of deploys, a vendor's status page.

    Promise: reads only, asks only what the operator configured (never an address that came with an alert), follows no
    redirect, reads at most 1 MiB of an answer, masks secrets in texts, and says of each thing that it was asked for
    whether it was observed or why not. Whoever calls sets the deadline by cancelling. Asking again changes nothing.
    Raises EvidenceUnavailable where nothing at all can be said.
    """

    @property
    def name(self) -> str:
        """What the brief calls the source ("prometheus", "github deployments")."""
        ...

    @property
    def kind(self) -> EvidenceKind:
        """What it is about, mostly: that is what is unavailable when it does not answer."""
        ...

    async def observe(self, alert: Alert, at: datetime) -> Sequence[Evidence]:
        """What it shows about this alert at `at` (UTC); empty where nothing is configured for the alert's service."""
        ...


@dataclass(frozen=True, slots=True)
class GatheredEvidence:
    """What sources said of an alert. `at`: when they were asked; None if none was, for `not_asked` or as there is none."""

    at: datetime | None = None
    evidence: tuple[Evidence, ...] = ()
    not_asked: str | None = None


class PendingEvidence(Protocol):
    """Sources that are being asked about one alert."""

    async def collect(self) -> GatheredEvidence:
        """What is there by the deadline; what is not is unavailable and pending. Never raises."""
        ...


class EvidenceSources(Protocol):
    """All sources as one. Never raises: a source that fails is unavailable, with the reason."""

    @property
    def names(self) -> Sequence[str]:
        """Of those that are configured."""
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
    """The brief with what sources said beside it, or with the reason why none was asked."""
    if gathered.not_asked:
        return replace(brief, missing=(*brief.missing, Missing(MISSING, gathered.not_asked)))
    return with_evidence(brief, gathered.evidence, gathered.at)


def build_completion_work(briefs: Iterable[PostedBrief]) -> tuple[ReceivedEvent, ...]:
    """The work that completes each brief whose sources are still asked; owed once, however often it is said."""
    return tuple(
        _build_work(f"complete/{b.delivery_id}", b.incident_id, f"{b.incident_id}/{b.channel}")
        for b in briefs
        if is_pending(b.brief.evidence)
    )


def build_refresh_work(incident_id: str, said: str) -> tuple[ReceivedEvent, ...]:
    """The work that looks again after something was said of an incident; `said` names that."""
    return (_build_work(f"refresh/{incident_id}/{said}", incident_id, f"{incident_id}/{said}"),)


def _build_work(event: str, incident_id: str, name: str) -> ReceivedEvent:
    key = f"{LATER}/{event}"
    return ReceivedEvent(key, key, LATER, {"incident_id": incident_id, "name": name})
