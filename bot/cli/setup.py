"""`precedent setup`: from a laptop and a workspace to a bot that answered a test in the channel. Must not decide what an
answer is worth, and must not print a secret.

Each step asks, looks at the answer at once and keeps it; between questions nothing runs, so that Ctrl-C always works.
"""

from __future__ import annotations

import asyncio
import webbrowser
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
import yaml
from pydantic import SecretStr

from bot.bootstrap.modes.playground import read_manifest
from bot.bootstrap.modes.seeds import FILES
from bot.cli.run import DOWN, USAGE, fail, read_settings
from bot.doctor.finding import Finding
from bot.domain.operations import setup_answers as answers
from bot.domain.operations.setup_answers import APP, BOT, EVENTS_PATH, SIGNING, Named, NotUsable
from bot.domain.operations.setup_steps import Silence, Step, Way, next_step, read_way, read_yes, reasons, steps, way_of
from bot.observability import configure_logging
from bot.ports.chat import Channel
from bot.ports.errors import ConfigurationRejected, PrecedentError
from bot.settings import SETTINGS_FILE, Settings
from bot.setup import checks as look
from bot.setup import wording as words
from bot.setup.env_file import EnvFile
from bot.setup.prompts import InputEnded, ask, ask_until, say, say_exactly
from bot.slack.client.manifest import adapt_to_http, build_creation_link

T = TypeVar("T")
Check = Callable[[Settings], Coroutine[Any, Any, Finding]]
WAIT_S = 60.0
MARKS = {True: "✓", None: "–", False: "✗"}
SETTINGS_ASKED = (BOT, APP, SIGNING, "PUBLIC_URL", "DATABASE_URL", "GROQ_API_KEY", "HINDSIGHT_URL", "HINDSIGHT_API_KEY")
YES_OR_NO = "Please answer y or n."


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command("setup")(setup)


def setup(
    only_manifest: Annotated[
        bool, typer.Option("--manifest", help="Print the app's manifest alone, to paste it, and end")
    ] = False,
    url: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="HTTP instead of Socket Mode: your public https address")
    ] = None,
    channel: Annotated[str | None, typer.Option(help="The channel of alerts, instead of being asked for it")] = None,
    wait: Annotated[float, typer.Option(min=0.1, max=3600, help="Seconds to listen for the first events")] = WAIT_S,
    browser: Annotated[bool, typer.Option("--browser", help="Open the link in this machine's browser, too")] = False,
) -> None:
    """Set the bot up in a real workspace, step by step: the app, its tokens, the channel, a test. Run it again to go on.

    Answers are kept in .env of the working directory. They may also be piped, one a line.
    """
    try:
        address = answers.address_of(url) if url else None
        named = answers.channel_named(channel) if channel else None
    except NotUsable as wrong:
        fail(str(wrong), USAGE)
    if only_manifest:
        typer.echo(format_manifest(address), nl=False)
        return
    configure_logging("ERROR", as_json=False)
    walk = SetupWalk(EnvFile(Path(SETTINGS_FILE)), address, named, wait, browser)
    try:
        walk.walk()
    except InputEnded as ended:
        fail(f"the input ended before an answer was given for: {ended}. {walk.summarize()}", USAGE)
    except KeyboardInterrupt:
        say_exactly("")
        fail(f"stopped. {walk.summarize()}", 130)
    except ConfigurationRejected as wrong:
        fail(f"{wrong} {walk.summarize()}", USAGE)
    except PrecedentError as down:
        fail(f"{down} {walk.summarize()}", DOWN)


def format_manifest(address: str | None) -> str:
    """The manifest as a text to paste: manifest.yml itself, or what it says for HTTP."""
    if address is None:
        return (FILES / "manifest.yml").read_text(encoding="utf-8")
    return yaml.safe_dump(adapt_to_http(read_manifest(), address), sort_keys=False, allow_unicode=True, width=120)


