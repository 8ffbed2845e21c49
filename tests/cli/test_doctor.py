"""`migrate`, `serve`, version and help: how they end."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.bootstrap.application import run_application
from bot.bootstrap.modes.playground import read_manifest
from bot.playground.server import LocalSlack
from bot.ports.errors import AddressUnavailable
from bot.settings import Settings
from tests.cli.command import Precedent


@pytest.fixture
async def slack() -> AsyncIterator[LocalSlack]:
    async with await LocalSlack.start(manifest=read_manifest()) as started:
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
            async with run_application(config):
                pass
