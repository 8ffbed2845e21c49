"""`precedent setup` as a person goes through it: a process of its own, fed from a pipe or at a terminal, on the local Slack."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import pty
import signal
import sqlite3
import stat
import sys
import termios
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml
from dotenv import dotenv_values

from bot.bootstrap.modes.playground import read_manifest
from bot.playground.server import LocalSlack
from bot.slack.client.manifest import adapt_to_http
from tests.bootstrap.installation import bank, says, serving
from tests.cli.command import ROOT, Precedent, Ran

PATIENCE_S = 120.0


@pytest.fixture
async def slack() -> AsyncIterator[LocalSlack]:
    async with await LocalSlack.start(manifest=read_manifest(), ack_timeout_s=0.2, retry_delays_s=(0.05,)) as started:
        started.core.workspace.add_channel("C0PAGES", "pages", members=["alice"], bot=False)
        yield started


def environment(folder: Path, slack: LocalSlack) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if k in {"PATH", "LANG", "VIRTUAL_ENV"} or k.startswith("COV")}
    return kept | {
        "HOME": str(folder),
        "PYTHONPATH": str(ROOT),
        "SLACK_API_URL": slack.api_url,
        "EMBEDDINGS": "off",
        "COLUMNS": "500",
    }


@dataclass
class Talk:
    """The process, what it said so far, and how to answer it."""

    process: asyncio.subprocess.Process
    answers: int
    said: str = ""
    seen: int = 0
    news: asyncio.Event = field(default_factory=asyncio.Event)
    ended: bool = False

    async def until(self, words: str, answer: str | None = None) -> None:
        """Read until it says so, from where the last such wait ended; then answer."""
        async with asyncio.timeout(PATIENCE_S):
            while (at := self.said.find(words, self.seen)) < 0:
                assert not self.ended, f"it ended before {words!r}:\n{self.said}"
                await self._more()
        self.seen = at + len(words)
        if answer is not None:
            self.press(f"{answer}\n")

    def press(self, keys: str) -> None:
        os.write(self.answers, keys.encode())

    async def end(self) -> int:
        """Read to the end; the exit status."""
        async with asyncio.timeout(PATIENCE_S):
            while not self.ended:
                await self._more()
            return await self.process.wait()

    async def _more(self) -> None:
        self.news.clear()
        await self.news.wait()

    def hear(self, source: int) -> None:
        try:
            got = os.read(source, 65536)
        except OSError:  # a terminal whose other side was closed
            got = b""
        self.said += got.decode().replace("\r\n", "\n")
        self.ended = not got
        if self.ended:
            asyncio.get_running_loop().remove_reader(source)
        self.news.set()


@asynccontextmanager
async def talking(folder: Path, slack: LocalSlack, *options: str, terminal: bool = False) -> AsyncIterator[Talk]:
    """Fed from a pipe, or at a terminal, where Ctrl-C is a key and nothing that is pasted is shown."""
    ours, theirs = pty.openpty() if terminal else os.pipe()[::-1]
    output, says = (os.dup(ours), theirs) if terminal else os.pipe()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "setup", *options, cwd=folder, env=environment(folder, slack),
        stdin=theirs, stdout=says, stderr=says, start_new_session=True, preexec_fn=own_terminal if terminal else None,
    )  # fmt: skip
    for end in {theirs, says}:
        os.close(end)
    talk = Talk(process, ours)
    asyncio.get_running_loop().add_reader(output, talk.hear, output)
    try:
        yield talk
    finally:
        asyncio.get_running_loop().remove_reader(output)
        if process.returncode is None:
            process.kill()
            await process.wait()
        os.close(output)
        os.close(ours)


def own_terminal() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # ignored where the tests run in the background, and then inherited
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


async def at_once(
    folder: Path, slack: LocalSlack, monkeypatch: pytest.MonkeyPatch, stdin: str, *options: str, **settings: str
) -> Ran:
    """In this process, with all answers given beforehand."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(folder))
    more = {"SLACK_API_URL": slack.api_url, "COLUMNS": "500"} | settings
    return await asyncio.to_thread(lambda: Precedent(folder)("setup", *options, stdin=stdin, **more))


