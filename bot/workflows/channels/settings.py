"""Admit alerts by the rules of their channel; show and change these rules.

`bot.domain.alerts.suppression` decides about an alert. Must not render.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from bot.domain.access.roles import Act, Permission, Stewards, check_permission
from bot.domain.alerts.alert import Alert
from bot.domain.alerts.channel_settings import ChannelSettings
from bot.domain.alerts.suppression import SuppressionDecision, decide_suppression
from bot.domain.reports.schedule import DigestTime, choose_digest_time, find_zone
from bot.ports.audit import AuditLine, format_change
from bot.ports.channels import AlertSource, ChannelStore, Group, PeopleDirectory
from bot.ports.chat import Channel, Chat, find_channel, read_source
from bot.ports.delivery.inbox import InboxRow
from bot.ports.errors import NotAllowedHere, RecordRejected
from bot.ports.unit_of_work import Changes

MEMBER_OF_BOTH = "You can pool only channels that you are a member of; {} is none."


@dataclass(frozen=True, slots=True)
class AdmitAlert:
    """Decide whether an alert is answered in the channel in which it was posted, and count what silences it."""

    channels: ChannelStore
    # The operator's digest time; its zone applies to channels that set none.
    default: DigestTime

    async def __call__(self, row: InboxRow, channel: Channel, alert: Alert, at: datetime) -> SuppressionDecision:
        """Apply the channel's policy to an alert that was posted at `at`. Raises StoreUnavailable."""
        source = read_source(row.body["event"])
        policy = await self.channels.read_policy(channel.id, at)
        zone = choose_digest_time(policy.settings, self.default).zone
        admission = decide_suppression(alert, source, policy, at, zone)
        if source:
            await self.channels.note_source(channel.id, alert.fingerprint, AlertSource(source, alert.tool))
        if admission.silenced_by:
            await self.channels.count_silenced(admission.silenced_by, row.id)
        return admission


@dataclass(frozen=True, slots=True)
class ChannelView:
    """A channel's settings as one person sees them."""

    channel: Channel
    settings: ChannelSettings
    pool: tuple[str, ...]
    # The apps that posted alerts here: (id, name for people).
    sources: tuple[tuple[str, str], ...]
    groups: tuple[Group, ...]
    digest: DigestTime
    # Whether this person may change the settings.
    may: Permission


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowChannel:
    """Show a channel's settings to one person."""

    channels: ChannelStore
    people: PeopleDirectory
    chat: Chat
    stewards: Stewards
    default: DigestTime

    async def __call__(self, channel_id: str, user_id: str) -> ChannelView:
        """Return the view. Raises StoreUnavailable, ChatUnavailable, ChatRejected (the bot is not there)."""
        settings = await self.channels.read_settings(channel_id)
        channel, person, sources, groups = await asyncio.gather(
            self.chat.read_channel(channel_id),
            self.people.read_person(user_id),
            self._list_sources(channel_id, settings),
            self.people.list_groups(),
        )
        return ChannelView(
            channel,
            settings,
            await self.channels.list_pool(channel_id) if channel.is_private else (),
            sources,
            groups,
            choose_digest_time(settings, self.default),
            check_permission(person, Act.SETTINGS, self.stewards),
        )

    async def find_zone(self, channel_id: str) -> tzinfo:
        """Return the channel's time zone. Raises StoreUnavailable."""
        return choose_digest_time(await self.channels.read_settings(channel_id), self.default).zone

    async def _list_sources(self, channel_id: str, settings: ChannelSettings) -> tuple[tuple[str, str], ...]:
        """Return the channel's sources, including those in the settings that have posted no alert yet."""
        tools: dict[str, list[str]] = {source: [] for source in settings.sources}
        for seen in await self.channels.list_sources(channel_id):
            tools.setdefault(seen.source, []).append(seen.tool)
        names = await self.people.read_app_names(sorted(tools))
        return tuple((source, _format_source(names.get(source), tools[source], source)) for source in sorted(tools))


