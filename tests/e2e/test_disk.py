"""A disk that is full or read-only while somebody submits the modal: they are told, their text stays, readiness goes false,
and once the disk is mended the same submission works."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import sqlalchemy as sa

from bot.bootstrap.application import Application, run_application
from bot.bootstrap.modes.playground import build_local_settings, read_manifest
from bot.domain.incidents.record import Incident
from bot.domain.recall.query import OPERATOR
from bot.playground.modals import InteractionResult
from bot.playground.server import LocalSlack
from bot.ports.errors import StoreUnavailable
from bot.ports.posts import IncidentPost
from bot.ports.unit_of_work import Changes
from bot.slack import ids
from tests.e2e.process import BotProcess, said, until
from tests.e2e.story_support import ALERT, CHANNEL, block

# long enough that it does not find its place in pages that are there already
FIX = "Rebuild the partition. " + "手順を一つずつ確認する。 " * 200
ANSWERS = {block(ids.OUTCOME): "recovered", block(ids.FIX): FIX}
SOON_S = 10.0


@pytest.fixture
async def slack() -> AsyncIterator[LocalSlack]:
    async with await LocalSlack.start(manifest=read_manifest(), retry_delays_s=(0.2, 0.2, 0.2)) as started:
        yield started


async def modal(slack: LocalSlack) -> str:
    """An alert, its brief, and the modal open; the alert's ts."""
    posted = await slack.post_alert(CHANNEL, ALERT)
    (brief,) = await until(slack, lambda: slack.replies(CHANNEL, posted["ts"]))
    await slack.click(CHANNEL, brief["ts"], ids.RECORD)
    await until(slack, slack.view)
    return str(posted["ts"])


def not_saved(slack: LocalSlack, outcome: InteractionResult, why: str) -> None:
    (told,) = outcome.errors.values()
    assert told.startswith("Not saved: ")
    assert why in told
    assert "Your text is still here" in told
    view = slack.view()
    assert view is not None
    assert FIX in str(view["state"])


async def readiness(port: int) -> tuple[int, dict[str, Any]]:
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"http://127.0.0.1:{port}/readyz") as answer,
    ):
        return answer.status, await answer.json()


async def recorded_once(slack: LocalSlack, root: str) -> None:
    replies = await until(slack, lambda: len(r := slack.replies(CHANNEL, root)) >= 2 and r)
    await asyncio.sleep(1.5)
    assert len(slack.replies(CHANNEL, root)) == len(replies) == 2
    assert "Rebuild the partition" in said(replies[1])


def fixes(records: tuple[Incident, ...]) -> list[str]:
    return [attempt.fix for record in records for attempt in record.attempts]


@contextmanager
def pragma(bot: Application, statement: str, undo: str) -> Iterator[None]:
    """Every connection is handed out with this; afterwards with its opposite, for connections are kept."""
    now = [statement]

    def handed_out(connection: Any, _record: Any, _proxy: Any) -> None:
        cursor = connection.cursor()
        cursor.execute(now[0])
        cursor.close()

    for engine in bot.memory.store.database.sync_engines:
        sa.event.listen(engine, "checkout", handed_out)
    yield
    now[0] = undo


async def page_count(bot: Application) -> int:
    async with bot.memory.store.database.read() as connection:
        return int((await connection.exec_driver_sql("PRAGMA page_count")).scalar_one())


async def use_up(bot: Application) -> None:
    """Fill the pages that are there already, until not even a short line fits."""
    for size in (20_000, 2_000, 100):
        for number in range(10_000):
            filler = IncidentPost("C-filler", f"{size}/{number}", "x" * size)
            try:
                await bot.memory.incidents.commit(Changes(posts=(filler,)))
            except StoreUnavailable:
                break


@pytest.mark.parametrize("trouble", ["no room", "read-only"])
async def test_in_the_modal_it_says_that_nothing_was_saved(tmp_path: Path, slack: LocalSlack, trouble: str) -> None:
    async with run_application(build_local_settings(slack, tmp_path / "bot.db")) as bot:
        root = await modal(slack)
        if trouble == "no room":
            statement, undo, why = (
                f"PRAGMA max_page_count = {await page_count(bot)}",
                "PRAGMA max_page_count = 1000000",
                "full",
            )
        else:
            statement, undo, why = "PRAGMA query_only = 1", "PRAGMA query_only = 0", "cannot be written"
        with pragma(bot, statement, undo):
            await use_up(bot)
            not_saved(slack, await slack.submit_view(ANSWERS), why)
            status, told = await readiness(bot.port)
            assert (status, told["ready"]) == (503, False)
            assert why in told["store"]
        again = await slack.submit_view()
        assert (again.acked, again.errors) == (True, {})
        assert (await readiness(bot.port))[0] == 200
        await recorded_once(slack, root)
        assert fixes(await bot.memory.incidents.list_records(OPERATOR)) == [FIX.strip()]


def mount(*words: object) -> None:
    """Mount something; skip the test where that is not allowed."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount")
    done = subprocess.run(["mount", *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"this machine does not mount: {done.stderr.strip()}")


def unmount(folder: Path) -> None:
    subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    yield folder
    while os.path.ismount(folder):
        unmount(folder)


def fill(folder: Path) -> Callable[[], None]:
    """Use up the last byte; what gives it back."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as out:
        for size in (65_536, 4_096, 1):
            try:
                while True:
                    out.write(b"x" * size)
            except OSError:
                continue
    return filler.unlink


@pytest.mark.integration
async def test_a_disk_that_is_really_full(disk: Path, slack: LocalSlack) -> None:
    mount("-t", "tmpfs", "-o", "size=4m", "tmpfs", disk)
    bot = BotProcess(slack, disk / "bot.db")
    await bot.start()
    try:
        root = await modal(slack)
        await asyncio.sleep(1.0)
        empty = fill(disk)
        not_saved(slack, await slack.submit_view(ANSWERS), "disk of the database is full")
        status, told = await readiness(bot.port)
        assert (status, told["ready"]) == (503, False)
        assert "full" in told["store"]
        empty()
        again = await slack.submit_view()
        assert (again.acked, again.errors) == (True, {})
        await bot.ready()
        await recorded_once(slack, root)
        assert await bot.stop() == 0
    finally:
        await bot.kill()


def ext4(image: Path) -> Path:
    """A file with a file system in it."""
    with image.open("wb") as out:
        out.truncate(32 * 1024 * 1024)
    subprocess.run(["mkfs.ext4", "-q", str(image)], check=True)
    return image


def repair(image: Path) -> None:
    subprocess.run(["e2fsck", "-fy", str(image)], capture_output=True, check=False)


@pytest.mark.integration
async def test_a_file_system_that_became_read_only(tmp_path: Path, disk: Path, slack: LocalSlack) -> None:
    """As Linux does after an error of the disk: files that are open for writing can be written no more."""
    image = ext4(tmp_path / "image")
    mount("-o", "loop", image, disk)
    bot = BotProcess(slack, disk / "bot.db")
    await bot.start()
    try:
        root = await modal(slack)
        await asyncio.sleep(1.0)
        mount("-o", "remount,abort", disk)
        not_saved(slack, await slack.submit_view(ANSWERS), "read-only")
        status, told = await readiness(bot.port)
        assert (status, told["ready"]) == (503, False)
        await bot.kill()
        unmount(disk)
        repair(image)
        mount("-o", "loop", image, disk)
        await bot.start()
        again = await slack.submit_view()
        assert (again.acked, again.errors) == (True, {})
        await recorded_once(slack, root)
    finally:
        await bot.kill()
