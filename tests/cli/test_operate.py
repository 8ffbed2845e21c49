"""`doctor` and `migrate`: what is wrong, and what to do."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.bootstrap.bot import running
from bot.bootstrap.doctor import examine
from bot.bootstrap.finding import Finding
from bot.bootstrap.playground import manifest
from bot.cli.operate import line
from bot.playground.server import LocalSlack
from bot.ports import AddressUnavailable
from bot.settings import Settings
from tests.cli.command import Precedent


@pytest.fixture
async def slack() -> AsyncIterator[LocalSlack]:
    async with await LocalSlack.start(manifest=manifest()) as started:
        yield started


def settings(folder: Path, slack: LocalSlack | None = None, **changes: object) -> Settings:
    given: dict[str, object] = {"database_url": f"sqlite+aiosqlite:///{folder / 'doctor.db'}"}
    if slack:
        given |= {
            "slack_bot_token": slack.bot_token,
            "slack_app_token": slack.app_token,
            "slack_api_url": slack.api_url,
        }
    return Settings(**(given | changes))  # type: ignore[arg-type]  # told by name


def wrong(findings: tuple[Finding, ...]) -> dict[str, str]:
    return {f.check: f"{f.detail} {f.fix}" for f in findings if f.ok is False}


async def test_a_good_installation_has_nothing_wrong(tmp_path: Path, slack: LocalSlack) -> None:
    findings = await examine(settings(tmp_path, slack))
    assert wrong(findings) == {}
    assert {f.check for f in findings} >= {
        "Time zone",
        "Database",
        "Outbox",
        "Inbox",
        "Last alert",
        "Connection",
        "Slack",
        "Scopes",
    }


@pytest.mark.parametrize(
    ("changes", "check", "says"),
    [
        ({"slack_bot_token": None}, "Bot token", "SLACK_BOT_TOKEN"),
        ({"slack_bot_token": SecretStr("xapp-1-A")}, "Bot token", "xoxb-"),
        ({"slack_app_token": SecretStr("xoxb-1-A")}, "App token", "xapp-"),
        ({"slack_bot_token": SecretStr("xoxb-...")}, "Bot token", "still the example's"),
        ({"slack_app_token": SecretStr("xapp-...")}, "App token", "still the example's"),
        ({"slack_api_url": "http://127.0.0.1:1/api/"}, "Slack", "Check the network"),
        ({"slack_app_token": None}, "Connection", "SLACK_SIGNING_SECRET"),
        ({"slack_bot_token": SecretStr("xoxb-wrong")}, "Slack", "token"),
        ({"timezone": "Mars/Base"}, "Time zone", "Europe/Berlin"),
        ({"database_url": "sqlite+aiosqlite:////proc/nowhere/x.db"}, "Database", "DATABASE_URL"),
        ({"hindsight_url": "http://127.0.0.1:1"}, "Hindsight", "cannot be reached"),
    ],
)
async def test_each_mistake_is_named_with_what_to_do(
    tmp_path: Path, slack: LocalSlack, changes: dict[str, object], check: str, says: str
) -> None:
    found = wrong(await examine(settings(tmp_path, slack, **changes)))
    assert list(found) == [check]
    assert says in found[check]


async def test_both_tokens_are_looked_at(tmp_path: Path, slack: LocalSlack) -> None:
    swapped = {"slack_bot_token": SecretStr("xapp-1-A"), "slack_app_token": SecretStr("xoxb-1-A")}
    assert list(wrong(await examine(settings(tmp_path, slack, **swapped)))) == ["Bot token", "App token"]


async def test_a_missing_scope_is_named(tmp_path: Path, slack: LocalSlack) -> None:
    await slack.refuse_scope("reactions:write")
    await slack.refuse_scope("files:write")
    findings = await examine(settings(tmp_path, slack))
    assert "reactions:write" in wrong(findings)["Scopes"]
    assert "without their picture" in next(f.detail for f in findings if f.check == "Files" and f.ok is None)


async def test_without_an_app_token_it_is_http(tmp_path: Path, slack: LocalSlack) -> None:
    findings = await examine(settings(tmp_path, slack, slack_app_token=None, slack_signing_secret=SecretStr("s")))
    assert "HTTP" in next(f.detail for f in findings if f.check == "Connection")


async def test_a_database_that_others_can_read_is_said(tmp_path: Path, slack: LocalSlack) -> None:
    await examine(settings(tmp_path, slack))
    (tmp_path / "doctor.db").chmod(0o644)
    assert "chmod 600" in wrong(await examine(settings(tmp_path, slack)))["Database file"]


def test_lines_say_what_to_do() -> None:
    assert line(Finding("A", True, "fine")) == "ok     A: fine"
    assert line(Finding("B", False, "bad", "mend it")).endswith("→ mend it")


def test_the_command_prints_json_and_ends_with_3(tmp_path: Path) -> None:
    ran = Precedent(tmp_path)("doctor", "--json")
    assert ran.returncode == 3
    assert any(f["check"] == "Bot token" and f["ok"] is False for f in json.loads(ran.stdout))
    said = Precedent(tmp_path)("doctor")
    assert "WRONG  Bot token" in said.stdout


def test_sqlite_may_be_migrated_by_hand_too(tmp_path: Path) -> None:
    ran = Precedent(tmp_path)("migrate")
    assert ran.returncode == 0, ran.stderr


def test_serve_without_tokens_ends_in_one_sentence(tmp_path: Path) -> None:
    ran = Precedent(tmp_path)("serve")
    assert ran.returncode == 3
    assert "SLACK_BOT_TOKEN" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_version_and_help(tmp_path: Path) -> None:
    assert Precedent(tmp_path)("--version").stdout.strip()
    shown = Precedent(tmp_path)("--help").stdout
    for name in (
        "serve",
        "playground",
        "demo",
        "parse",
        "brief",
        "recall",
        "resolve",
        "import",
        "export",
        "digest",
        "doctor",
        "migrate",
    ):
        assert name in shown


def test_a_settings_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    ran = Precedent(tmp_path)("doctor", SLACK_BOT_TOKEN_FILE="/nosuch/token")
    assert ran.returncode == 2
    assert "/nosuch/token" in ran.stderr


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ran = Precedent(tmp_path)("playground", "--port", str(port))
    assert ran.returncode == 3
    assert f"Port {port}" in ran.stderr


async def test_the_bot_says_which_port_is_taken(tmp_path: Path, slack: LocalSlack) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        config = settings(tmp_path, slack, port=taken.getsockname()[1])
        with pytest.raises(AddressUnavailable, match="set PORT"):
            async with running(config):
                pass
