"""The workspace: users, channels, and messages. Pure: no I/O and no clock.

Messages are stored as the JSON that Slack returns. Times are seconds since 1970, given by the caller. Refusals raise
`SlackRefused` with the error code of Slack's Web API.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

JSON = dict[str, Any]


class SlackRefused(Exception):
    """Raised for a call that Slack answers with `{ok: false, error}`; `extra` is added to the response."""

    def __init__(self, error: str, **extra: Any) -> None:
        super().__init__(error)
        self.error = error
        self.extra = extra


@dataclass(slots=True)
class LocalUser:
    """A person, or the bot user of an app."""

    id: str
    name: str
    real_name: str
    is_bot: bool = False
    is_guest: bool = False
    is_admin: bool = False
    tz: str = "Etc/UTC"


@dataclass(slots=True)
class LocalChannel:
    """A conversation. Ephemeral messages are stored elsewhere: they appear in no history."""

    id: str
    name: str
    is_private: bool = False
    is_ext_shared: bool = False
    is_im: bool = False
    is_archived: bool = False
    topic: str = ""
    members: list[str] = field(default_factory=list)
    # by ts, oldest first
    messages: dict[str, JSON] = field(default_factory=dict)

    @property
    def type(self) -> str:
        """Return the `channel_type` of Slack's message events."""
        return "im" if self.is_im else "group" if self.is_private else "channel"


@dataclass(slots=True)
class LocalApp:
    """An app that can post: the bot under test, a monitoring tool, or an incoming webhook."""

    app_id: str
    bot_id: str
    user_id: str | None
    name: str


