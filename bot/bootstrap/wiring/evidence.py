"""All sources of evidence that the configuration names, as one. Must not ask any of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bot.bootstrap.config.file import Configuration
from bot.bootstrap.wiring.metrics import metrics_servers
from bot.bootstrap.wiring.sources import providers_of
from bot.domain.operations.load import Load
from bot.ports.clock import Clock
from bot.ports.evidence import EvidenceProvider
from bot.settings import Settings
from bot.workflows.evidence.gather import GatherEvidence
from bot.workflows.evidence.metered import MeasuredSource


def providers(configuration: Configuration) -> tuple[EvidenceProvider, ...]:
    """Every source, in the order in which people look. Raises ConfigurationRejected."""
    return (*metrics_servers(configuration), *providers_of(configuration))


def gathering(
    settings: Settings,
    configuration: Configuration,
    clock: Clock,
    load: Callable[[], Load] = lambda: Load.FULL,
    more: Sequence[EvidenceProvider] = (),
) -> GatherEvidence:
    """What asks them, and `more`. Raises ConfigurationRejected."""
    asked = tuple(MeasuredSource(one) for one in (*providers(configuration), *more))
    return GatherEvidence(asked, clock, settings.evidence_deadline_s, load=load)
