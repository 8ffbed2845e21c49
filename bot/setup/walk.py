"""`precedent setup`, step by step: from a laptop and a workspace to a bot that answered a test in the channel.

Each step asks, checks the answer at once and stores it. Between questions nothing runs, so that Ctrl-C always works. Must
not print a secret.
"""

from __future__ import annotations

import asyncio
import webbrowser
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from pydantic import SecretStr

from bot.bootstrap.modes.playground import read_manifest
from bot.doctor.finding import Finding
from bot.domain.operations import setup_answers as answers
from bot.domain.operations.setup_answers import APP, BOT, EVENTS_PATH, SIGNING, AnswerRejected
from bot.domain.operations.setup_steps import (
    SetupStep,
    SlackConnection,
    find_next_step,
    infer_connection,
    list_steps,
    read_connection,
)
from bot.settings import Settings
from bot.setup import checks as look
from bot.setup import wording as words
from bot.setup.channel import ChannelSteps
from bot.setup.env_file import EnvFile
from bot.setup.prompts import ask_until, ask_usable, ask_yes_no, print_finding, say, say_exactly
from bot.slack.client.manifest import adapt_to_http, build_creation_link

Check = Callable[[Settings], Coroutine[Any, Any, Finding]]
SETTINGS_ASKED = (BOT, APP, SIGNING, "PUBLIC_URL", "DATABASE_URL", "GROQ_API_KEY", "HINDSIGHT_URL", "HINDSIGHT_API_KEY")


