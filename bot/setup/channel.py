"""The steps of `precedent setup` about the channel of alerts: invite the bot, see an event arrive, post a test."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from bot.domain.operations import setup_answers as answers
from bot.domain.operations.setup_answers import AnswerRejected, NamedChannel
from bot.domain.operations.setup_steps import SilenceFacts, SlackConnection, explain_silence
from bot.ports.chat import Channel
from bot.ports.errors import PrecedentError
from bot.settings import Settings
from bot.setup import checks as look
from bot.setup import wording as words
from bot.setup.prompts import ask, ask_until, ask_usable, ask_yes_no, say, say_exactly


@dataclass(slots=True, kw_only=True)
class ChannelSteps:
    """The channel of alerts, found and tried."""

    # The channel that was given as an option, or answered last.
    named: NamedChannel | None
    wait_s: float
    channel: Channel | None = None

    def choose(self, config: Settings, way: SlackConnection | None, address: str | None) -> None:
        """Have the bot invited, and check that what is written in the channel arrives."""
        while True:
            named = self.named or ask_usable(
                words.CHANNEL, "the channel", lambda a: answers.parse_channel(a or "#alerts")
            )
            if self._reach_channel(config, named, way, address):
                return
            choice = ask_until(
                "Try again (Enter), another channel (c, or its name), or skip this (s)?",
                "trying again",
                _parse_retry,
                "Please answer c, s, or the name of a channel.",
            )
            if choice == "s":
                say("Skipped: `precedent setup` does this part again.")
                return
            self.named = choice if isinstance(choice, NamedChannel) else None if choice == "c" else named

    def _reach_channel(
        self, config: Settings, named: NamedChannel, way: SlackConnection | None, address: str | None
    ) -> bool:
        try:
            return (
                self._confirm_invitation(config, named, address)
                if way is SlackConnection.HTTP
                else self._listen(config, named)
            )
        except PrecedentError as problem:
            say(f"✗ {problem}")
            return False

    def _listen(self, config: Settings, named: NamedChannel) -> bool:
        found = asyncio.run(look.listen(config, named, self.wait_s, say))
        self.channel = found.channel if found.channel and (found.arrived or found.channel.is_joined) else None
        if found.arrived and found.channel:
            say(f"✓ A message of #{found.channel.name} arrived: the bot is in, and events reach it.")
            return True
        _print_reasons(found.silence, found.channel.name if found.channel else named.name, self.wait_s)
        return False

    def _confirm_invitation(self, config: Settings, named: NamedChannel, address: str | None) -> bool:
        ask(words.HTTP_INVITE.format(name=named.name), "the invitation")
        found = asyncio.run(look.find_channel(config, named))
        if found is None or not found.is_joined:
            _print_reasons(SilenceFacts(found.is_joined if found else None), named.name, self.wait_s)
            return False
        self.channel = found
        say(f"✓ The bot is in #{found.name}.")
        say(words.HTTP_NEXT.format(address=address))
        return True

    def post_test(self, config: Settings) -> None:
        """Offer to post the test alert, and post it."""
        if self.channel is None:
            say("Left out, for there is no channel yet.")
            return
        name = self.channel.name
        if self.channel.is_silent:
            say(words.SHARED.format(name=name))
            return
        say(words.TEST.format(name=name))
        if not ask_yes_no(f"Post it in #{name}? [Y/n]", "the test alert", default=True):
            return
        try:
            where = asyncio.run(look.post_test_alert(config, self.channel))
        except PrecedentError as problem:
            say(f"✗ {problem}")
            return
        say("✓ Posted, and answered in its thread.")
        say_exactly(where or "")
        say(words.SEE.format(name=name))


def _print_reasons(silence: SilenceFacts, name: str, wait_s: float) -> None:
    first, *others = explain_silence(silence, name, wait_s)
    say(f"✗ {first}")
    for other in others:
        say(f"  → {other}")


def _parse_retry(answer: str) -> str | NamedChannel | None:
    said = answer.strip().casefold()
    if said in {"", "c", "s", "skip", "channel"}:
        return said[:1]
    try:
        return answers.parse_channel(answer) if len(said) > 1 else None
    except AnswerRejected:
        return None
