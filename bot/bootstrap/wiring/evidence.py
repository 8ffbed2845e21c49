"""All sources of evidence that the configuration names, as one. Must not ask any of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bot.bootstrap.config.file import Configuration
from bot.bootstrap.wiring.metrics import build_metrics_servers
from bot.bootstrap.wiring.sources import build_source_providers
from bot.domain.operations.load import Load
from bot.ports.clock import Clock
from bot.ports.evidence import EvidenceProvider
from bot.settings import Settings
from bot.workflows.evidence.gather import GatherEvidence
from bot.workflows.evidence.metered import MeteredSource


def build_providers(configuration: Configuration) -> tuple[EvidenceProvider, ...]:
    """Every source, in the order in which people look. Raises ConfigurationRejected."""
    return (*build_metrics_servers(configuration), *build_source_providers(configuration))


def build_gather_evidence(
    settings: Settings,
    configuration: Configuration,
    clock: Clock,
    load: Callable[[], Load] = lambda: Load.FULL,
    more: Sequence[EvidenceProvider] = (),
) -> GatherEvidence:
    """What asks them, and `more`. Raises ConfigurationRejected."""
    asked = tuple(MeteredSource(one) for one in (*build_providers(configuration), *more))
    return GatherEvidence(providers=asked, clock=clock, deadline_s=settings.evidence_deadline_s, load=load)
