"""Settings, pools, rules and mutes of channels, the apps that post alerts there, and who people are.

Whatever a person changes is written with its audit line in one transaction.
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
    """An app that posted alerts in a channel."""

    source: str  # the app's id
    tool: str  # the tool as which its posts were read


@dataclass(frozen=True, slots=True)
class Group:
    """A user group of the workspace."""

    group_id: str
    name: str


class ChannelStore(Protocol):
    """Settings, rules and mutes of channels. Raises StoreUnavailable; then nothing was changed."""

    async def read_settings(self, channel: str) -> ChannelSettings:
        """Return the channel's settings, the defaults where nobody touched them."""
        ...

    async def save_settings(
        self, channel: str, settings: ChannelSettings, pool: Sequence[str], changes: Changes
    ) -> None:
        """Replace the settings and the channels pooled with it (in both directions), with `changes`, in one
        transaction."""
        ...

    async def list_pool(self, channel: str) -> tuple[str, ...]:
        """Return ids of the channels whose private incidents may be recalled here, and the other way round."""
        ...

    async def read_policy(self, channel: str, at: datetime) -> ChannelPolicy:
        """Return settings as they are now, with the rules and mutes in force at `at`, oldest first, and how many posts
        each has silenced. A post from before an undoing stays silenced, whenever it is worked on."""
        ...

    async def add_rule(self, rule: SilenceRule, changes: Changes) -> int:
        """Store a rule with `changes` in one transaction and return its number, or 0 (and write nothing) if
        `changes.once` was done. A rule that is in force already (same channel, source, tool, title, reach) stays, and
        its number is returned."""
        ...

    async def add_mute(self, mute: Mute, changes: Changes) -> int:
        """Store a mute with `changes` in one transaction and return its number, or 0 (and write nothing) if
        `changes.once` was done. It replaces a mute of the same thing."""
        ...

    async def undo_silence(self, silence: SilenceRule | Mute, by: str, changes: Changes) -> bool:
        """End a rule or a mute, with `changes` in one transaction; False (and nothing written) if it was ended before."""
        ...

    async def count_silenced(self, silence: SilenceRule | Mute, event: int) -> None:
        """Count a post that it silenced; `event` is the number of the inbox row, so that a retry counts once."""
        ...

    async def note_source(self, channel: str, fingerprint: str, source: AlertSource) -> None:
        """Remember that this app posts this alert here; known ones cost no write."""
        ...

    async def list_sources(self, channel: str) -> tuple[AlertSource, ...]:
        """Return the apps that posted alerts here, by id and tool."""
        ...

    async def find_source(self, channel: str, fingerprint: str) -> str | None:
        """Return the app that posted this alert here, the first of several."""
        ...


class PeopleDirectory(Protocol):
    """Who people and apps are. Raises ChatUnavailable, ChatRejected, ChatAuthRejected where Slack does not answer."""

    async def read_person(self, user_id: str) -> Person:
        """Return a person as Slack knows them, some minutes old at most; membership in the stewards' group is looked
        up."""
        ...

    async def list_groups(self) -> tuple[Group, ...]:
        """Return the workspace's user groups by name, empty where the app may not ask."""
        ...

    async def read_app_names(self, sources: Sequence[str]) -> Mapping[str, str]:
        """Return names of apps by id, those that Slack gives."""
        ...
