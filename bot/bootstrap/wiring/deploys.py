"""Deploys that the bot is told of, wired: the webhook of pipelines, and deploy posts of the listed channels. Must not
decide which deploy matters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from aiohttp import web

from bot.adapters.evidence.deploys_recorded import RecordedDeploys
from bot.bootstrap.config.file import Configuration
from bot.bootstrap.wiring.memory import Memory
from bot.bootstrap.workers import Handle
from bot.domain.alerts.alert import NotAlert, Reading
from bot.domain.catalog.vendors import Directory
from bot.parsers.intake.deploy_post import deployed_in
from bot.ports.clock import Clock
from bot.ports.evidence import EvidenceProvider
from bot.settings import Settings
from bot.web.deploys import DeployIntake, add_deploys
from bot.workflows.evidence.deploys import RecordDeployPost

Reader = Callable[[Mapping[str, Any]], Reading]


def wrap_reader(read: Reader, channels: frozenset[str], names: Directory) -> Reader:
    """The reader, which looks into deploy posts of these channels, too. Everywhere else they are dropped unread."""
    if not channels:
        return read

    def reading(event: Mapping[str, Any]) -> Reading:
        found = read(event)
        if isinstance(found, NotAlert) and found.kind == "deploy" and event.get("channel") in channels:
            return replace(found, deployed=deployed_in(event, names))
        return found

    return reading


def add_deploy_intake(
    server: web.Application, settings: Settings, memory: Memory, clock: Clock, names: Directory
) -> Handle:
    """Add the route for pipelines; what works on the deploy posts that the inbox kept."""
    token = settings.webhook_token.get_secret_value().strip() if settings.webhook_token else None
    add_deploys(server, DeployIntake(memory.store.deploy_log.record, clock.now, token, names))
    return RecordDeployPost(memory.store.deploy_log, memory.inbox)


def build_recorded_deploys(
    settings: Settings, configuration: Configuration, memory: Memory
) -> tuple[EvidenceProvider, ...]:
    """The provider of deploys that the bot was told of, where anything can tell of them."""
    told = settings.webhook_token or configuration.deploy_posts.channels
    return (RecordedDeploys(memory.store.deploy_log),) if told else ()
