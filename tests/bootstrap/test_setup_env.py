"""The `.env` file: one line changes, nothing else does, nobody else reads it, and a failure leaves it as it was."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest
from dotenv import dotenv_values

from bot.bootstrap.setup_env import EnvFile, edited
from bot.ports import ConfigurationRejected


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        ("", "v", "A=v\n"),
        ("B=1", "v", "B=1\nA=v\n"),
        ("# A=old\r\nB='x # y'\r\n", "v", "# A=old\r\nB='x # y'\r\nA=v\n"),
        ("B=1\n\nexport A='old'  # note\nC=2\n", "v", "B=1\n\nA=v\nC=2\n"),
        ("a=old\nB=1\nA=older\n", "v", "A=v\nB=1\n"),
        ('B="one\nA=not this\ntwo"\nA\n', "v", 'B="one\nA=not this\ntwo"\nA=v\n'),
        ("this is no setting\nA=old\n", "v", "this is no setting\nA=v\n"),
        ("B=1\nA=old\nC=2\n", None, "B=1\nC=2\n"),
        ("B=1\n", None, "B=1\n"),
    ],
)
def test_one_setting_changes_and_nothing_else(before: str, value: str | None, after: str) -> None:
    assert edited(before, "A", value) == after


@pytest.mark.parametrize("value", ["xoxb-1-2-aB", "postgresql+asyncpg://u:p%23w@h/x?ssl=require", "a=b#c", "k\\n$x"])
def test_what_is_written_is_read_back(tmp_path: Path, value: str) -> None:
    file = EnvFile(tmp_path / ".env")
    file.put("A", value)
    assert dotenv_values(file.path)["A"] == value


def test_only_the_owner_reads_it_and_a_link_stays_one(tmp_path: Path) -> None:
    real = tmp_path / "kept.env"
    real.write_text("B=1\n")
    real.chmod(0o644)
    (tmp_path / ".env").symlink_to(real)
    EnvFile(tmp_path / ".env").check()
    EnvFile(tmp_path / ".env").put("A", "v")
    assert (tmp_path / ".env").is_symlink()
    assert real.read_text() == "B=1\nA=v\n"
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    assert sorted(p.name for p in tmp_path.iterdir()) == [".env", "kept.env"]


def test_what_cannot_be_written_or_read_is_said_and_leaves_nothing(tmp_path: Path) -> None:
    nowhere = EnvFile(tmp_path / "nosuch" / ".env")
    for write in (nowhere.check, lambda: nowhere.put("A", "v")):
        with pytest.raises(ConfigurationRejected, match="Nothing can be written in"):
            write()
    (tmp_path / ".env").write_bytes(b"\xff")
    with pytest.raises(ConfigurationRejected, match="cannot be read"):
        EnvFile(tmp_path / ".env").put("A", "v")
    (tmp_path / "folder").mkdir()
    target = EnvFile(tmp_path / "folder")
    with pytest.raises(ConfigurationRejected, match="cannot be read"):
        target.put("A", "v")
    assert sorted(p.name for p in tmp_path.iterdir()) == [".env", "folder"]


def test_a_disk_that_fails_leaves_the_old_file_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text("A=old\n")

    def fails(_file: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(ConfigurationRejected, match="No space left"):
        EnvFile(tmp_path / ".env").put("A", "v")
    assert (tmp_path / ".env").read_text() == "A=old\n"
    assert [p.name for p in tmp_path.iterdir()] == [".env"]
