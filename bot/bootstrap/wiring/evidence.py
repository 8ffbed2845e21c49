"""Wire evidence: the configured sources as one, deploys that the bot is told of, and answers that come late."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from aiohttp import web

from bot.adapters.evidence.deploys_recorded import RecordedDeploys
from bot.bootstrap.config.file import Configuration
from bot.bootstrap.wiring.evidence_metrics import build_metrics_servers
from bot.bootstrap.wiring.evidence_sources import build_source_providers
from bot.bootstrap.wiring.foundation import Foundation
from bot.bootstrap.wiring.memory import Memory
from bot.bootstrap.workers import Handle
from bot.domain.alerts.alert import NotAlert, Reading
from bot.domain.catalog.vendors import Directory
from bot.domain.operations.load import LoadShedding
from bot.parsers.intake.deploy_post import find_deploy
from bot.ports.clock import Clock
from bot.ports.evidence import EvidenceProvider
from bot.settings import Settings
from bot.web.deploys import DeployIntake, add_deploys
from bot.workflows.evidence.complete import CompleteEvidence
from bot.workflows.evidence.deploys import RecordDeployPost
from bot.workflows.evidence.gather import GatherEvidence
from bot.workflows.evidence.metered import MeteredSource

Reader = Callable[[Mapping[str, Any]], Reading]


def build_providers(configuration: Configuration) -> tuple[EvidenceProvider, ...]:
    """Build every configured source, in the order in which people look. Raises ConfigurationRejected."""
    return (*build_metrics_servers(configuration), *build_source_providers(configuration))


def build_gather_evidence(
    *,
    settings: Settings,
    configuration: Configuration,
    clock: Clock,
    memory: Memory,
    load: Callable[[], LoadShedding] = lambda: LoadShedding.FULL,
) -> GatherEvidence:
    """Build what asks all sources, and the deploys that the bot was told of. Raises ConfigurationRejected."""
    deploys = build_recorded_deploys(settings=settings, configuration=configuration, memory=memory)
    metered = tuple(MeteredSource(one) for one in (*build_providers(configuration), *deploys))
    return GatherEvidence(providers=metered, clock=clock, deadline_s=settings.evidence_deadline_s, load=load)


def build_complete_evidence(base: Foundation, *, sources: GatherEvidence) -> Handle:
    """Build the handler that adds late answers to a posted brief."""
    return CompleteEvidence(
        store=base.memory.incidents, inbox=base.memory.inbox, surfaces=base.surfaces, sources=sources
    )


def build_recorded_deploys(
    *, settings: Settings, configuration: Configuration, memory: Memory
) -> tuple[EvidenceProvider, ...]:
    """Build the provider of deploys that the bot was told of, if anything can tell it."""
    can_be_told = settings.webhook_token or configuration.deploy_posts.channels
    return (RecordedDeploys(memory.store.deploy_log),) if can_be_told else ()


def add_deploy_intake(base: Foundation, server: web.Application) -> Handle:
    """Add the route for pipelines, and return the handler of stored deploy posts."""
    token = read_webhook_token(base.settings)
    log = base.memory.store.deploy_log
    add_deploys(server, DeployIntake(log.record, base.clock.now, token, base.names))
    return RecordDeployPost(log, base.memory.inbox)


def read_webhook_token(settings: Settings) -> str | None:
    """Return the token that HTTP intake requires, if one is set."""
    return settings.webhook_token.get_secret_value().strip() if settings.webhook_token else None


def wrap_reader(read: Reader, channels: frozenset[str], names: Directory) -> Reader:
    """Return the reader extended to deploy posts of these channels. In all others they are dropped unread."""
    if not channels:
        return read

    def read_deploys(event: Mapping[str, Any]) -> Reading:
        found = read(event)
        if isinstance(found, NotAlert) and found.kind == "deploy" and event.get("channel") in channels:
            return replace(found, deployed=find_deploy(event, names))
        return found

    return read_deploys
