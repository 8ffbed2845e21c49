from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from bot.settings import Settings


def read() -> Settings:
    return Settings(_env_file=None)


def test_defaults_need_nothing() -> None:
    settings = read()
    assert settings.store_url.endswith("/precedent/precedent.db")
    assert settings.slack_bot_token is None
    assert settings.digest_day == "mon"


def test_the_environment_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "sqlite+aiosqlite:////tmp/x.db")
    monkeypatch.setenv("DIGEST_HOUR", "14")
    assert read().store_url == "sqlite+aiosqlite:////tmp/x.db"
    assert read().digest_hour == 14


def test_a_secret_may_come_from_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    secret = tmp_path / "token"
    secret.write_text("xoxb-from-file\n")
    monkeypatch.setenv("SLACK_BOT_TOKEN_FILE", str(secret))
    token = read().slack_bot_token
    assert token is not None
    assert token.get_secret_value() == "xoxb-from-file"
    assert "from-file" not in repr(read())


def test_the_environment_wins_over_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    secret = tmp_path / "url"
    secret.write_text("sqlite+aiosqlite:///from-file")
    monkeypatch.setenv("DATABASE_URL_FILE", str(secret))
    monkeypatch.setenv("DATABASE_URL", "sqlite+aiosqlite:///from-env")
    assert read().database_url == "sqlite+aiosqlite:///from-env"


def test_a_dotenv_file_is_read(tmp_path: Path) -> None:
    env = tmp_path / ".env"
    env.write_text("TIMEZONE=Europe/Berlin\nUNKNOWN_THING=1\n")
    assert Settings(_env_file=env).timezone == "Europe/Berlin"


@pytest.mark.parametrize(
    ("name", "value"), [("DIGEST_HOUR", "25"), ("DIGEST_DAY", "monday"), ("PORT", "-1"), ("WORKERS", "0")]
)
def test_nonsense_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ValidationError, match=name.lower()):
        read()
