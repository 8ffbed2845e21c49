"""The state that all parts of the local Slack share, and the events that each change causes. Opens no socket."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from bot.playground.delivery import events
from bot.playground.delivery.courier import Courier
from bot.playground.delivery.knobs import Knobs, Traffic
from bot.playground.workspace import messages
from bot.playground.workspace.files import StoredFile
from bot.playground.workspace.state import JSON, LocalApp, LocalChannel, SlackRefused, Workspace
from bot.playground.workspace.surfaces import SurfaceState

Found = TypeVar("Found")
_POLL_S = 0.05


@dataclass(slots=True)
class InstalledApp:
    """The app under test, as its manifest and tokens describe it. Empty `commands` or `events` allow any."""

    bot_token: str = "xoxb-playground-bot"  # noqa: S105  # invented, good for the local Slack only
    app_token: str = "xapp-1-A0PRECEDENT-1-playground"  # noqa: S105  # likewise; Slack's carry the app's id, too
    signing_secret: str = "5167e41bd28ebcb6aa5c3b51c1d3f0a9"  # noqa: S105  # likewise
    scopes: frozenset[str] = frozenset()
    app_scopes: frozenset[str] = frozenset({"connections:write"})
    commands: tuple[JSON, ...] = ()
    shortcuts: tuple[JSON, ...] = ()
    events: frozenset[str] = frozenset()

    def use_manifest(self, manifest: Mapping[str, Any]) -> None:
        """Take scopes, commands, shortcuts and subscriptions from a parsed app manifest."""
        features = manifest.get("features", {})
        self.scopes = frozenset(manifest.get("oauth_config", {}).get("scopes", {}).get("bot", ()))
        self.commands = tuple(features.get("slash_commands", ()))
        self.shortcuts = tuple(features.get("shortcuts", ()))
        subscribed = manifest.get("settings", {}).get("event_subscriptions", {})
        self.events = frozenset(subscribed.get("bot_events", ()))


@dataclass(slots=True)
class IncomingWebhook:
    """An incoming webhook: the app it posts as and the channel it posts to."""

    secret: str
    channel: str
    app: LocalApp


@dataclass(slots=True)
class LocalSlackCore:
    """A local Slack without its network side."""

    workspace: Workspace = field(default_factory=Workspace)
    knobs: Knobs = field(default_factory=Knobs)
    traffic: Traffic = field(default_factory=Traffic)
    installed: InstalledApp = field(default_factory=InstalledApp)
    now: Callable[[], float] = time.time
    surfaces: SurfaceState = field(init=False)
    courier: Courier = field(init=False)
    webhooks: dict[str, IncomingWebhook] = field(default_factory=dict)
    last_post_at: dict[str, float] = field(default_factory=dict)
    files: dict[str, StoredFile] = field(default_factory=dict)
    message_states: dict[tuple[str, str], JSON] = field(default_factory=dict)
    version: int = 0
    news: asyncio.Event = field(default_factory=asyncio.Event)
    url: str = ""

    def __post_init__(self) -> None:
        self.surfaces = SurfaceState(self.workspace)
        self.courier = Courier(self.knobs, self.traffic, self.clock, self.notify_waiters)

    def load(self, seeds: Mapping[str, Any]) -> None:
        """Add users, channels and webhooks from the content of `channels.json`."""
        self.workspace.load(seeds)
        for row in seeds.get("webhooks", ()):
            app = self.workspace.find_app(row["name"])
            self.webhooks[row["id"]] = IncomingWebhook(row["secret"], row["channel"], app)

    def clear(self) -> None:
        """Remove channels with their messages, views, files, faults and traffic. People and tools stay."""
        self.workspace.channels.clear()
        self.workspace.ephemerals.clear()
        self.workspace.last_micros = 0
        for kept in (self.surfaces.screens, self.surfaces.triggers, self.surfaces.response_urls, self.last_post_at):
            kept.clear()
        self.files.clear()
        self.message_states.clear()
        self.traffic.clear()
        self.knobs.heal()

    def clock(self) -> float:
        """Return the time in seconds since 1970."""
        return self.now()

    def notify_waiters(self) -> None:
        """Wake every waiter: something has changed."""
        self.version += 1
        news, self.news = self.news, asyncio.Event()
        news.set()

    async def wait_until(self, predicate: Callable[[], Found], timeout_s: float = 5.0) -> Found:
        """Wait until the predicate returns something truthy, and return that. Raises TimeoutError."""
        deadline = asyncio.get_running_loop().time() + timeout_s
        while not (found := predicate()):
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0:
                raise TimeoutError(f"not so after {timeout_s} s: {predicate}")
            await self.wait_for_change(min(left, _POLL_S))
        return found

    async def wait_for_change(self, timeout_s: float) -> None:
        """Wait for the next change, for `timeout_s` at most."""
        try:
            async with asyncio.timeout(timeout_s):
                await self.news.wait()
        except TimeoutError:
            return

    async def idle(self, timeout_s: float = 5.0) -> None:
        """Wait until every event was acknowledged or given up. Raises TimeoutError."""
        await self.wait_until(lambda: not self.courier.pending, timeout_s)

    def emit(self, event: JSON, channel: LocalChannel | None = None) -> None:
        """Deliver an event to the app if it is subscribed to it and a member of the channel."""
        self.notify_waiters()
        wanted = not self.installed.events or events.find_subscription(event) in self.installed.events
        if not wanted or (channel is not None and not self.workspace.has_bot(channel)):
            return
        shared = channel is not None and channel.is_ext_shared
        self.courier.post_event(events.build_envelope(self.workspace, event, self.now(), shared=shared))

    def add_message(
        self, channel: LocalChannel, fields: Mapping[str, Any], *, thread_ts: str | None = None, broadcast: bool = False
    ) -> JSON:
        """Store a message, and send the app its event and, if it is mentioned, the mention."""
        if channel.is_archived:
            raise SlackRefused("is_archived")
        stored = messages.add(
            self.workspace, channel, fields, self.now(), thread_ts=thread_ts or None, broadcast=broadcast
        )
        self.emit(events.build_posted(channel, stored), channel)
        own = stored.get("bot_id") == self.workspace.bot.bot_id
        if f"<@{self.workspace.bot_user}>" in stored.get("text", "") and not own and not channel.is_im:
            self.emit(events.build_mention(channel, stored), channel)
        return stored

    def edit_message(self, channel: LocalChannel, ts: str, changes: Mapping[str, Any], editor: str | None) -> JSON:
        """Change a message, send the app its event, and return the message. Raises SlackRefused message_not_found."""
        message = self.workspace.message(channel, ts)
        before = messages.edit(self.workspace, message, changes, editor=editor, now=self.now())
        self.emit(events.build_changed(channel, message, before, self.workspace.new_ts(self.now())), channel)
        return message

    def delete_message(self, channel: LocalChannel, ts: str) -> None:
        """Delete a message and send the app its event. Raises SlackRefused message_not_found."""
        self.workspace.message(channel, ts)
        before = messages.delete(channel, ts)
        self.emit(events.build_deleted(channel, before, self.workspace.new_ts(self.now())), channel)

    def change_reaction(self, channel: LocalChannel, ts: str, user_id: str, name: str, *, add: bool = True) -> None:
        """Add or remove a reaction and send the app its event. Raises SlackRefused already_reacted or no_reaction."""
        message = self.workspace.message(channel, ts)
        change = messages.react if add else messages.unreact
        change(message, user_id, name)
        kind = "reaction_added" if add else "reaction_removed"
        event_ts = self.workspace.new_ts(self.now())
        self.emit(events.build_reaction(kind, channel, message, user_id, name, event_ts), channel)

    def add_member(self, channel: LocalChannel, user_id: str, inviter: str | None = None) -> None:
        """Add a member to a channel and send the app its event; the app itself may be the new member."""
        if user_id in channel.members:
            raise SlackRefused("already_in_channel")
        channel.members.append(user_id)
        ts = self.workspace.new_ts(self.now())
        self.emit(events.build_joined(self.workspace, channel, user_id, inviter, ts), channel)

    def add_ephemeral(self, channel: LocalChannel, user_id: str, given: Mapping[str, Any]) -> JSON:
        """Show a message to one user only and return it. It appears in no history and causes no event."""
        fields = messages.build_app_message(self.workspace, self.workspace.bot, given)
        ts = self.workspace.new_ts(self.now())
        message = {**fields, "ts": ts, "channel": channel.id, "to": user_id, "is_ephemeral": True}
        if given.get("thread_ts"):
            message["thread_ts"] = given["thread_ts"]
        self.workspace.ephemerals.append(message)
        self.notify_waiters()
        return message

    def read_input_state(self, channel_id: str, ts: str) -> JSON:
        """Return the values of the inputs of a message, by block id and action id."""
        return self.message_states.setdefault((channel_id, ts), {})

    def permalink(self, channel: LocalChannel, message: Mapping[str, Any]) -> str:
        """Return the address of a message on the local page, in the form of Slack's."""
        link = f"{self.url}/archives/{channel.id}/p{message['ts'].replace('.', '')}"
        root = message.get("thread_ts")
        return f"{link}?thread_ts={root}&cid={channel.id}" if root and root != message["ts"] else link