@dataclass(slots=True)
class SetupWalk:
    """One run. `accepted` is what was answered in it; `reuse` whether what stood in the settings is kept (None: not asked
    yet)."""

    env: EnvFile
    address: str | None
    named: Named | None
    wait_s: float
    browser: bool
    way: Way | None = None
    accepted: dict[str, str] = field(default_factory=dict)
    reuse: bool | None = None
    channel: Channel | None = None
    done: set[Step] = field(default_factory=set)

    def walk(self) -> None:
        """All steps that are left, then what comes next."""
        self.env.check()
        say(words.HELLO.format(file=self.env.path))
        acts: dict[Step, Callable[[], None]] = {
            Step.WAY: self._choose_way,
            Step.APP: self._create_app,
            Step.BOT_TOKEN: lambda: self._enter_secret(BOT, look.check_bot_token),
            Step.APP_TOKEN: lambda: self._enter_secret(APP, look.check_app_token),
            Step.SIGNING_SECRET: lambda: self._enter_secret(SIGNING, None),
            Step.DATABASE: self._choose_database,
            Step.MODEL: self._enter_model_key,
            Step.HINDSIGHT: self._enter_hindsight,
            Step.CHANNEL: self._choose_channel,
            Step.TEST: self._post_test,
        }
        while step := next_step(self.way, frozenset(self.done)):
            order = steps(self.way)
            say(f"\n{order.index(step) + 1}/{len(order)}  {step}")
            acts[step]()
            self.done.add(step)
        say(f"\n{words.NEXT}")

    def summarize(self) -> str:
        """What a person who stops should know."""
        if not self.accepted:
            return "Nothing was changed. `precedent setup` begins again."
        return f"Kept in {self.env.path}: {', '.join(self.accepted)}. `precedent setup` goes on from there."

    def _build_settings(self, **more: str) -> Settings:
        return read_settings(**{name.lower(): value for name, value in (self.accepted | more).items()})

    def _keep(self, name: str, value: str | None) -> None:
        """Into the file; and a warning where the environment says otherwise."""
        if word := self.env.put(name, value):
            say(word)
        if value is not None:
            self.accepted[name] = value
        if _read_plain(read_settings(), name) != value:
            say("✗ " + words.OVERRIDDEN.format(name=name, file=self.env.path))

    def _read_present(self, name: str) -> str | None:
        """What the settings hold already, unless it is the example's or a person wants to answer anew."""
        value = _read_plain(read_settings(), name)
        return value if value and "..." not in value else None

    def _ask_reuse(self) -> bool:
        if self.reuse is None:
            say(f"Set already: {', '.join(name for name in SETTINGS_ASKED if self._read_present(name))}.")
            self.reuse = _ask_yes_no("Keep of it what works? [Y/n]", "keeping what is set", default=True)
        return self.reuse

    def _choose_way(self) -> None:
        has = way_of(has_app_token=bool(self._read_present(APP)), has_signing_secret=bool(self._read_present(SIGNING)))
        if self.address:
            self.way = Way.HTTP
        elif has and self._ask_reuse():
            self.way = has
        else:
            say(words.WAYS)
            self.way = ask_until("1 or 2? [1]", "how Slack reaches the bot", read_way, "Please answer 1 or 2.")
        if self.way is Way.HTTP and _read_plain(read_settings(), APP):
            say(f"{APP} is set: with it the bot would use Socket Mode all the same.")
            if _ask_yes_no(f"Take it out of {self.env.path}? [Y/n]", APP, default=True):
                self._keep(APP, None)
            if _read_plain(read_settings(), APP):
                self.way, self.address = Way.SOCKET, None
        say(words.CONNECTED[self.way])

    def _create_app(self) -> None:
        if self.way is Way.HTTP:
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
            self.address = answers.address_of(present)
        elif self.address is None:
            self.address = _read("Which public address is yours? (https://…)", name, answers.address_of)
        if present != self.address + EVENTS_PATH:
            self._keep(name, self.address + EVENTS_PATH)

    def _enter_secret(self, name: str, check: Check | None) -> None:
        """One of the app's tokens: what is set already if it is good, else what a person pastes, as often as it takes."""
        present = self._read_present(name)
        if present and self._ask_reuse() and self._is_accepted(name, present, check):
            return
        say(words.WHERE_TO_LOOK[name])
        good = False
        while not good:
            given = _read(words.PASTE[name], name, lambda answer: answers.slack_secret(name, answer), hidden=True)
            good = self._is_accepted(name, given, check)
        self._keep(name, given)

    def _is_accepted(self, name: str, given: str, check: Check | None) -> bool:
        try:
            value = answers.slack_secret(name, given)
        except NotUsable as wrong:
            say(f"✗ {name} as it is set: {wrong}")
            return False
        if check is None:
            say(f"✓ {name} is taken. {words.SIGNING_KEPT}")
            return True
        return _print_finding(asyncio.run(check(self._build_settings(**{name: value}))))

    def _is_settled(self, name: str, check: Check) -> bool:
        """Whether this is set already, is to be kept, and is good."""
        return (
            bool(self._read_present(name))
            and self._ask_reuse()
            and _print_finding(asyncio.run(check(self._build_settings())))
        )

    def _choose_database(self) -> None:
        name = "DATABASE_URL"
        if self._is_settled(name, look.check_store):
            return
        say(words.DATABASE.format(file=find_default_file()))
        given = ""
        while True:
            given = _read("Database? [this file]", name, lambda answer: answer.strip() and answers.database_of(answer))
            if self._is_usable(self._build_settings(**{name: given or f"sqlite+aiosqlite:///{find_default_file()}"})):
                break
        if given or self._read_present(name):
            self._keep(name, given or None)

    def _is_usable(self, config: Settings) -> bool:
        """Whether the database can be used; one without our tables can get them."""
        finding = asyncio.run(look.check_store(config))
        if _print_finding(finding):
            return True
        if not look.is_without_tables(finding) or not _ask_yes_no("Make them now? [Y/n]", "DATABASE_URL", default=True):
            return False
        asyncio.run(look.make_tables(config))
        return _print_finding(asyncio.run(look.check_store(config)))

    def _enter_model_key(self) -> None:
        name = "GROQ_API_KEY"
        if self._is_settled(name, look.check_model):
            return
        say(words.MODEL)
        while given := _read("Groq key? (it is not shown)", name, lambda a: answers.storable(name, a), hidden=True):
            if _print_finding(asyncio.run(look.check_model(self._build_settings(**{name: given})))):
                self._keep(name, given)
                return

    def _enter_hindsight(self) -> None:
        name, key = "HINDSIGHT_URL", "HINDSIGHT_API_KEY"
        if self._is_settled(name, look.check_hindsight):
            return
        say(words.HINDSIGHT)
        while given := _read("Its address?", name, lambda answer: answer.strip() and answers.hindsight_of(answer)):
            asked = "Its key, if it has one (it is not shown):"
            secret = _read(asked, key, lambda answer: answers.storable(key, answer), hidden=True)
            more = {name: given} | ({key: secret} if secret else {})
            if _print_finding(asyncio.run(look.check_hindsight(self._build_settings(**more)))):
                for each, value in more.items():
                    self._keep(each, value)
                return

    def _choose_channel(self) -> None:
        """Invite the bot, and see that what is written in the channel arrives."""
        while True:
            named = self.named or _read(words.CHANNEL, "the channel", lambda a: answers.channel_named(a or "#alerts"))
            if self._is_reached(named):
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
            self.named = choice if isinstance(choice, Named) else None if choice == "c" else named

    def _is_reached(self, named: Named) -> bool:
        try:
            return self._is_joined(named) if self.way is Way.HTTP else self._is_heard(named)
        except PrecedentError as problem:
            say(f"✗ {problem}")
            return False

    def _is_heard(self, named: Named) -> bool:
        found = asyncio.run(look.listen(self._build_settings(), named, self.wait_s, say))
        self.channel = found.channel if found.channel and (found.arrived or found.channel.is_joined) else None
        if found.arrived and found.channel:
            say(f"✓ A message of #{found.channel.name} arrived: the bot is in, and events reach it.")
            return True
        _print_reasons(found.silence, found.channel.name if found.channel else named.name, self.wait_s)
        return False

    def _is_joined(self, named: Named) -> bool:
        ask(words.HTTP_INVITE.format(name=named.name), "the invitation")
        found = asyncio.run(look.find_channel(self._build_settings(), named))
        if found is None or not found.is_joined:
            _print_reasons(Silence(found.is_joined if found else None), named.name, self.wait_s)
            return False
        self.channel = found
        say(f"✓ The bot is in #{found.name}.")
        say(words.HTTP_NEXT.format(address=self.address))
        return True

    def _post_test(self) -> None:
        if self.channel is None:
            say("Left out, for there is no channel yet.")
            return
        name = self.channel.name
        if self.channel.is_silent:
            say(words.SHARED.format(name=name))
            return
        say(words.TEST.format(name=name))
        if not _ask_yes_no(f"Post it in #{name}? [Y/n]", "the test alert", default=True):
            return
        try:
            where = asyncio.run(look.post_test_alert(self._build_settings(), self.channel))
        except PrecedentError as problem:
            say(f"✗ {problem}")
            return
        say("✓ Posted, and answered in its thread.")
        say_exactly(where or "")
        say(words.SEE.format(name=name))


