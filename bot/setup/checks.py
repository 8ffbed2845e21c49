"""Check the answers that `precedent setup` receives: tokens, database, model, memory bank, the channel and its events;
and post the test alert.

Nothing is asked here, and nothing is stored but what the store creates when it is first opened.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from bot.adapters.store import migrate
from bot.bootstrap.system import RandomIds, SystemClock
from bot.bootstrap.wiring.memory import open_memory
from bot.bootstrap.wiring.slack import add_final_slash, build_slack_client
from bot.doctor import bank as doctor_bank
from bot.doctor import slack
from bot.doctor import store as doctor_store
from bot.doctor.finding import Finding
from bot.doctor.model import check_language_model
from bot.domain.delivery.ids import build_setup_id
from bot.domain.delivery.kinds import Operation
from bot.domain.operations.setup_answers import NamedChannel
from bot.domain.operations.setup_steps import Proof, SilenceFacts, read_proof
from bot.ports.brief_preview import BriefPreview
from bot.ports.chat import Channel, ChatMessage, Posting
from bot.ports.errors import ChatRejected, ChatUnavailable
from bot.settings import Settings
from bot.slack.client.app_info import fetch_app_identity, find_channel_by_id
from bot.slack.client.chat import SlackChat
from bot.slack.client.first_events import find_channel_by_name, watch_first_events
from bot.slack.views.alert import TRIAL, render_trial_answer, render_trial_post
from bot.workflows.recall.preview_brief import PreviewBrief

RATE_LIMIT_WAIT_S = 30.0
# The doctor speaks of a bot that runs already.
NOT_YET = re.compile(rf"[,;] (?:then )?{re.escape(slack.RESTART)}")


def _build_chat(config: Settings) -> SlackChat:
    return SlackChat(build_slack_client(config), SystemClock())


async def check_bot_token(config: Settings) -> Finding:
    """Check that Slack accepts the bot token and that the app has the scopes that the bot needs. Raises
    ChatUnavailable."""
    try:
        own = await fetch_app_identity(_build_chat(config))
    except ChatRejected as refused:
        says, fix = slack.BOT_TOKEN_REFUSALS.get(refused.code, (f"Slack refuses it ({refused.code})", slack.REINSTALL))
        return _without_later_steps(Finding("Bot token", False, says, fix))
    for finding in slack.check_scopes(own):
        if finding.ok is False:
            return _without_later_steps(replace(finding, fix=f"{finding.fix} Then enter the bot token once more."))
    return Finding("Bot token", True, f"the workspace {own.team} takes it, and the app has the scopes that it needs")


async def check_app_token(config: Settings, *, wait_s: float = RATE_LIMIT_WAIT_S) -> Finding:
    """Check that Slack opens Socket Mode with the app-level token, and that it belongs to the same app as the bot
    token.

    Slack limits how many connections may be opened in a minute: if asked to wait, wait and try once more. Raises
    ChatUnavailable, ChatRejected.
    """
    chat = _build_chat(config)
    own = await fetch_app_identity(chat)
    (finding,) = await slack.check_app_token(config, chat, own)
    if finding.ok is None:
        await asyncio.sleep(wait_s)
        (finding,) = await slack.check_app_token(config, chat, own)
    if finding.ok is None:
        raise ChatUnavailable(f"{finding.check} {finding.detail}")
    if (
        finding == slack.SOCKET_MODE_OFF
    ):  # the token is good, and whether events come is seen when they are listened for
        finding = replace(finding, ok=None)
    return _without_later_steps(finding)


def _without_later_steps(finding: Finding) -> Finding:
    return replace(finding, fix=NOT_YET.sub("", finding.fix))


async def check_store(config: Settings) -> Finding:
    """Check that the database is ours, opens, and accepts a write; a missing file is created. Raises StoreUnavailable."""
    clock = SystemClock()
    findings, _ = await doctor_store.check_database(config, clock)
    if wrong := next((finding for finding in findings if finding.ok is False), None):
        return _without_later_steps(wrong)
    async with open_memory(config, clock, RandomIds()) as memory:
        status = await memory.health.read_status()
    return Finding("Database", True, f"takes a write, and holds {status.records} incidents")


async def check_hindsight(config: Settings) -> Finding:
    """Check that the Hindsight server answers and accepts the key."""
    return _without_later_steps(await doctor_bank.check_hindsight(config, SystemClock()))


async def check_model(config: Settings) -> Finding:
    """Check that the models' server answers, accepts the key, and offers the models."""
    return _without_later_steps(await check_language_model(config))


def is_without_tables(finding: Finding) -> bool:
    """Return whether the only thing wrong with a database is that it is new."""
    return finding.ok is False and "no tables of Precedent" in finding.detail


async def make_tables(config: Settings) -> None:
    """Create the tables of this version. Raises StoreUnavailable."""
    await migrate(config.store_url)


