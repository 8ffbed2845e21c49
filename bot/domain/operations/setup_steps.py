"""Decide the steps of `precedent setup`: which is next, what an answer means, what an event proves, and why none
arrived."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class SlackConnection(StrEnum):
    """How Slack reaches the bot."""

    SOCKET = "Socket Mode"
    HTTP = "HTTP"


class SetupStep(StrEnum):
    """A step of setup; the value is its heading."""

    WAY = "How Slack reaches the bot"
    APP = "The Slack app"
    BOT_TOKEN = "Bot token"  # noqa: S105  # a heading
    APP_TOKEN = "App-level token"  # noqa: S105  # a heading
    SIGNING_SECRET = "Signing secret"  # noqa: S105  # a heading
    DATABASE = "Where incidents are kept"
    MODEL = "A language model (optional)"
    HINDSIGHT = "A Hindsight server (optional)"
    CHANNEL = "The channel of alerts"
    TEST = "A test alert"


ONLY = {SetupStep.APP_TOKEN: SlackConnection.SOCKET, SetupStep.SIGNING_SECRET: SlackConnection.HTTP}
YES = frozenset({"y", "yes"})
NO = frozenset({"n", "no"})
WAYS = {
    "1": SlackConnection.SOCKET,
    "socket": SlackConnection.SOCKET,
    "socket mode": SlackConnection.SOCKET,
    "2": SlackConnection.HTTP,
    "http": SlackConnection.HTTP,
}


def list_steps(way: SlackConnection | None) -> tuple[SetupStep, ...]:
    """Return the steps for a connection, in order; Socket Mode's while none is chosen."""
    taken = way or SlackConnection.SOCKET
    return tuple(step for step in SetupStep if ONLY.get(step, taken) is taken)


def find_next_step(way: SlackConnection | None, done: frozenset[SetupStep]) -> SetupStep | None:
    """Return the first step that is not done; None at the end."""
    return next((step for step in list_steps(way) if step not in done), None)


def infer_connection(*, has_app_token: bool, has_signing_secret: bool) -> SlackConnection | None:
    """Return the connection that the settings imply: an app-level token outranks a signing secret."""
    if has_app_token:
        return SlackConnection.SOCKET
    return SlackConnection.HTTP if has_signing_secret else None


def read_connection(answer: str) -> SlackConnection | None:
    """Return the connection that an answer names, Socket Mode for an empty one; None for neither."""
    return WAYS.get(answer.strip().lower() or "1")


def read_yes(answer: str, *, default: bool) -> bool | None:
    """Read yes or no; None for anything else."""
    said = answer.strip().lower()
    if not said:
        return default
    return True if said in YES else False if said in NO else None


class Proof(StrEnum):
    """What an event proves."""

    INVITED = "Slack tells the bot that it was invited"
    MESSAGE = "messages of the channel reach the bot"


@dataclass(frozen=True, slots=True)
class ProvenEvent:
    """An event that proves something, and the id of its channel."""

    proof: Proof
    channel: str


def read_proof(event: Mapping[str, Any], bot_user: str, channel: str | None) -> ProvenEvent | None:
    """Return what an event proves: an invitation of the bot, or that messages of this channel arrive."""
    kind, where = event.get("type"), str(event.get("channel") or "")
    if kind == "member_joined_channel" and event.get("user") == bot_user:
        return ProvenEvent(Proof.INVITED, where)
    return ProvenEvent(Proof.MESSAGE, where) if kind == "message" and where == channel else None


@dataclass(frozen=True, slots=True)
class SilenceFacts:
    """What is known when no message arrived."""

    is_member: bool | None  # None if Slack shows no such channel
    connections: int = 1  # of the app, this one included


def explain_silence(silence: SilenceFacts, channel: str, seconds: float) -> tuple[str, ...]:
    """Return why no message arrived and what to do about each cause, likeliest first."""
    if silence.is_member is None:
        first = (
            f"The bot sees no channel #{channel}. If the name is right, it is a private one that the bot is not in: type"
            f" /invite @Precedent in it."
        )
    elif not silence.is_member:
        first = f"The bot is not in #{channel}: type /invite @Precedent there."
    else:
        first = (
            f"The bot is in #{channel}, but no message of it came within {seconds:g} s. If somebody wrote there, the app is"
            " not subscribed to events. On its page: Event Subscriptions, switch Enable Events on; under Subscribe to bot"
            " events add message.channels and message.groups, Save Changes, then reinstall the app. Socket Mode must be on,"
            " too."
        )
    if silence.connections <= 1:
        return (first,)
    other = (
        f"The app has {silence.connections} connections open: another one, such as a running `precedent serve`, may have got"
        " the message, for Slack gives each to one of them. Stop it, or use an app of its own for this; then write another"
        " message."
    )
    return (other,) if silence.is_member else (other, first)