@dataclass(slots=True)
class UserGroup:
    """A user group and the ids of its members."""

    id: str
    name: str
    members: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Workspace:
    """One team. `bot` is the bot under test; every other app only authors messages."""

    team_id: str = "T0PLAYGROUND"
    domain: str = "playground"
    name: str = "Playground"
    bot: LocalApp = field(default_factory=lambda: LocalApp("A0PRECEDENT", "B0PRECEDENT", "U0PRECEDENT", "Precedent"))
    users: dict[str, LocalUser] = field(default_factory=dict)
    channels: dict[str, LocalChannel] = field(default_factory=dict)
    apps: dict[str, LocalApp] = field(default_factory=dict)
    groups: dict[str, UserGroup] = field(default_factory=dict)
    ephemerals: list[JSON] = field(default_factory=list)
    last_micros: int = 0
    serial: int = 0

    def __post_init__(self) -> None:
        self.apps[self.bot.bot_id] = self.bot
        self.users[self.bot_user] = LocalUser(self.bot_user, "precedent", self.bot.name, is_bot=True)

    @property
    def bot_user(self) -> str:
        """Return the user id of the bot under test."""
        return self.bot.user_id or ""

    def new_ts(self, now: float) -> str:
        """Return a message timestamp that is unique and never older than the previous one."""
        self.last_micros = max(int(now * 1_000_000), self.last_micros + 1)
        return f"{self.last_micros // 1_000_000}.{self.last_micros % 1_000_000:06d}"

    def new_id(self, prefix: str) -> str:
        """Return an id of Slack's form with the given first letters."""
        self.serial += 1
        return f"{prefix}0{self.serial:08X}"

    def user(self, name: str) -> LocalUser:
        """Return a user by id or name. Raises SlackRefused user_not_found."""
        wanted = name.removeprefix("@")
        for user in self.users.values():
            if wanted in (user.id, user.name):
                return user
        raise SlackRefused("user_not_found")

    def channel(self, name: str) -> LocalChannel:
        """Return a channel by id or #name. Raises SlackRefused channel_not_found."""
        wanted = name.removeprefix("#")
        for channel in self.channels.values():
            if wanted in (channel.id, channel.name):
                return channel
        raise SlackRefused("channel_not_found")

    def find_app(self, name: str) -> LocalApp:
        """Return the app with this name, created on first use so that each tool keeps its ids."""
        for app in self.apps.values():
            if app.name == name:
                return app
        app = LocalApp(self.new_id("A"), self.new_id("B"), self.new_id("U"), name)
        self.apps[app.bot_id] = app
        self.users[app.user_id or ""] = LocalUser(app.user_id or "", name.lower().replace(" ", "-"), name, is_bot=True)
        return app

    def open_direct(self, user_id: str) -> LocalChannel:
        """Return the direct message channel of a user and the bot, created on first use."""
        for channel in self.channels.values():
            if channel.is_im and user_id in channel.members:
                return channel
        channel = LocalChannel(self.new_id("D"), user_id, is_im=True, members=[user_id, self.bot_user])
        self.channels[channel.id] = channel
        return channel

    def message(self, channel: LocalChannel, ts: str) -> JSON:
        """Return a message of a channel. Raises SlackRefused message_not_found."""
        found = channel.messages.get(ts)
        if found is None:
            raise SlackRefused("message_not_found")
        return found

    def thread(self, channel: LocalChannel, root_ts: str) -> list[JSON]:
        """Return the root and its replies, oldest first. Raises SlackRefused thread_not_found."""
        if root_ts not in channel.messages:
            raise SlackRefused("thread_not_found")
        return [m for m in channel.messages.values() if m["ts"] == root_ts or m.get("thread_ts") == root_ts]

    def timeline(self, channel: LocalChannel) -> list[JSON]:
        """Return what the channel shows outside its threads, oldest first: roots and broadcast replies."""
        return [
            m
            for m in channel.messages.values()
            if m.get("thread_ts", m["ts"]) == m["ts"] or m.get("subtype") == "thread_broadcast"
        ]

    def has_bot(self, channel: LocalChannel) -> bool:
        """Return whether the bot under test is a member and so receives the channel's events."""
        return self.bot_user in channel.members

    def build_bot_profile(self, app: LocalApp) -> JSON:
        """Build the `bot_profile` that Slack attaches to an app's messages."""
        icon = "https://a.slack-edge.com/production-standard-emoji-assets/apps.png"
        return {
            "id": app.bot_id,
            "app_id": app.app_id,
            "name": app.name,
            "deleted": False,
            "updated": 1_700_000_000,
            "icons": {"image_36": icon, "image_48": icon, "image_72": icon},
            "team_id": self.team_id,
        }

    def load(self, seeds: Mapping[str, Any]) -> None:
        """Add users, user groups and channels from the content of `channels.json`. The bot joins if `bot` is true."""
        for row in seeds.get("users", ()):
            self.users[row["id"]] = LocalUser(**row)
        for row in seeds.get("usergroups", ()):
            members = [self.user(name).id for name in row.get("members", ())]
            self.groups[row["id"]] = UserGroup(row["id"], row["name"], members)
        for row in seeds.get("channels", ()):
            facts = dict(row)
            self.add_channel(facts.pop("id"), facts.pop("name"), **facts)

    def add_channel(
        self, channel_id: str, name: str, *, members: list[str] | None = None, bot: bool = True, **facts: Any
    ) -> LocalChannel:
        """Add a channel with members given by id or name; by default everybody but guests."""
        names = (
            members if members is not None else [u.id for u in self.users.values() if not u.is_bot and not u.is_guest]
        )
        channel = LocalChannel(channel_id, name, members=[self.user(n).id for n in names], **facts)
        if bot and self.bot_user not in channel.members:
            channel.members.append(self.bot_user)
        self.channels[channel.id] = channel
        return channel


def iterate_blocks(surface: Mapping[str, Any]) -> Iterator[JSON]:
    """Yield every block of a message or view, including those inside attachments."""
    yield from surface.get("blocks") or ()
    for attachment in surface.get("attachments") or ():
        yield from attachment.get("blocks") or ()
