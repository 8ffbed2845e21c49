"""The folder of a replay's copy: nobody else's, gone however the process ends, and what a killed one left is swept."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.bootstrap.modes.private_folder import (
    PREFIX,
    open_private_folder,
    remove_unused_folders,
    treat_signals_as_interrupt,
)
from bot.bootstrap.modes.replay import open_replay
from bot.bootstrap.system import SystemClock
from bot.cli.run import run
from bot.settings import Settings
from tests.databases import fresh


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture(autouse=True)
def heeding() -> Iterator[None]:
    """In the background of a script, Ctrl-C and a closed terminal are ignored: not in these tests."""
    ignored = [number for number in (signal.SIGINT, signal.SIGHUP) if signal.getsignal(number) is signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, signal.default_int_handler if number is signal.SIGINT else signal.SIG_DFL)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


def test_told_to_end_in_the_background_of_a_script(tmp_path: Path, temporary: Path) -> None:
    config = Settings(database_url=fresh(tmp_path / "cli.db"), embeddings="off")

    async def replays() -> None:
        async with open_replay(config, SystemClock()):
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.sleep(20)

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with pytest.raises(SystemExit):
            run(replays())
    finally:
        signal.signal(signal.SIGINT, before)
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_replay_that_is_told_to_end_leaves_no_copy(
    tmp_path: Path, temporary: Path, number: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    config = Settings(database_url=fresh(tmp_path / "cli.db"), embeddings="off")
    handlers = [signal.getsignal(one) for one in signal.Signals if one is not signal.SIGKILL]
    seen: list[int] = []

    def copies() -> list[int]:
        return [stat.S_IMODE(file.parent.stat().st_mode) for file in temporary.glob("*/copy.db")]

    async def replays() -> None:
        async with open_replay(config, SystemClock()):
            seen.extend(copies())
            os.kill(os.getpid(), number)
            await asyncio.sleep(20)

    with pytest.raises(SystemExit) as ended:
        run(replays())
    assert ended.value.code == 130
    assert capsys.readouterr().err == "precedent: stopped\n"
    assert seen == [0o700]
    assert list(temporary.iterdir()) == []
    assert [signal.getsignal(one) for one in signal.Signals if one is not signal.SIGKILL] == handlers


def test_told_to_end_while_it_copies_it_waits_for_that(tmp_path: Path, temporary: Path) -> None:
    config = Settings(database_url=fresh(tmp_path / "cli.db"), embeddings="off")

    async def replays() -> None:
        asyncio.get_running_loop().call_soon(os.kill, os.getpid(), signal.SIGTERM)
        async with open_replay(config, SystemClock()):
            pytest.fail("it was not heeded")

    with pytest.raises(SystemExit):
        run(replays())
    assert list(temporary.iterdir()) == []


def test_told_twice_it_tidies_up_all_the_same_and_nohup_is_heeded() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with treat_signals_as_interrupt():
            os.kill(os.getpid(), signal.SIGHUP)
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGTERM)
            os.kill(os.getpid(), signal.SIGTERM)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_what_a_killed_one_left_is_swept_and_nothing_else(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = temporary / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "copy.db").write_text("kept")
    (temporary / f"{PREFIX}file").write_text("kept")
    (temporary / f"{PREFIX}link").symlink_to(elsewhere)
    left = temporary / f"{PREFIX}left"
    with open_private_folder() as used:
        (used / "copy.db").write_text("in use")
        left.mkdir()
        (left / "copy.db").write_text("left")
        me = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: me + 1)
        remove_unused_folders(temporary)
        assert left.exists()  # of another user
        monkeypatch.setattr(os, "geteuid", lambda: me)
        with open_private_folder() as mine:
            assert not left.exists()
            assert (used / "copy.db").read_text() == "in use"
            assert mine != used
    assert sorted(p.name for p in temporary.iterdir()) == ["elsewhere", f"{PREFIX}file", f"{PREFIX}link"]
    assert (elsewhere / "copy.db").exists()


def test_one_that_was_swept_before_it_was_held_is_made_again(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, made = tempfile.mkdtemp, []

    def swept(*how: str, **more: str) -> str:
        made.append(real(*how, **more))
        if len(made) == 1:
            remove_unused_folders(temporary)
        return made[-1]

    monkeypatch.setattr(tempfile, "mkdtemp", swept)
    with open_private_folder() as folder:
        assert [str(folder)] == made[1:]
        assert folder.is_dir()
