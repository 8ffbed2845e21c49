"""The `.env` file: one line changes, nothing else does, no more people read it than before, and a failure leaves it as it was."""

from __future__ import annotations

import errno
import os
import stat
import struct
from pathlib import Path
from typing import Any

import pytest
from dotenv import dotenv_values

from bot.ports.errors import ConfigurationRejected
from bot.setup.env_file import EnvFile, edit_text


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        ("", "v", "A=v\n"),
        ("B=1", "v", "B=1\nA=v\n"),
        ("# A=old\r\nB='x # y'\r\n", "v", "# A=old\r\nB='x # y'\r\nA=v\r\n"),
        ("B=1\r\nC=2", "v", "B=1\r\nC=2\r\nA=v\r\n"),
        ("B=1\r\nA=old # n\r\nC=2\r\n", "v", "B=1\r\nA=v # n\r\nC=2\r\n"),
        ("B=1\r\nA=old\nC=2\r\n", "v", "B=1\r\nA=v\nC=2\r\n"),
        ("B=1\r\nA=old", "v", "B=1\r\nA=v\r\n"),
        ("B=1\x85\x0b\r\n", "v", "B=1\x85\x0b\r\nA=v\r\n"),
        ("B=1\n\nexport A='old'  # note\nC=2\n", "v", "B=1\n\nA=v  # note\nC=2\n"),
        ("A='o # x\ny'\t# it's\nC=2\n", "v", "A=v\t# it's\nC=2\n"),
        ('A = "o\\" # x" # "q"\n', "v", 'A=v # "q"\n'),
        ("A=old#x\n", "v", "A=v\n"),
        ("A='o # x'\n", "v", "A=v\n"),
        ("A=o  # x  \nB=1\nA=p # y\n", "v", "A=v  # x\nB=1\n"),
        ("A=old # note\n", None, ""),
        ("a=old\nB=1\nA=older\n", "v", "A=v\nB=1\n"),
        ('B="one\nA=not this\ntwo"\nA\n', "v", 'B="one\nA=not this\ntwo"\nA=v\n'),
        ("this is no setting\nA=old\n", "v", "this is no setting\nA=v\n"),
        ("B=1\nA=old\nC=2\n", None, "B=1\nC=2\n"),
        ("B=1\n", None, "B=1\n"),
    ],
)
def test_one_setting_changes_and_nothing_else(before: str, value: str | None, after: str) -> None:
    assert edit_text(before, "A", value) == after


@pytest.mark.parametrize("value", ["xoxb-1-2-aB", "postgresql+asyncpg://u:p%23w@h/x?ssl=require", "a=b#c", "k\\n$x"])
def test_what_is_written_is_read_back(tmp_path: Path, value: str) -> None:
    file = EnvFile(tmp_path / ".env")
    file.put("A", value)
    assert dotenv_values(file.path)["A"] == value


def test_a_new_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    file = EnvFile(tmp_path / ".env")
    file.check()
    assert file.put("A", "v") is None
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("was", "now"),
    [(0o600, 0o600), (0o400, 0o400), (0o640, 0o640), (0o660, 0o640), (0o644, 0o640), (0o604, 0o600), (0o777, 0o640)],
)
def test_it_is_open_to_no_more_people_and_never_to_all_and_a_link_stays_one(tmp_path: Path, was: int, now: int) -> None:
    real = tmp_path / "kept.env"
    real.write_text("B=1\n")
    real.chmod(was)
    (tmp_path / ".env").symlink_to(real)
    EnvFile(tmp_path / ".env").check()
    word = EnvFile(tmp_path / ".env").put("A", "v")
    assert (tmp_path / ".env").is_symlink()
    assert real.read_text() == "B=1\nA=v\n"
    assert stat.S_IMODE(real.stat().st_mode) == now
    assert (word is not None) == bool(was & 0o007)
    assert word is None or "could read" in word
    assert sorted(p.name for p in tmp_path.iterdir()) == [".env", "kept.env"]