@dataclass(slots=True, kw_only=True)
class SetupWalk:
    """One run of `precedent setup`."""

    # Reads the settings as they are now, with changes by field name; ends the process where one is not usable.
    read_settings: Callable[..., Settings]
    env: EnvFile
    channel: ChannelSteps
    address: str | None
    # Open links in this machine's browser, too.
    browser: bool
    way: SlackConnection | None = None
    # what was answered in this run
    accepted: dict[str, str] = field(default_factory=dict)
    # whether to keep what is already set; None until asked
    reuse: bool | None = None
    done: set[SetupStep] = field(default_factory=set)

    def walk(self) -> None:
        """Take all steps that are left, then say what comes next."""
        self.env.check()
        say(words.HELLO.format(file=self.env.path))
        acts: dict[SetupStep, Callable[[], None]] = {
            SetupStep.WAY: self._choose_way,
            SetupStep.APP: self._create_app,
            SetupStep.BOT_TOKEN: lambda: self._enter_secret(BOT, look.check_bot_token),
            SetupStep.APP_TOKEN: lambda: self._enter_secret(APP, look.check_app_token),
            SetupStep.SIGNING_SECRET: lambda: self._enter_secret(SIGNING, None),
            SetupStep.DATABASE: self._choose_database,
            SetupStep.MODEL: self._enter_model_key,
            SetupStep.HINDSIGHT: self._enter_hindsight,
            SetupStep.CHANNEL: lambda: self.channel.choose(self._build_settings(), self.way, self.address),
            SetupStep.TEST: lambda: self.channel.post_test(self._build_settings()),
        }
        while step := find_next_step(self.way, frozenset(self.done)):
            order = list_steps(self.way)
            say(f"\n{order.index(step) + 1}/{len(order)}  {step}")
            acts[step]()
            self.done.add(step)
        say(f"\n{words.NEXT}")

    def summarize(self) -> str:
        """Return what a person who stops should know."""
        if not self.accepted:
            return "Nothing was changed. `precedent setup` begins again."
        return f"Kept in {self.env.path}: {', '.join(self.accepted)}. `precedent setup` goes on from there."

    def _build_settings(self, **more: str) -> Settings:
        return self.read_settings(**{name.lower(): value for name, value in (self.accepted | more).items()})

    def _keep(self, name: str, value: str | None) -> None:
        """Write a setting into the file, and warn if the environment overrides it."""
        if word := self.env.put(name, value):
            say(word)
        if value is not None:
            self.accepted[name] = value
        if _read_plain(self.read_settings(), name) != value:
            say("✗ " + words.OVERRIDDEN.format(name=name, file=self.env.path))

    def _read_present(self, name: str) -> str | None:
        """Return what is set already, unless it is the example's placeholder."""
        value = _read_plain(self.read_settings(), name)
        return value if value and "..." not in value else None

    def _ask_reuse(self) -> bool:
        if self.reuse is None:
            say(f"Set already: {', '.join(name for name in SETTINGS_ASKED if self._read_present(name))}.")
            self.reuse = ask_yes_no("Keep of it what works? [Y/n]", "keeping what is set", default=True)
        return self.reuse

    def _choose_way(self) -> None:
        has = infer_connection(
            has_app_token=bool(self._read_present(APP)), has_signing_secret=bool(self._read_present(SIGNING))
        )
        if self.address:
            self.way = SlackConnection.HTTP
        elif has and self._ask_reuse():
            self.way = has
        else:
            say(words.WAYS)
            self.way = ask_until("1 or 2? [1]", "how Slack reaches the bot", read_connection, "Please answer 1 or 2.")
        if self.way is SlackConnection.HTTP and _read_plain(self.read_settings(), APP):
            say(f"{APP} is set: with it the bot would use Socket Mode all the same.")
            if ask_yes_no(f"Take it out of {self.env.path}? [Y/n]", APP, default=True):
                self._keep(APP, None)
            if _read_plain(self.read_settings(), APP):
                self.way, self.address = SlackConnection.SOCKET, None
        say(words.CONNECTED[self.way])

    def _create_app(self) -> None:
        if self.way is SlackConnection.HTTP:
            self._enter_public_address()
        if self._read_present(BOT) and self._ask_reuse():
            say("✓ It was created already: its bot token is set.")
            return
        page = build_creation_link(adapt_to_http(read_manifest(), self.address) if self.address else read_manifest())
        say(words.CREATE)
        say_exactly(f"\n{page}\n")
        if self.browser:
            webbrowser.open(page)
        say(words.NO_LINK.format(more=f" --url {self.address}" if self.address else ""))

    def _enter_public_address(self) -> None:
        name = "PUBLIC_URL"
        present = self._read_present(name)
        if self.address is None and present and self._ask_reuse():
            self.address = answers.parse_address(present)
        elif self.address is None:
            self.address = ask_usable("Which public address is yours? (https://…)", name, answers.parse_address)
        if present != self.address + EVENTS_PATH:
            self._keep(name, self.address + EVENTS_PATH)

    def _enter_secret(self, name: str, check: Check | None) -> None:
        """Take one of the app's tokens: the one that is set if it is good, or else what a person pastes, until one is
        accepted."""
        present = self._read_present(name)
        if present and self._ask_reuse() and self._is_accepted(name, present, check):
            return
        say(words.WHERE_TO_LOOK[name])
        good = False
        while not good:
            given = ask_usable(
                words.PASTE[name], name, lambda answer: answers.check_slack_secret(name, answer), hidden=True
            )
            good = self._is_accepted(name, given, check)
        self._keep(name, given)

    def _is_accepted(self, name: str, given: str, check: Check | None) -> bool:
        try:
            value = answers.check_slack_secret(name, given)
        except AnswerRejected as wrong:
            say(f"✗ {name} as it is set: {wrong}")
            return False
        if check is None:
            say(f"✓ {name} is taken. {words.SIGNING_KEPT}")
            return True
        return print_finding(asyncio.run(check(self._build_settings(**{name: value}))))

    def _is_settled(self, name: str, check: Check) -> bool:
        """Return whether this is set already, is to be kept, and works."""
        return (
            bool(self._read_present(name))
            and self._ask_reuse()
            and print_finding(asyncio.run(check(self._build_settings())))
        )

    def _choose_database(self) -> None:
        name = "DATABASE_URL"
        if self._is_settled(name, look.check_store):
            return
        say(words.DATABASE.format(file=_find_default_file(self.read_settings)))
        given = ""
        while True:
            given = ask_usable(
                "Database? [this file]", name, lambda answer: answer.strip() and answers.parse_database(answer)
            )
            if self._is_usable(
                self._build_settings(**{name: given or f"sqlite+aiosqlite:///{_find_default_file(self.read_settings)}"})
            ):
                break
        if given or self._read_present(name):
            self._keep(name, given or None)

    def _is_usable(self, config: Settings) -> bool:
        """Return whether the database can be used; offer to create our tables in a new one."""
        finding = asyncio.run(look.check_store(config))
        if print_finding(finding):
            return True
        if not look.is_without_tables(finding) or not ask_yes_no("Make them now? [Y/n]", "DATABASE_URL", default=True):
            return False
        asyncio.run(look.make_tables(config))
        return print_finding(asyncio.run(look.check_store(config)))

    def _enter_model_key(self) -> None:
        name = "GROQ_API_KEY"
        if self._is_settled(name, look.check_model):
            return
        say(words.MODEL)
        while given := ask_usable(
            "Groq key? (it is not shown)", name, lambda a: answers.check_storable(name, a), hidden=True
        ):
            if print_finding(asyncio.run(look.check_model(self._build_settings(**{name: given})))):
                self._keep(name, given)
                return

    def _enter_hindsight(self) -> None:
        name, key = "HINDSIGHT_URL", "HINDSIGHT_API_KEY"
        if self._is_settled(name, look.check_hindsight):
            return
        say(words.HINDSIGHT)
        while given := ask_usable(
            "Its address?", name, lambda answer: answer.strip() and answers.parse_hindsight(answer)
        ):
            asked = "Its key, if it has one (it is not shown):"
            secret = ask_usable(asked, key, lambda answer: answers.check_storable(key, answer), hidden=True)
            more = {name: given} | ({key: secret} if secret else {})
            if print_finding(asyncio.run(look.check_hindsight(self._build_settings(**more)))):
                for each, value in more.items():
                    self._keep(each, value)
                return


def _find_default_file(read_settings: Callable[..., Settings]) -> str:
    """Return where incidents are stored by default."""
    return read_settings(database_url=None).store_url.partition("///")[2]


def _read_plain(config: Settings, name: str) -> str | None:
    """Return a setting as plain text."""
    value = getattr(config, name.lower())
    return value.get_secret_value() if isinstance(value, SecretStr) else value and str(value)
