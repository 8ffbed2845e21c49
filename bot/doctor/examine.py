"""Run all checks of an installation, in the order in which an operator fixes things.

Nothing is changed: no migration, no bank, no post. A check that depends on a failed one is skipped, so that one cause
gives one finding.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field

from bot.adapters.store.upkeep.inspect import StoreAddress
from bot.bootstrap.config.file import Configuration, read_configuration
from bot.bootstrap.system import SystemClock
from bot.doctor.bank import check_hindsight
from bot.doctor.channels import (
    SlackAccess,
    check_channels,
    check_configured_channels,
    check_events,
    check_stewards,
    describe_buttons,
    discount_socket_warning,
)
from bot.doctor.evidence import check_sources
from bot.doctor.finding import Finding, mask_secrets, run_check
from bot.doctor.machine import (
    RunningBot,
    check_embeddings,
    check_port,
    check_settings_file,
    check_time_zone,
    check_webhooks,
    list_secrets,
)
from bot.doctor.metrics import check_metrics
from bot.doctor.model import check_language_model
from bot.doctor.request_url import check_public_url
from bot.doctor.slack import (
    NEEDED_SCOPES,
    THROUGH_PROXY,
    SlackExamination,
    check_slack,
    check_token_kinds,
    examine_slack,
)
from bot.doctor.store import check_database
from bot.ports.clock import Clock
from bot.ports.errors import ConfigurationRejected
from bot.settings import Settings, find_proxy

__all__ = ["NEEDED_SCOPES", "Finding", "check_configuration", "check_slack", "check_token_kinds", "examine"]


@dataclass(slots=True)
class Examination:
    """One run, with what earlier checks found out for later ones."""

    settings: Settings
    clock: Clock
    configuration: Configuration | None = None
    store: StoreAddress | None = None
    told: SlackExamination = field(default_factory=lambda: SlackExamination(()))
    running: RunningBot = field(default_factory=RunningBot)

    async def check_machine(self) -> Sequence[Finding]:
        """Check the settings file, the time zone, the configuration file, and webhooks."""
        said, self.configuration = check_configuration(self.settings)
        return *check_settings_file(), check_time_zone(self.settings), said, check_webhooks(self.settings)

    async def check_port(self) -> Sequence[Finding]:
        """Check the bot's own port."""
        said, self.running = await check_port(self.settings)
        return (said,)

    async def check_database(self) -> Sequence[Finding]:
        """Check the store."""
        said, self.store = await check_database(self.settings, self.clock)
        return said

    async def check_slack(self) -> Sequence[Finding]:
        """Check tokens, clock, scopes, and the connection."""
        self.told = await discount_socket_warning(
            await examine_slack(self.settings, self.clock), self.store, self.clock
        )
        return self.told.findings

    async def check_channels(self) -> Sequence[Finding]:
        """Check channels, events, and stewards, if Slack accepts the token and the scopes are complete."""
        chat, own = self.told.chat, self.told.own
        if chat is None or own is None or any(f.check == "Scopes" and f.ok is False for f in self.told.findings):
            return ()
        here = SlackAccess(chat, own, self.clock)
        said, found = await check_channels(here)
        posts = self.configuration.deploy_posts.channels if self.configuration else ()
        named = await check_configured_channels(here, self.settings, posts)
        heard = (
            await check_events(here, self.store, found, self.running)
            if self.store and found and self.told.connects
            else ()
        )
        return *said, *named, *heard, describe_buttons(), *await check_stewards(here, self.settings)

    async def check_request_url(self) -> Sequence[Finding]:
        """Check the Request URL, unless the signing secret cannot be right."""
        bad = any(f.check == "Signing secret" and f.ok is False for f in self.told.findings)
        return () if bad else await check_public_url(self.settings)

    async def check_bank(self) -> Sequence[Finding]:
        """Check Hindsight."""
        url = self.settings.hindsight_url
        if url and self._is_behind_proxy(url):
            return ()
        return (await check_hindsight(self.settings, self.clock),)

    async def check_metrics(self) -> Sequence[Finding]:
        """Check the metrics servers."""
        return await check_metrics(self.configuration, self.clock.now())

    async def check_sources(self) -> Sequence[Finding]:
        """Check logs, deploys, and status pages."""
        return await check_sources(self.configuration, self.clock.now())

    async def check_models(self) -> Sequence[Finding]:
        """Check the embedding model and the language model."""
        said = await check_language_model(self.settings)
        if said.ok is False and self._is_behind_proxy(self.settings.groq_base_url):
            return (await check_embeddings(self.settings),)
        return await check_embeddings(self.settings), said

    def _is_behind_proxy(self, url: str) -> bool:
        """Return whether the proxy that blocks Slack also lies in front of this address: it was reported once already."""
        told = any(f.ok is False and THROUGH_PROXY in f.detail for f in self.told.findings)
        return told and find_proxy(url) is not None


async def examine(settings: Settings, clock: Clock | None = None) -> tuple[Finding, ...]:
    """Return all findings in the order in which an operator fixes them, with every secret masked."""
    about = Examination(settings, clock or SystemClock())
    found: list[Finding] = []
    for check, work in (
        ("Machine", about.check_machine()),
        ("Port", about.check_port()),
        ("Database", about.check_database()),
        ("Slack", about.check_slack()),
        ("Channels", about.check_channels()),
        ("Public URL", about.check_request_url()),
    ):
        found += await run_check(check, work)
    asked: list[Awaitable[tuple[Finding, ...]]] = [
        run_check("Hindsight", about.check_bank()),
        run_check("Metrics", about.check_metrics()),
        run_check("Evidence", about.check_sources()),
        run_check("Models", about.check_models()),
    ]
    for findings in await asyncio.gather(*asked):
        found += findings
    return mask_secrets(list_secrets(settings), found)


def check_configuration(settings: Settings) -> tuple[Finding, Configuration | None]:
    """Check the file of PRECEDENT_CONFIG, and return what it says (None if it is wrong). It is read only here."""
    if settings.precedent_config is None:
        said = "PRECEDENT_CONFIG is not set: the maintained table of vendors is used alone"
        return Finding("Configuration", None, said), Configuration()
    try:
        found = read_configuration(settings.precedent_config)
    except ConfigurationRejected as problem:
        unread = "cannot be read" in str(problem)
        mend = "Correct PRECEDENT_CONFIG, or let the bot's user read the file" if unread else "Correct that in the file"
        fix = f"{mend}: as it is, `serve` does not start."
        return Finding("Configuration", False, str(problem), fix), None
    counts = f"{len(found.vendors)} vendors, {len(found.services)} services"
    return Finding("Configuration", True, f"{settings.precedent_config}: {counts}"), found