def test_it_is_given_back_to_its_owner_and_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, given, real_chown = EnvFile(tmp_path / ".env"), [], os.fchown
    file.path.write_text("B=1\n")
    owner = (1234, 2345) if os.geteuid() == 0 else (os.getuid(), next((g for g in os.getgroups()), os.getgid()))
    os.chown(file.path, *owner)

    def fchown(handle: int, user: int, group: int) -> None:
        given.append((user, group))
        real_chown(handle, user, group)

    monkeypatch.setattr(os, "fchown", fchown)
    before = file.path.stat().st_ino
    file.put("A", "v")
    after = file.path.stat()
    assert (after.st_uid, after.st_gid) == owner
    assert after.st_ino != before  # at once
    assert set(given) <= {owner}


def test_where_it_cannot_be_given_back_it_is_written_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A group of its owner's that the one who runs this is not in: the bot that is in it reads it afterwards."""
    file = EnvFile(tmp_path / ".env")
    file.path.write_text("A=old-and-longer\nB=1\n")
    file.path.chmod(0o644)
    inode, real_fstat = file.path.stat().st_ino, os.fstat

    def of_another(handle: int) -> os.stat_result:
        found = list(real_fstat(handle))
        found[5] += 1 if found[1] != inode else 0  # what is made anew has another group
        return os.stat_result(found)

    def refused(*_what: int) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    real_open = Path.open

    def opened(path: Path, mode: str = "r", **how: Any) -> Any:
        return refused() if "+" in mode else real_open(path, mode, **how)

    monkeypatch.setattr(os, "fstat", of_another)
    monkeypatch.setattr(os, "fchown", refused)
    file.check()
    word = file.put("A", "v")
    assert file.path.read_text() == "A=v\nB=1\n"
    assert (file.path.stat().st_ino, stat.S_IMODE(file.path.stat().st_mode)) == (inode, 0o640)
    assert word is not None
    assert "could read" in word
    assert [p.name for p in tmp_path.iterdir()] == [".env"]

    # nor may its mode be changed: that is its owner's to do
    file.path.chmod(0o644)
    monkeypatch.setattr(os, "fchmod", refused)
    word = file.put("A", "w")
    assert word is not None
    assert "chmod o=" in word
    assert file.path.read_text() == "A=w\nB=1\n"

    # nor written over: nothing is taken from its owner, and nobody is asked for anything
    monkeypatch.setattr(os, "access", lambda *_what: False)
    monkeypatch.setattr(Path, "open", opened)
    for write in (file.check, lambda: file.put("A", "x")):
        with pytest.raises(ConfigurationRejected, match="belongs to another user"):
            write()
    monkeypatch.undo()
    assert file.path.read_text() == "A=w\nB=1\n"
    assert [p.name for p in tmp_path.iterdir()] == [".env"]


def test_who_is_on_its_access_list_stays_there(tmp_path: Path) -> None:
    file = EnvFile(tmp_path / ".env")
    file.path.write_text("B=1\n")
    # the owner rw, user 1234 r, the group nothing, the mask r, others nothing
    entries = [(1, 6, 2**32 - 1), (2, 4, 1234), (4, 0, 2**32 - 1), (16, 4, 2**32 - 1), (32, 0, 2**32 - 1)]
    listed = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
    try:
        os.setxattr(file.path, "system.posix_acl_access", listed)
    except (OSError, AttributeError):
        pytest.skip("this file system keeps no access lists")
    file.put("A", "v")
    assert os.getxattr(file.path, "system.posix_acl_access") == listed


def test_what_cannot_be_written_or_read_is_said_and_leaves_nothing(tmp_path: Path) -> None:
    nowhere = EnvFile(tmp_path / "nosuch" / ".env")
    for write in (nowhere.check, lambda: nowhere.put("A", "v")):
        with pytest.raises(ConfigurationRejected, match="Nothing can be written in"):
            write()
    (tmp_path / ".env").write_bytes(b"\xff")
    with pytest.raises(ConfigurationRejected, match="cannot be read"):
        EnvFile(tmp_path / ".env").put("A", "v")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ConfigurationRejected, match="is not a file"):
        EnvFile(tmp_path / "pipe").put("A", "v")
    (tmp_path / "pipe").unlink()
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