def find_default_file() -> str:
    """Where incidents are kept if nothing is said."""
    return read_settings(database_url=None).store_url.partition("///")[2]


def _read_plain(config: Settings, name: str) -> str | None:
    """What the settings hold under this name, as it is."""
    value = getattr(config, name.lower())
    return value.get_secret_value() if isinstance(value, SecretStr) else value and str(value)


def _print_finding(finding: Finding) -> bool:
    """Say what was found; whether it may stay so."""
    say(f"{MARKS[finding.ok]} {finding.check}: {finding.detail}")
    if finding.ok is not True and finding.fix:
        say(f"  → {finding.fix}")
    return finding.ok is not False


def _print_reasons(silence: Silence, name: str, wait_s: float) -> None:
    first, *others = reasons(silence, name, wait_s)
    say(f"✗ {first}")
    for other in others:
        say(f"  → {other}")


def _read(prompt: str, name: str, read: Callable[[str], T], *, hidden: bool = False) -> T:
    """One answer that can be used; what is wrong with each other one is said."""
    while True:
        try:
            return read(ask(prompt, name, hidden=hidden))
        except NotUsable as wrong:
            say(f"✗ {wrong}")


def _ask_yes_no(prompt: str, name: str, *, default: bool) -> bool:
    return ask_until(prompt, name, lambda answer: read_yes(answer, default=default), YES_OR_NO)


def _parse_retry(answer: str) -> str | Named | None:
    said = answer.strip().casefold()
    if said in {"", "c", "s", "skip", "channel"}:
        return said[:1]
    try:
        return answers.channel_named(answer) if len(said) > 1 else None
    except NotUsable:
        return None