async def whole_walk(talk: Talk, slack: LocalSlack) -> None:
    await talk.until("1 or 2?", "")
    await talk.until("https://api.slack.com/apps?new_app=1&manifest_json=%7B")
    await talk.until("Paste the bot token", slack.app_token)
    await talk.until("✗ That is an app-level token. The bot token begins with xoxb-")
    await talk.until("Paste", "xoxb-of-another-app")
    await talk.until("✗ Bot token: Slack does not know this token")
    await slack.refuse_scope("users:read")
    await talk.until("Paste", slack.bot_token)
    await talk.until("✗ Scopes: missing: users:read (no names, no time zones, and no stewards)")
    await slack.heal()
    await talk.until("Paste", f'SLACK_BOT_TOKEN="{slack.bot_token}"')
    await talk.until("✓ Bot token: the workspace Playground takes it")
    await slack.fail("missing_scope", "apps.connections.open")
    await talk.until("Paste the app-level token", slack.app_token)
    await talk.until("the token lacks the scope connections:write")
    await talk.until("Paste", "xapp-1-A0SOMEOTHER-1-abc")
    await talk.until("is of the app A0SOMEOTHER, SLACK_BOT_TOKEN of the app A0PRECEDENT")
    await talk.until("Paste", slack.app_token)
    await talk.until("Database?", "mysql://x")
    await talk.until("✗ mysql cannot be used")
    await talk.until("Database?", "")
    await talk.until("✓ Database: takes a write")
    await talk.until("Groq key?", "")
    await talk.until("Its address?", "")
    await talk.until("(#alerts)", "two words")
    await talk.until("✗ That is no name of a channel")
    await talk.until("(#alerts)", "#pages")
    await talk.until("type in #pages:\n  /invite @Precedent")
    await slack.invite("#pages")
    await talk.until("Slack told the bot that it is in #pages now")
    await slack.post("#pages", "anybody here?", user="alice")
    await talk.until("✓ A message of #pages arrived")
    await talk.until("Post it in #pages?", "y")
    await talk.end()


async def test_the_whole_walk(tmp_path: Path, slack: LocalSlack) -> None:
    (tmp_path / ".env").write_text("# mine\nTIMEZONE=Europe/Berlin\nSLACK_BOT_TOKEN=xoxb-...\n\nNUDGE=off", "utf-8")
    (tmp_path / ".env").chmod(0o644)
    async with talking(tmp_path, slack, "--wait", "20") as talk:
        await whole_walk(talk, slack)
    assert talk.process.returncode == 0, talk.said
    assert talk.said.count("Slack told the bot") == 1
    assert "precedent serve" in talk.said
    assert slack.bot_token not in talk.said
    assert slack.app_token not in talk.said
    kept = (tmp_path / ".env").read_text("utf-8")
    assert kept == (
        f"# mine\nTIMEZONE=Europe/Berlin\nSLACK_BOT_TOKEN={slack.bot_token}\n\nNUDGE=off\n"
        f"SLACK_APP_TOKEN={slack.app_token}\n"
    )
    assert stat.S_IMODE((tmp_path / ".env").stat().st_mode) == 0o640
    assert talk.said.count("Everybody on this machine could read") == 1
    assert not list(tmp_path.glob(".env-*"))  # noqa: ASYNC240  # a folder of two files
    root, brief = slack.messages("#pages")[1:]
    assert "This is a test, not an alert" in str(root["blocks"])
    assert brief["thread_ts"] == root["ts"]
    assert "INSUFFICIENT_MEMORY" in str(brief["blocks"])
    database = sqlite3.connect(tmp_path / ".local/state/precedent/precedent.db")
    assert database.execute("select (select count(*) from records), (select count(*) from lives)").fetchone() == (
        0,
        0,
    )
    database.close()


