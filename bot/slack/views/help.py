"""How to use the bot: its commands, the usage of `/recall`, and its first words in a channel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.ports.chat import ChatMessage
from bot.slack import ids
from bot.slack.payload import encode
from bot.slack.views.forms import button
from bot.slack.views.markup import actions, context, escape, prose, section

INTRODUCTION = "*Precedent* answers alerts with what fixed them last time."
SHORTCUTS = (
    "In a thread use the message menu: *Record resolution* or *Recall similar*. Is a message the fix? React to it with "
    ":memo:, and I ask you whether to record it. Name me under a brief and ask: what now, what to skip, who fixed it last time, "
    "write the status update."
)
RECALL_USAGE = (
    "Say what is happening: `/recall payment 504 vendor:razorpay since:30d`. "
    "Filters: vendor: service: region: since: (30d, 12h or a date) limit: (1–10). "
    "`/recall vendor:razorpay` alone tells what is known of a vendor."
)
HELLO = (
    "I answer alerts here in their thread: what fixed them last time, what wasted time, and which incidents say so. "
    "When you have fixed one, press *Record…* and the next alert knows. Messages that are no alerts I do not keep."
)


@dataclass(frozen=True, slots=True)
class HelpLine:
    """One command as the help shows it."""

    # With its arguments: "/digest [7d|30d]".
    usage: str
    summary: str


def render_help(commands: Sequence[HelpLine], unknown: str | None = None) -> ChatMessage:
    """Return what can be asked of the bot; first what was not understood."""
    lines = [f"I do not know “{prose(unknown, 40)}”."] if unknown else []
    return ChatMessage("How to use Precedent", (section("\n".join([*lines, *format_help(commands)])),))


def format_help(commands: Sequence[HelpLine]) -> list[str]:
    """Return the commands and what they do, a line (mrkdwn) each."""
    return [INTRODUCTION, *(f"• `{escape(line.usage)}` {line.summary}" for line in commands), SHORTCUTS]


def render_recall_usage() -> ChatMessage:
    """Return how `/recall` is asked."""
    return ChatMessage(RECALL_USAGE, (section(RECALL_USAGE),))


def render_hello(channel: str | None = None) -> ChatMessage:
    """Return the first words in a channel: what will happen, and what will not. The button names the channel, because the
    message may be shown in another one."""
    value = encode({"c": channel}) if channel else None
    ask = actions(ids.HELLO_ACTIONS, [button(ids.PREVIEW, "Preview on the last 50 alerts", value)])
    blocks = (section(HELLO), ask, context("Only you see the preview. `/precedent help` shows the commands."))
    return ChatMessage("Precedent answers alerts in this channel.", blocks)