def _format_source(name: str | None, tools: Sequence[str], source: str) -> str:
    read_as = ", ".join(tools[:3])
    if name and read_as and name.casefold() != read_as.casefold():
        return f"{name} ({read_as})"
    return name or f"{read_as} ({source})".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeChannel:
    """Change a channel's settings, with a line in the audit log."""

    channels: ChannelStore
    people: PeopleDirectory
    chat: Chat
    stewards: Stewards
    default: DigestTime

    async def __call__(
        self, channel_id: str, user_id: str, settings: ChannelSettings, pool: tuple[str, ...] | None = None
    ) -> ChannelSettings:
        """Replace the settings, and the pool unless it is None; return the settings as stored.

        A value that equals the operator's default is stored as None, so it follows that default from now on. Raises
        NotAllowedHere (naming who may), RecordRejected with the field, StoreUnavailable.
        """
        person = await self.people.read_person(user_id)
        channel, before = await self.chat.read_channel(channel_id), await self.channels.read_settings(channel_id)
        for act in (Act.SETTINGS, Act.SHARE) if settings.shared != before.shared else (Act.SETTINGS,):
            permission = check_permission(person, act, self.stewards)
            if not permission.allowed:
                raise NotAllowedHere(permission.refusal)
        if settings.zone and find_zone(settings.zone) is None:
            raise RecordRejected("zone", "No such time zone: write a name such as Europe/Berlin or Asia/Kolkata.")
        if settings.shared and not channel.is_shared:
            raise RecordRejected("shared", "This channel is not shared with another organisation.")
        old_pool = await self.channels.list_pool(channel_id)
        new_pool = old_pool if pool is None else tuple(sorted(set(pool) - {channel_id}))
        await self._check_pool(channel, user_id, [other for other in new_pool if other not in old_pool])
        stored = self._drop_defaults(settings)
        detail = format_change(_list_values(before, old_pool), _list_values(stored, new_pool))
        changes = Changes(audit=(AuditLine(user_id, "channel settings", channel_id, detail),))
        await self.channels.save_settings(channel_id, stored, new_pool, changes)
        return stored

    def _drop_defaults(self, settings: ChannelSettings) -> ChannelSettings:
        default = self.default
        return replace(
            settings,
            zone=None if settings.zone == str(default.zone) else settings.zone,
            digest_day=None if settings.digest_day == default.day else settings.digest_day,
            digest_hour=None if settings.digest_hour == default.hour else settings.digest_hour,
        )

    async def _check_pool(self, channel: Channel, user_id: str, added: Sequence[str]) -> None:
        if not added:
            return
        if not channel.is_private or channel.is_shared:
            raise RecordRejected("pool", "Pools are for private channels of your organisation: others read along here.")
        if not await self.chat.is_member(channel.id, user_id):
            raise RecordRejected("pool", MEMBER_OF_BOTH.format("this channel"))
        for other_id in added:
            other = await find_channel(self.chat, other_id)
            if other is None:
                raise RecordRejected("pool", "I am not in one of these channels. Invite me there first.")
            if not other.is_private or other.is_shared:
                raise RecordRejected("pool", "Only private channels of your organisation can be pooled.")
            if not await self.chat.is_member(other_id, user_id):
                raise RecordRejected("pool", MEMBER_OF_BOTH.format("one of these"))


def _list_values(settings: ChannelSettings, pool: Sequence[str]) -> dict[str, Any]:
    """Return the settings as the audit log stores them; None is the operator's default."""
    return {name: _simplify(value) for name, value in (asdict(settings) | {"pool": tuple(pool)}).items()}


def _simplify(value: Any) -> Any:
    if isinstance(value, frozenset | tuple | list):
        return sorted(str(v) for v in value)
    return value if value is None or isinstance(value, bool | int) else str(value)


def build_default_time(day: str, hour: int, zone: str) -> DigestTime:
    """Build the operator's digest time."""
    return DigestTime(day, hour, ZoneInfo(zone))
