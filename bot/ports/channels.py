"""What is agreed in channels, and who people are: settings, pools, rules, mutes, and the apps that post alerts there.

Must not know SQL or Slack's wire format. Whatever a person changes is written with its audit line in one transaction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.domain.access.roles import Person
from bot.domain.alerts.channel_settings import ChannelSettings
from bot.domain.alerts.suppression import ChannelPolicy, Mute, SilenceRule
from bot.ports.unit_of_work import Changes


@dataclass(frozen=True, slots=True)
class AlertSource:
    """An app that posted alerts in a channel: its id, and the tool as which its posts were read."""

    source: str
    tool: str


@dataclass(frozen=True, slots=True)
class Group:
    """A user group of the workspace."""

    group_id: str
    name: str


class ChannelStore(Protocol):
    """What is agreed in channels. Raises StoreUnavailable; then nothing was changed."""

    async def read_settings(self, channel: str) -> ChannelSettings:
        """The channel's settings; the defaults where nobody touched them."""
        ...

    async def save_settings(
        self, channel: str, settings: ChannelSettings, pool: Sequence[str], changes: Changes
    ) -> None:
        """Replace the settings, and the channels pooled with it (in both directions), with `changes` in one transaction."""
        ...

    async def list_pool(self, channel: str) -> tuple[str, ...]:
        """The channels whose private incidents may be recalled here, and the other way round, by id."""
        ...

    async def read_policy(self, channel: str, at: datetime) -> ChannelPolicy:
        """Settings now; rules and mutes that were not undone by `at`, mutes that end after it; oldest first, with how many
        posts each has silenced. What was posted before an undoing is silenced, whenever it is worked on."""
        ...

    async def add_rule(self, rule: SilenceRule, changes: Changes) -> int:
        """Keep a rule with `changes` in one transaction; its number, or 0 (and nothing written) if `changes.once` was done.
        The same rule (channel, source, tool, title, reach) that holds already is kept as it is, and its number given."""
        ...

    async def add_mute(self, mute: Mute, changes: Changes) -> int:
        """Keep a mute with `changes` in one transaction; its number, or 0 (and nothing written) if `changes.once` was done.
        It takes the place of a mute of the same thing."""
        ...

    async def undo_silence(self, silence: SilenceRule | Mute, by: str, changes: Changes) -> bool:
        """End a rule or a mute, with `changes` in one transaction; False (and nothing written) if it was ended before."""
        ...

    async def count_silenced(self, silence: SilenceRule | Mute, event: int) -> None:
        """Count a post that it silenced; `event` is the number of the inbox row, so that taking it again counts once."""
        ...

    async def note_source(self, channel: str, fingerprint: str, source: AlertSource) -> None:
        """Remember that this app posts this alert here; known ones cost no write."""
        ...

    async def list_sources(self, channel: str) -> tuple[AlertSource, ...]:
        """The apps that posted alerts here, by id and tool."""
        ...

    async def find_source(self, channel: str, fingerprint: str) -> str | None:
        """The app that posted this alert here; of several the one that was first."""
        ...


class PeopleDirectory(Protocol):
    """Who people and apps are. Raises ChatUnavailable, ChatRejected, ChatAuthRejected where Slack does not say."""

    async def read_person(self, user_id: str) -> Person:
        """What Slack says of a person, some minutes old at most; the stewards' group is asked about."""
        ...

    async def list_groups(self) -> tuple[Group, ...]:
        """The workspace's user groups by name; empty where the app may not ask."""
        ...

    async def read_app_names(self, sources: Sequence[str]) -> Mapping[str, str]:
        """Names of apps by id, those that Slack tells."""
        ...
