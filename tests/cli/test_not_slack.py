"""What the command line says, and how it ends, where something else than Slack answers, or names come that steer a
terminal."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from bot.cli.doctor import format_finding
from bot.cli.plain_text import format_message
from bot.cli.run import print_json
from bot.doctor.finding import Finding
from bot.observability import escape_terminal_text
from bot.setup import prompts
from bot.workflows.operations import backfill
from tests.cli.command import Precedent, Ran
from tests.slack.between import PAGE, Between, is_json, stands_between

EVIL = "ev\x1b[2J\x1b]0;x\x07il\u202e\x9b31m\r\nWRONG"
META = {"response_metadata": {"next_cursor": "same"}}
ANSWERS: dict[str, dict[str, Any]] = {
    "auth.test": {"url": "https://x.slack.com/", "team": EVIL, "user": EVIL, "user_id": "UBOT", "bot_id": "BBOT"},
    "users.conversations": {"channels": [{"id": "C1", "name": "alerts"}]},
    "conversations.info": {"channel": {"id": "C1", "name": EVIL, "is_member": True}},
    "conversations.history": {"messages": []},
    "bots.info": {"bot": {}},
}
Command = Callable[..., Any]


@pytest.fixture
async def between() -> AsyncIterator[Between]:
    async with stands_between() as found:
        found.given = is_json({"ok": True})
        found.by_method = {method: is_json({"ok": True} | body) for method, body in ANSWERS.items()}
        yield found


@pytest.fixture
def precedent(between: Between, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.setattr(backfill, "WAIT_S", 0.0)

    async def typed(*arguments: str) -> Ran:
        tokens = {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1", "SLACK_API_URL": between.url, "PORT": "0"}
        return await asyncio.to_thread(Precedent(tmp_path), *arguments, **tokens)

    return typed


def is_tame(ran: Ran) -> bool:
    return all(c.isprintable() or c == "\n" for c in ran.stdout + ran.stderr)


async def test_doctor_and_backfill_print_what_slack_names_without_obeying_it(
    between: Between, precedent: Command
) -> None:
    ran = await precedent("doctor")
    (said,) = [one for one in ran.stdout.splitlines() if "connected to" in one]
    assert (said[:5], is_tame(ran)) == ("ok   ", True)
    assert "ev [2J ]0;x il" in said
    read = await precedent("backfill", "#alerts", "--days", "1")
    assert (read.returncode, is_tame(read)) == (0, True)
    assert "#ev [2J ]0;x il 31m WRONG: 100 %" in read.stderr
    between.by_method["auth.test"] = is_json({"ok": False, "error": EVIL})
    for command in (("doctor",), ("backfill", "#alerts")):
        ran = await precedent(*command)
        assert (ran.returncode != 0, is_tame(ran)) == (True, True), command


@pytest.mark.parametrize(
    ("method", "answer", "status", "says"),
    [
        ("auth.test", {"body": PAGE, "content_type": "text/html"}, 3, "is not Slack"),
        (
            "users.conversations",
            {"body": PAGE, "content_type": "text/html", "status": 403},
            3,
            "is not Slack (http_403)",
        ),
        ("conversations.info", is_json([1]), 3, "is not Slack"),
        ("conversations.history", {"text": "log in"}, 3, "is not Slack"),
        ("users.conversations", is_json({"ok": True, "channels": []} | META), 3, "a page that was read already"),
        ("conversations.history", is_json({"ok": True, "messages": []} | META), 3, "a page that was read already"),
        ("auth.test", is_json({"ok": False, "error": "invalid_auth"}), 1, "does not accept the bot token"),
        ("conversations.history", is_json({"ok": False, "error": "not_in_channel"}), 1, "#alerts: The bot is not in"),
    ],
)
async def test_backfill_ends_with_3_where_slack_is_not_reached_and_with_1_where_it_refuses(
    between: Between, precedent: Command, method: str, answer: dict[str, Any], status: int, says: str
) -> None:
    between.by_method[method] = answer
    ran = await precedent("backfill", "#alerts", "--days", "1", "--calls-a-minute", "5000")
    assert (ran.returncode, says in ran.stderr) == (status, True), ran.stderr
    assert "Traceback" not in ran.stderr
    assert "asks to wait" not in ran.stderr
    assert ("the same command goes on from there" in ran.stderr) == (status == 3)
    assert between.calls.count(method) <= backfill.TRIES


@pytest.mark.parametrize("said", ["-5", "nan"])
async def test_a_wish_that_is_no_time_counts_as_a_failure(between: Between, precedent: Command, said: str) -> None:
    limited = is_json({"ok": False, "error": "ratelimited"}, status=429, headers={"Retry-After": said})
    between.by_method["conversations.history"] = limited
    ran = await precedent("backfill", "#alerts", "--days", "1", "--calls-a-minute", "5000")
    assert ran.returncode == 3
    assert between.calls.count("conversations.history") == backfill.TRIES
    assert "Slack asks to wait 0 s" not in ran.stderr
    assert ran.stderr.count("Trying again in 0 s") == backfill.TRIES - 1


def test_whatever_is_said_stays_on_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert escape_terminal_text("a\x1bb\nc\u2028d\u202ee\x9bf\tgé→") == "a b c d e f gé→"
    assert format_finding(Finding(EVIL, False, EVIL, EVIL)).count("\n") == 1
    assert "\x1b" not in format_message({"text": EVIL})
    assert "\x1b" not in format_message({"blocks": [{"type": "section", "text": {"text": EVIL}}]})
    print_json({"name": EVIL, "é": "\x7f😀\U000e0041"})
    said = capsys.readouterr().out
    assert json.loads(said) == {"name": EVIL, "é": "\x7f😀\U000e0041"}
    assert ("é" in said, "😀" in said, all(c.isprintable() or c == "\n" for c in said)) == (True, True, True)
    prompts.say(EVIL)
    prompts.say_exactly(f"\n{EVIL}")
    assert set(capsys.readouterr().out) & set("\x1b\x07\u202e\x9b\r") == set()


@pytest.mark.parametrize("command", [("doctor",), ("setup",), ("export", "-"), ("backfill", "#alerts"), ("serve",)])
def test_a_settings_file_that_is_not_utf_8_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    (tmp_path / ".env").write_bytes(b"LOG_LEVEL=\xe9\n")
    monkeypatch.chdir(tmp_path)
    ran = Precedent(tmp_path)(*command)
    assert (ran.returncode, ran.stderr.count("\n")) == (2, 1)
    assert ".env" in ran.stderr


@pytest.mark.parametrize("url", ["u:secret@h:abc/db", "u:secret@[::1/db", "u:secret@h:/db", "u:secret@h:99999/db"])
def test_a_database_whose_address_cannot_be_read_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for command in ("doctor", "migrate"):
        ran = Precedent(tmp_path)(command, DATABASE_URL=f"postgresql://{url}")
        assert ran.returncode == 3
        assert "DATABASE_URL is not an address" in ran.stdout + ran.stderr
        assert "secret" not in ran.stdout + ran.stderr
