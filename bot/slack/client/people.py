"""Who people and apps are, according to Slack: the port `PeopleDirectory`. Cached for some minutes, because a role is
asked at every act."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from bot.domain.access.roles import Person
from bot.ports.channels import Group
from bot.ports.clock import Clock
from bot.ports.errors import ChatRejected, ChatUnavailable
from bot.slack.client.chat import SlackChat
from bot.slack.payload import read_text

CACHE_TTL = timedelta(minutes=5)
MOST_GROUPS = 90
MOST_APPS = 20


@dataclass(slots=True)
class SlackPeople:
    """`bot.ports.channels.PeopleDirectory` on Slack's Web API."""

    chat: SlackChat
    clock: Clock
    # The bot's own team; users of other teams are outsiders.
    team_id: str = ""
    # The user groups that the operator named, None for none.
    steward_group: str | None = None
    verifier_group: str | None = None
    _cached: dict[tuple[str, str], tuple[Any, datetime]] = field(default_factory=dict)

    async def read_person(self, user_id: str) -> Person:
        """See the port."""
        user = await self._fetch_cached("user", user_id, lambda: self.chat.client.users_info(user=user_id), "user")
        person = Person(
            user_id,
            is_admin=bool(user.get("is_admin")),
            is_owner=bool(user.get("is_owner") or user.get("is_primary_owner")),
            is_outsider=is_outsider(user, self.team_id),
            is_guest=bool(user.get("is_restricted") or user.get("is_ultra_restricted")),
            is_bot=bool(user.get("is_bot")),
            is_gone=bool(user.get("deleted")),
            zone=read_text(user, "tz") if isinstance(user, Mapping) else None,
        )
        if person.is_outsider:
            return person
        is_above = person.is_admin or person.is_owner
        asked = {self.verifier_group, None if is_above else self.steward_group}
        groups = [group for group in sorted(filter(None, asked)) if user_id in await self._list_members(group)]
        return replace(person, groups=frozenset(groups))

    async def list_groups(self) -> tuple[Group, ...]:
        """See the port."""
        found = await self._fetch_optional("groups", "", self.chat.client.usergroups_list, "usergroups")
        rows = [g for g in found or () if isinstance(g, Mapping) and g.get("id") and not g.get("date_delete")]
        by_name = sorted((Group(str(g["id"]), str(g.get("name") or g["id"])) for g in rows), key=lambda g: g.name)
        return tuple(by_name[:MOST_GROUPS])

    async def read_app_names(self, sources: Sequence[str]) -> Mapping[str, str]:
        """See the port."""
        bots = [source for source in sources if source.startswith("B")][:MOST_APPS]
        found = await asyncio.gather(*(self._fetch_bot_name(bot) for bot in bots))
        return {bot: name for bot, name in zip(bots, found, strict=True) if name}

    async def _fetch_bot_name(self, bot_id: str) -> str:
        found = await self._fetch_optional("bot", bot_id, lambda: self.chat.client.bots_info(bot=bot_id), "bot")
        return str(found.get("name") or "") if isinstance(found, Mapping) else ""

    async def _list_members(self, group_id: str) -> Sequence[str]:
        """Return the user group's members; nobody where there is no such group, or the app may not ask."""
        client = self.chat.client
        try:
            members = await self._fetch_cached(
                "members", group_id, lambda: client.usergroups_users_list(usergroup=group_id), "users"
            )
        except ChatRejected:
            return ()
        return members if isinstance(members, list) else ()

    async def _fetch_optional(self, kind: str, name: str, call: Callable[[], Awaitable[Any]], key: str) -> Any:
        """Return something nice to have; None where Slack does not give it."""
        try:
            return await self._fetch_cached(kind, name, call, key)
        except (ChatRejected, ChatUnavailable):
            return None

    async def _fetch_cached(self, kind: str, name: str, call: Callable[[], Awaitable[Any]], key: str) -> Any:
        now = self.clock.now()
        self._cached = {key: entry for key, entry in self._cached.items() if now - entry[1] < CACHE_TTL}
        if (kind, name) not in self._cached:
            answer = await self.chat.ask(kind, call)
            self._cached[kind, name] = (answer.get(key) or {}, now)
        return self._cached[kind, name][0]


def is_outsider(user: Mapping[str, Any], team_id: str) -> bool:
    """Tell whether a user of `users.info` belongs to another organization; in an enterprise all its teams are ours."""
    enterprise = user.get("enterprise_user")
    teams = enterprise.get("teams") if isinstance(enterprise, Mapping) else None
    if isinstance(teams, list) and team_id in teams:
        return False
    theirs = str(user.get("team_id") or team_id)
    return bool(user.get("is_stranger")) or bool(team_id and theirs != team_id)