async def find_channel(config: Settings, named: NamedChannel) -> Channel | None:
    """Return the channel as Slack shows it to the bot, or None. Raises ChatUnavailable, ChatRejected."""
    chat = _build_chat(config)
    return await find_channel_by_id(chat, named.id) if named.id else await find_channel_by_name(chat, named.name)


@dataclass(frozen=True, slots=True)
class ListeningResult:
    """The result of listening for a message."""

    # None if it is unknown
    channel: Channel | None
    arrived: bool
    # why no message may have arrived
    silence: SilenceFacts


async def listen(config: Settings, named: NamedChannel, wait_s: float, tell: Callable[[str], None]) -> ListeningResult:
    """Connect as the bot does, say what to do, and wait until a message of the channel arrives, for `wait_s` at most.

    `tell` receives what a person should know in the meantime. Raises ChatUnavailable, ChatRejected.
    """
    chat, clock = _build_chat(config), SystemClock()
    bot_user = (await chat.fetch_identity()).user_id
    token = config.slack_app_token.get_secret_value() if config.slack_app_token else ""
    ear = _ChannelWatch(chat, bot_user, named, tell, await find_channel(config, named))
    async with watch_first_events(token, add_final_slash(config.slack_api_url), clock) as open_:
        tell(_format_instructions(ear.channel, named, wait_s))
        try:
            async with asyncio.timeout(wait_s):
                while not await ear.is_proof(await open_.events.get()):
                    pass
        except TimeoutError:
            return await _explain_silence(config, ear.channel, named, open_.connections)
    return ListeningResult(ear.channel, arrived=True, silence=SilenceFacts(is_member=True))


def _format_instructions(channel: Channel | None, named: NamedChannel, wait_s: float) -> str:
    within = f"I listen for {wait_s:g} s…"
    if channel and channel.is_joined:
        return f"The bot is in #{channel.name} already. Write any message there now.\n{within}"
    name = channel.name if channel else named.name
    unseen = "" if channel else f"The bot sees no #{name} yet: it is private, or has another name. "
    return f"{unseen}In Slack, type in #{name}:\n  /invite @Precedent\n{within}"


@dataclass(slots=True)
class _ChannelWatch:
    """What arrives from one channel."""

    chat: SlackChat
    bot_user: str
    named: NamedChannel
    tell: Callable[[str], None]
    channel: Channel | None
    # channels whose invitation was reported: Slack sends again what is not acknowledged
    told: set[str] = field(default_factory=set)

    async def is_proof(self, event: Mapping[str, Any]) -> bool:
        """Return whether this is a message of the channel. Report an invitation to the person."""
        proof = read_proof(event, self.bot_user, self.channel.id if self.channel else None)
        if proof is None or proof.proof is Proof.MESSAGE:
            return proof is not None
        if proof.channel not in self.told and (found := await find_channel_by_id(self.chat, proof.channel)):
            self.told.add(proof.channel)
            self._report_invitation(found)
        return False

    def _report_invitation(self, found: Channel) -> None:
        wanted = self.channel.id if self.channel else self.named.id
        if found.id == wanted or (wanted is None and found.name == self.named.name):
            self.channel = found
            self.tell(
                f"Slack told the bot that it is in #{found.name} now. A message of the channel is still to come, for alerts"
                " are messages: if ✓ does not follow by itself, write one there."
            )
        else:
            self.tell(f"The bot was invited to #{found.name}. I still listen for #{self.named.name}.")


async def _explain_silence(
    config: Settings, channel: Channel | None, named: NamedChannel, connections: int
) -> ListeningResult:
    """Look the channel up again, to explain why no message arrived."""
    now = await find_channel(config, NamedChannel(channel.name, channel.id) if channel else named)
    return ListeningResult(now, arrived=False, silence=SilenceFacts(now.is_joined if now else None, connections))


async def post_test_alert(
    config: Settings, channel: Channel, *, build_preview: Callable[..., BriefPreview] = PreviewBrief
) -> str | None:
    """Post the test alert and, in its thread, the brief that memory gives it; return a link to it.

    No incident is opened. Raises ChatRejected, ChatUnavailable, StoreUnavailable.
    """
    clock, ids, chat = SystemClock(), RandomIds(), _build_chat(config)
    async with open_memory(config, clock, ids) as memory:
        brief = await build_preview(memory.recall, memory.index)(TRIAL, channel.viewer, clock.now())
    root = await chat.deliver(_build_posting(render_trial_post(), channel, ids.new(), None))
    await chat.deliver(_build_posting(render_trial_answer(brief), channel, ids.new(), root))
    return await chat.get_permalink(channel.id, root) if root else None


def _build_posting(message: ChatMessage, channel: Channel, delivery: str, thread_ts: str | None) -> Posting:
    return Posting(
        Operation.POST, channel.id, build_setup_id(delivery), message.text, message.blocks, thread_ts=thread_ts
    )