async def test_what_was_accepted_stays_whatever_ends_the_walk(
    tmp_path: Path, slack: LocalSlack, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with talking(tmp_path, slack, terminal=True) as talk:
        await talk.until("1 or 2? [1]", "1")
        await talk.until("Paste the bot token (it is not shown):", slack.bot_token)
        await talk.until("Paste the app-level token")
        talk.press("\x03")
        assert await talk.end() == 130
    assert "stopped. Kept in .env: SLACK_BOT_TOKEN. `precedent setup` goes on from there." in talk.said
    assert slack.bot_token not in talk.said
    again = await at_once(tmp_path, slack, monkeypatch, "\n\nxapp-1-A0SHORT…\n")
    assert again.returncode == 2
    assert "✓ Bot token: the workspace Playground takes it" in again.stdout
    assert "Set already: SLACK_BOT_TOKEN, DATABASE_URL.\nKeep of it what works?" in again.stdout
    assert "was cut short on the page" in again.stdout
    assert "the input ended before an answer was given for: SLACK_APP_TOKEN. Nothing was changed." in again.stderr
    assert (tmp_path / ".env").read_text("utf-8") == f"SLACK_BOT_TOKEN={slack.bot_token}\n"


async def test_it_says_why_no_message_comes(tmp_path: Path, slack: LocalSlack, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = {"SLACK_BOT_TOKEN": slack.bot_token, "SLACK_APP_TOKEN": slack.app_token}
    listen = ("--wait", "0.3")

    async def ran(answers: str, *options: str) -> str:
        done = await at_once(tmp_path, slack, monkeypatch, "\n\n\n" + answers, *listen, *options, **tokens)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Left out, for there is no channel yet." in done.stdout or "Post it" in done.stdout
        return done.stdout

    outside = await ran("#pages\ns\n")
    assert "✗ The bot is not in #pages: type /invite @Precedent there." in outside
    assert "✗ The bot sees no channel #nosuch" in await ran("s\n", "--channel", "nosuch")
    await slack.invite("#pages")
    slack.core.installed.events = frozenset({"reaction_added"})
    deaf = await ran("\n\ns\nn\n", "--channel", "C0PAGES")
    assert "The bot is in #pages already. Write any message there now." in deaf
    assert deaf.count("the app is not subscribed to events. On its page: Event Subscriptions") == 3
    assert slack.messages("#pages") == []


async def test_http_from_the_address_to_the_test(
    tmp_path: Path, slack: LocalSlack, monkeypatch: pytest.MonkeyPatch
) -> None:
    await slack.invite("#pages")
    (tmp_path / ".env").write_text(f"SLACK_APP_TOKEN={slack.app_token}\n", "utf-8")
    tokens = f"y\n{slack.bot_token}\n{slack.app_token}\n{slack.signing_secret}\n"
    optional = "\ngsk_wrong\n\n127.0.0.1:9\n\n"
    answers = f"{tokens}{optional}#nosuch\n\nq\nc\n#pages\n\nmaybe\ny\n"
    away = {"GROQ_BASE_URL": "http://127.0.0.1:9"}
    done = await at_once(tmp_path, slack, monkeypatch, answers, "--url", "bot.example.com/slack/events", **away)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "https://bot.example.com/slack/events" in done.stdout
    assert "✗ That is an app-level token. The signing secret (32 digits" in done.stdout
    assert "✗ Language model: http://127.0.0.1:9" in done.stdout
    assert "✗ Give its address with http:// or https://" in done.stdout
    assert "✗ The bot sees no channel #nosuch" in done.stdout
    assert "the Request URL must say Verified" in done.stdout
    assert slack.signing_secret not in done.stdout + done.stderr
    assert (tmp_path / ".env").read_text("utf-8") == (
        "PUBLIC_URL=https://bot.example.com/slack/events\n"
        f"SLACK_BOT_TOKEN={slack.bot_token}\nSLACK_SIGNING_SECRET={slack.signing_secret}\n"
    )
    assert len(slack.messages("#pages")) == 2
    again = await at_once(tmp_path, slack, monkeypatch, "\n\n\n#pages\n\nn\n", **away)
    assert (again.returncode, "Start `precedent serve` where https://bot.example.com leads" in again.stdout) == (
        0,
        True,
    )


async def test_slack_out_of_reach_and_a_setting_elsewhere_are_said(
    tmp_path: Path, slack: LocalSlack, monkeypatch: pytest.MonkeyPatch
) -> None:
    down = await at_once(
        tmp_path, slack, monkeypatch, "1\nxoxb-playground-bot\n", SLACK_API_URL="http://127.0.0.1:9/api/"
    )
    assert (down.returncode, "Slack cannot be reached. Nothing was changed." in down.stderr) == (3, True)
    old = await at_once(tmp_path, slack, monkeypatch, f"1\ny\n{slack.bot_token}\n", SLACK_BOT_TOKEN="xoxb-old-old-old")
    assert old.returncode == 2
    assert "SLACK_BOT_TOKEN is also set in the environment" in old.stdout


def test_the_manifest_alone(tmp_path: Path) -> None:
    assert Precedent(tmp_path)("setup", "--manifest").stdout == (ROOT / "manifest.yml").read_text("utf-8")
    http = Precedent(tmp_path)("setup", "--manifest", "--url", "https://bot.example.com/")
    assert yaml.safe_load(http.stdout) == adapt_to_http(read_manifest(), "https://bot.example.com")
    refused = Precedent(tmp_path)("setup", "--url", "http://bot.example.com")
    assert (refused.returncode, "https addresses alone" in refused.stderr) == (2, True)


async def test_what_is_set_elsewhere_servers_and_a_shared_channel(
    tmp_path: Path, slack: LocalSlack, monkeypatch: pytest.MonkeyPatch
) -> None:
    await slack.add_channel("partners", is_ext_shared=True, members=["alice"], bot=True)
    (tmp_path / ".env").write_text("SLACK_BOT_TOKEN=xoxp-1-2-3\n", "utf-8")
    models = json.dumps({"object": "list", "data": [{"id": "openai/gpt-oss-20b", "object": "model"}]})
    async with serving(says(200, models, "application/json")) as groq, serving(bank([])) as hindsight:
        away = {
            "SLACK_APP_TOKEN": slack.app_token,
            "DATABASE_URL": f"sqlite+aiosqlite:///{tmp_path}",
            "GROQ_BASE_URL": groq,
        }
        answers = f"n\n2\ny\n{slack.bot_token}\n{slack.app_token}\nprecedent.db\ngsk_good\n{hindsight}\nkey\n"
        listening = "#partners\n\nc\n#partners\ns\n"
        await slack.fail("fatal_error", "conversations.list")
        done = await at_once(tmp_path, slack, monkeypatch, answers + listening, "--wait", "0.2", **away)
    said = done.stdout
    assert done.returncode == 0, said + done.stderr
    assert "SLACK_APP_TOKEN is also set in the environment" in said
    assert "Slack reaches the bot by Socket Mode." in said
    assert "✓ Language model: openai/gpt-oss-20b" in said
    assert "✓ Hindsight:" in said
    assert "✗ Slack failed at channels (fatal_error)" in said
    assert "Another organisation reads #partners" in said
    kept = dotenv_values(tmp_path / ".env")
    assert (kept["GROQ_API_KEY"], kept["HINDSIGHT_URL"], kept["HINDSIGHT_API_KEY"]) == ("gsk_good", hindsight, "key")
    assert kept["DATABASE_URL"] == "sqlite+aiosqlite:///precedent.db"


async def test_a_test_that_slack_refuses_ends_nothing(
    tmp_path: Path, slack: LocalSlack, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = {"SLACK_BOT_TOKEN": slack.bot_token, "SLACK_SIGNING_SECRET": slack.signing_secret}
    await slack.invite("#pages")
    await slack.fail("restricted_action", "chat.postMessage")
    answers = "\nbot.example.com\n\n\n#pages\n\n"
    done = await at_once(tmp_path, slack, monkeypatch, answers + "\n", **tokens)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "✗ A workspace setting keeps the bot from posting here." in done.stdout
    assert "precedent serve" in done.stdout
