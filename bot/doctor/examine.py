"""Checks of an installation: each finding says what is wrong and what to do. Must not change anything: no migration, no
bank, no post.

A check that cannot be made because an earlier one failed is left out, so that one cause gives one finding.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field

from bot.adapters.store.upkeep.inspect import Address
from bot.bootstrap.config.file import Configuration, read_configuration
from bot.bootstrap.system import SystemClock
from bot.doctor.bank import hindsight
from bot.doctor.channels import Here, buttons, channels, events, heeding_events, named_channels, stewards
from bot.doctor.evidence import sources
from bot.doctor.finding import Finding, guarded, without
from bot.doctor.machine import Running, embeddings, port, secrets_of, settings_file, time_zone, webhooks
from bot.doctor.metrics import metrics
from bot.doctor.model import language_model
from bot.doctor.request_url import public_url
from bot.doctor.slack import NEEDED_SCOPES, THROUGH_PROXY, Told, slack, token_kinds, told_by_slack
from bot.doctor.store import database
from bot.ports import ConfigurationRejected
from bot.ports.clock import Clock
from bot.settings import Settings, proxy_for

__all__ = ["NEEDED_SCOPES", "Finding", "configuration", "examine", "slack", "token_kinds"]


@dataclass(slots=True)
class Examination:
    """One run: what earlier checks found out for later ones."""

    settings: Settings
    clock: Clock
    configuration: Configuration | None = None
    store: Address | None = None
    told: Told = field(default_factory=lambda: Told(()))
    running: Running = field(default_factory=Running)

    async def machine(self) -> Sequence[Finding]:
        """Settings file, time zone, configuration file, webhooks."""
        said, self.configuration = configuration(self.settings)
        return *settings_file(), time_zone(self.settings), said, webhooks(self.settings)

    async def port(self) -> Sequence[Finding]:
        """The bot's own port."""
        said, self.running = await port(self.settings)
        return (said,)

    async def database(self) -> Sequence[Finding]:
        """The store."""
        said, self.store = await database(self.settings, self.clock)
        return said

    async def slack(self) -> Sequence[Finding]:
        """Tokens, clock, scopes, connection."""
        self.told = await heeding_events(await told_by_slack(self.settings, self.clock), self.store, self.clock)
        return self.told.findings

    async def places(self) -> Sequence[Finding]:
        """Channels, events, stewards: only where Slack takes the token and the scopes are there."""
        chat, own = self.told.chat, self.told.own
        if chat is None or own is None or any(f.check == "Scopes" and f.ok is False for f in self.told.findings):
            return ()
        here = Here(chat, own, self.clock)
        said, found = await channels(here)
        posts = self.configuration.deploy_posts.channels if self.configuration else ()
        named = await named_channels(here, self.settings, posts)
        heard = (
            await events(here, self.store, found, self.running) if self.store and found and self.told.connects else ()
        )
        return *said, *named, *heard, buttons(), *await stewards(here, self.settings)

    async def public(self) -> Sequence[Finding]:
        """The Request URL, where the signing secret can be one."""
        bad = any(f.check == "Signing secret" and f.ok is False for f in self.told.findings)
        return () if bad else await public_url(self.settings)

    async def bank(self) -> Sequence[Finding]:
        """Hindsight."""
        url = self.settings.hindsight_url
        if url and self._behind_the_proxy(url):
            return ()
        return (await hindsight(self.settings, self.clock),)

    async def metrics(self) -> Sequence[Finding]:
        """Metrics servers."""
        return await metrics(self.configuration, self.clock.now())

    async def sources(self) -> Sequence[Finding]:
        """Logs, deploys, status pages."""
        return await sources(self.configuration, self.clock.now())

    async def models(self) -> Sequence[Finding]:
        """The embedding model and the language model."""
        said = await language_model(self.settings)
        if said.ok is False and self._behind_the_proxy(self.settings.groq_base_url):
            return (await embeddings(self.settings),)
        return await embeddings(self.settings), said

    def _behind_the_proxy(self, url: str) -> bool:
        """Whether the proxy that keeps Slack away is before this address, too: that is told already."""
        told = any(f.ok is False and THROUGH_PROXY in f.detail for f in self.told.findings)
        return told and proxy_for(url) is not None


async def examine(settings: Settings, clock: Clock | None = None) -> tuple[Finding, ...]:
    """All findings, in the order in which an operator mends them, with no secret in them."""
    about = Examination(settings, clock or SystemClock())
    found: list[Finding] = []
    for check, work in (
        ("Machine", about.machine()),
        ("Port", about.port()),
        ("Database", about.database()),
        ("Slack", about.slack()),
        ("Channels", about.places()),
        ("Public URL", about.public()),
    ):
        found += await guarded(check, work)
    asked: list[Awaitable[tuple[Finding, ...]]] = [
        guarded("Hindsight", about.bank()),
        guarded("Metrics", about.metrics()),
        guarded("Evidence", about.sources()),
        guarded("Models", about.models()),
    ]
    for findings in await asyncio.gather(*asked):
        found += findings
    return without(secrets_of(settings), found)


def configuration(settings: Settings) -> tuple[Finding, Configuration | None]:
    """The file of PRECEDENT_CONFIG can be used; and what it says, None where it cannot. It is read here alone."""
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
