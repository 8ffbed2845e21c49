"""What every room is wired from: the settings, the open memory, and the workspace that the bot is in.

A builder of a room takes a `Foundation` and picks what it needs, so that a new dependency of a use case changes one file.
"""

from __future__ import annotations

from dataclasses import dataclass

from slack_sdk.web.async_client import AsyncWebClient

from bot.bootstrap.config.file import Configuration, build_directory, read_optional_configuration
from bot.bootstrap.wiring.memory import Memory
from bot.domain.catalog.vendors import Directory
from bot.ports.chat import BotIdentity
from bot.ports.clock import Clock
from bot.settings import Settings
from bot.slack.client.chat import SlackChat
from bot.slack.client.history import SlackHistory
from bot.slack.client.people import SlackPeople
from bot.slack.client.threads import SlackThreads
from bot.slack.views.surfaces import SlackSurfaces
from bot.workflows.operations.watch_load import WatchLoad


@dataclass(frozen=True, slots=True, kw_only=True)
class Foundation:
    """The parts that several rooms share, built once."""

    settings: Settings
    memory: Memory
    clock: Clock
    # The configuration file, and the vendors and services that it adds to the maintained table.
    configuration: Configuration
    names: Directory
    client: AsyncWebClient
    identity: BotIdentity
    chat: SlackChat
    people: SlackPeople
    surfaces: SlackSurfaces
    load: WatchLoad

    @property
    def history(self) -> SlackHistory:
        """Return the reader of channels' past messages."""
        return SlackHistory(self.chat)

    @property
    def threads(self) -> SlackThreads:
        """Return the reader of threads."""
        return SlackThreads(self.chat)


async def build_foundation(*, settings: Settings, memory: Memory, clock: Clock, client: AsyncWebClient) -> Foundation:
    """Build the shared parts. Raises ChatAuthRejected and ChatUnavailable if Slack does not know the token, and
    ConfigurationRejected for a wrong configuration file."""
    chat = SlackChat(client, clock, memory.channels)
    identity = await chat.fetch_identity()
    configuration = read_optional_configuration(settings.precedent_config)
    return Foundation(
        settings=settings,
        memory=memory,
        clock=clock,
        configuration=configuration,
        names=build_directory(configuration),
        client=client,
        identity=identity,
        chat=chat,
        people=SlackPeople(chat, clock, identity.team_id, settings.steward_group, settings.verifier_group),
        surfaces=SlackSurfaces(),
        load=WatchLoad(memory.store.inbox),
    )
