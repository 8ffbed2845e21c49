"""What `precedent setup` looks at: tokens, database, model, memory bank, the channel and its events; and the test alert.

Must not ask a person anything, nor keep anything but what the store makes of itself when it is opened first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.adapters.store import migrate
from bot.bootstrap.bot import client_of, with_slash
from bot.bootstrap.doctor import NEEDED_SCOPES, database, database_file, hindsight
from bot.bootstrap.doctor_model import language_model as model
from bot.bootstrap.finding import Finding
from bot.bootstrap.memory import open_memory
from bot.bootstrap.system import RandomIds, SystemClock
from bot.domain.setup_answers import Named, app_of
from bot.domain.setup_walk import Proof, Silence, heard
from bot.ports import ChatAuthRejected, ChatRejected, ChatUnavailable
from bot.ports.chat import Channel, Message, Posting
from bot.settings import Settings
from bot.slack.first_events import app_id, channel_by_id, channel_with, hearing, open_connection
from bot.slack.outbound import SlackChat
from bot.slack.setup_message import TRIAL, trial_answer, trial_post
from bot.workflows.brief import PreviewBrief

__all__ = [
    "app_token", "bot_token", "find_channel", "hindsight", "lacks_tables", "listen", "make_tables", "model", "post_trial",
    "store",
]  # fmt: skip
LONGEST_WAIT_S = 60.0
UPDATE = (
    "On the app's page open App Manifest, put in what `precedent setup --manifest` prints, save; then Install App,"
    " Reinstall to Workspace. The token stays the same."
)
# What Slack answers about a token, and what to do about it.
REFUSALS = {
    "invalid_auth": "Slack does not know it: copy it once more, from the app that you just created.",
    "not_authed": "Slack does not know it: copy it once more, from the app that you just created.",
    "token_revoked": "It was revoked, as when the app is uninstalled: install the app again, then copy the new one.",
    "token_expired": "It has expired: install the app again, then copy the new one.",
    "account_inactive": "The app was removed from the workspace: install it again, then copy the new one.",
    "not_allowed_token_type": "It is a token of another kind.",
}


def _chat(config: Settings) -> SlackChat:
    return SlackChat(client_of(config), SystemClock())


async def bot_token(config: Settings) -> Finding:
    """Slack takes the bot token, and the app has the scopes that the bot needs. Raises ChatUnavailable."""
    check, chat = "Bot token", _chat(config)
    try:
        who, scopes = await chat.identity(), await chat.scopes()
    except ChatRejected as refused:
        return Finding(check, False, _said(refused), REFUSALS.get(refused.code, "Copy it once more."))
    missing = [scope for scope in NEEDED_SCOPES if scopes and scope not in scopes]
    if missing:
        told = f"the workspace {who.team} takes it, but the app lacks the scopes {', '.join(missing)}"
        return Finding(check, False, told, UPDATE)
    return Finding(check, True, f"the workspace {who.team} takes it; the app has the scopes that it needs")


def _said(refused: ChatRejected) -> str:
    return f"Slack refuses it ({refused.code or refused})"


async def app_token(config: Settings) -> Finding:
    """Slack opens Socket Mode with the app-level token, and it is of the same app as the bot token. Raises
    ChatUnavailable."""
    check, token = "App-level token", config.slack_app_token
    value = token.get_secret_value() if token else ""
    try:
        await _patiently(value, config)
    except ChatAuthRejected as refused:
        if refused.code == "missing_scope":
            fix = "Generate another one there with Add Scope, connections:write: scopes of a token cannot be changed."
            return Finding(check, False, "it lacks the scope connections:write", fix)
        return Finding(check, False, _said(refused), REFUSALS.get(refused.code, "Copy it once more."))
    except ChatRejected as refused:
        fix = "On the app's page see that Socket Mode is on (Settings, Socket Mode), then enter the token again."
        return Finding(check, False, _said(refused), fix)
    theirs, ours = app_of(value), await _app_of_bot(config)
    if theirs and ours and theirs != ours:
        told = f"it belongs to the app {theirs}, but the bot token to {ours}"
        return Finding(check, False, told, "Take both from the page of one app.")
    return Finding(check, True, "Slack opens Socket Mode with it")


async def _patiently(token: str, config: Settings) -> None:
    """Slack lets few connections be opened in a minute: asked to wait, wait once."""
    url, clock = with_slash(config.slack_api_url), SystemClock()
    try:
        await open_connection(token, url, clock)
    except ChatUnavailable as busy:
        if busy.retry_after_s is None:
            raise
        await asyncio.sleep(min(busy.retry_after_s, LONGEST_WAIT_S))
        await open_connection(token, url, clock)


async def _app_of_bot(config: Settings) -> str | None:
    if config.slack_bot_token is None:
        return None
    chat = _chat(config)
    return await app_id(chat, (await chat.identity()).bot_id)


async def store(config: Settings) -> Finding:
    """The database opens and takes a write, and nobody else can read its file."""
    findings = (*await database(config), *database_file(config))
    wrong = next((finding for finding in findings if finding.ok is False), None)
    return wrong or findings[0]


def lacks_tables(finding: Finding) -> bool:
    """Whether what is wrong with a database is that it is new, or older than this version."""
    return finding.ok is False and "precedent migrate" in finding.detail


async def make_tables(config: Settings) -> None:
    """Give it the tables of this version. Raises StoreUnavailable."""
    await migrate(config.store_url)


async def find_channel(config: Settings, named: Named) -> Channel | None:
    """The channel as Slack shows it to the bot; None where it shows none. Raises ChatUnavailable, ChatRejected."""
    chat = _chat(config)
    return await channel_by_id(chat, named.id) if named.id else await channel_with(chat, named.name)


@dataclass(frozen=True, slots=True)
class Listened:
    """What came of listening: the channel, if it is known; whether a message of it arrived; else why it may not have."""

    channel: Channel | None
    arrived: bool
    silence: Silence


async def listen(config: Settings, named: Named, wait_s: float, tell: Callable[[str], None]) -> Listened:
    """Connect as the bot does, say what to do, and wait until a message of the channel arrives, `wait_s` at most. `tell` is
    given what a person should know meanwhile. Raises ChatUnavailable, ChatRejected."""
    chat, clock = _chat(config), SystemClock()
    bot_user = (await chat.identity()).user_id
    token = config.slack_app_token.get_secret_value() if config.slack_app_token else ""
    ear = _Ear(chat, bot_user, named, tell, await find_channel(config, named))
    async with hearing(token, with_slash(config.slack_api_url), clock) as open_:
        tell(_to_do(ear.channel, named, wait_s))
        try:
            async with asyncio.timeout(wait_s):
                while not await ear.takes(await open_.events.get()):
                    pass
        except TimeoutError:
            return await _silent(config, ear.channel, named, open_.connections)
    return Listened(ear.channel, arrived=True, silence=Silence(is_member=True))


def _to_do(channel: Channel | None, named: Named, wait_s: float) -> str:
    within = f"I listen for {wait_s:g} s…"
    if channel and channel.is_joined:
        return f"The bot is in #{channel.name} already. Write any message there now.\n{within}"
    name = channel.name if channel else named.name
    unseen = "" if channel else f"The bot sees no #{name} yet: it is private, or has another name. "
    return f"{unseen}In Slack, type in #{name}:\n  /invite @Precedent\n{within}"


@dataclass(slots=True)
class _Ear:
    """What is heard of one channel. Slack sends again what nobody acknowledges: each invitation is told once."""

    chat: SlackChat
    bot_user: str
    named: Named
    tell: Callable[[str], None]
    channel: Channel | None
    told: set[str] = field(default_factory=set)

    async def takes(self, event: Mapping[str, Any]) -> bool:
        """Whether this is a message of the channel. Of an invitation a person is told."""
        proof = heard(event, self.bot_user, self.channel.id if self.channel else None)
        if proof is None or proof.proof is Proof.MESSAGE:
            return proof is not None
        if proof.channel not in self.told and (found := await channel_by_id(self.chat, proof.channel)):
            self.told.add(proof.channel)
            self._invited(found)
        return False

    def _invited(self, found: Channel) -> None:
        wanted = self.channel.id if self.channel else self.named.id
        if found.id == wanted or (wanted is None and found.name == self.named.name):
            self.channel = found
            self.tell(
                f"Slack told the bot that it is in #{found.name} now. A message of the channel is still to come, for alerts"
                " are messages: if ✓ does not follow by itself, write one there."
            )
        else:
            self.tell(f"The bot was invited to #{found.name}. I still listen for #{self.named.name}.")


async def _silent(config: Settings, channel: Channel | None, named: Named, connections: int) -> Listened:
    """Whether the bot is in the channel, asked anew."""
    now = await find_channel(config, Named(channel.name, channel.id) if channel else named)
    return Listened(now, arrived=False, silence=Silence(now.is_joined if now else None, connections))


async def post_trial(config: Settings, channel: Channel) -> str | None:
    """Post the test alert and, in its thread, the brief that it gets from the memory as it is; a link to it. No incident
    is opened. Raises ChatRejected, ChatUnavailable, StoreUnavailable."""
    clock, ids, chat = SystemClock(), RandomIds(), _chat(config)
    async with open_memory(config, clock, ids) as memory:
        brief = await PreviewBrief(memory.recall, memory.index)(TRIAL, channel.viewer, clock.now())
    root = await chat.deliver(_posting(trial_post(), channel, ids.new(), None))
    await chat.deliver(_posting(trial_answer(brief), channel, ids.new(), root))
    return await chat.permalink(channel.id, root) if root else None


def _posting(message: Message, channel: Channel, delivery: str, thread_ts: str | None) -> Posting:
    return Posting("post", channel.id, f"setup/{delivery}", message.text, message.blocks, thread_ts=thread_ts)
