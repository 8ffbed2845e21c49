"""The sources of evidence, as the workflows see them. Must not promise anything about what memory says."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from bot.domain.alert import Alert
from bot.domain.evidence import Evidence, EvidenceKind


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
