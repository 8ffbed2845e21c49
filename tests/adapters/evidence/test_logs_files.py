"""Log files for real: only the end that matters is read, rotation and links are followed as configured and no further."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.evidence.log_records import read_log_record, read_moment
from bot.adapters.evidence.logs_files import CHUNK, FileLogs
from bot.domain.evidence.items import Observed, Unavailable
from bot.ports.errors import EvidenceUnavailable
from tests.adapters.evidence.logs_files_support import line, write
from tests.adapters.evidence.servers import ALERT, AT, SECRET, ago, provider


def source(folder: Path, *patterns: str, links_into: str = "", most_bytes: int | None = None) -> FileLogs:
    listed = json.dumps(list(patterns or ("checkout/*.jsonl",)))
    links = f'links_into = ["{links_into}"]' if links_into else ""
    toml = f'[logs.app]\nkind = "files"\nfolder = "{folder}"\n{links}\n'
    file = folder.parent / "config"
    file.mkdir(exist_ok=True)
    found = provider(file, toml + f"[services.ledger]\nlogs.app = {listed}\n[services.other]\n")
    assert isinstance(found, FileLogs)
    patterns_of = {"checkout api": found.patterns["ledger"]}
    return FileLogs(found.name, found.folder, patterns_of, found.links_into, most_bytes or found.most_bytes)


async def shown(one: FileLogs) -> dict[str, int | None]:
    found = await one.observe(ALERT, AT)
    return {e.text or "": e.count for e in found if isinstance(e, Observed)}


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    (tmp_path / "logs").mkdir()
    return tmp_path / "logs"


async def test_errors_of_the_window_are_counted_and_masked(logs: Path) -> None:
    write(
        logs / "checkout/a.jsonl",
        line(20, "too old"),
        line(10, f"pool exhausted after 5 ms password={SECRET}"),
        line(9, "all is well", "info"),
        line(8, f"pool exhausted after 7 ms password={SECRET}"),
        line(7, "connection refused", None),
        line(6, "started", None),
    )
    assert await shown(source(logs)) == {
        "pool exhausted after 7 ms password=[masked:secret]": 2,
        "connection refused": 1,
    }


async def test_lines_that_are_no_json_are_skipped_and_counted(logs: Path) -> None:
    write(
        logs / "checkout/a.jsonl",
        line(3, "refused"),
        "Traceback (most recent call last):\n",
        '{"no": "time"}\n',
        "[]\n",
    )
    found = await source(logs).observe(ALERT, AT)
    assert [type(e) for e in found] == [Observed, Unavailable]
    assert found[1].what == "3 log lines of checkout-api"
    write(logs / "checkout/a.jsonl", "plain text\n" * 4)
    with pytest.raises(EvidenceUnavailable, match="none of 4 lines is JSON with a time"):
        await source(logs).observe(ALERT, AT)


async def test_only_the_end_of_a_large_file_is_read(logs: Path) -> None:
    old = "".join(line(500, f"old {n} " + "x" * 200) for n in range(8_000))
    recent = "".join(line(14 - n / 1000, f"failed {n} " + "y" * 100) for n in range(1_000))
    path = write(logs / "checkout/big.jsonl", old, recent)
    one = source(logs, most_bytes=4 * CHUNK)
    found = one.read_logs(one.patterns["checkout api"], AT)
    assert path.stat().st_size > 2_000_000
    assert (len(found.lines), found.truncated) == (1_000, False)
    assert found.left_bytes >= CHUNK
    short = source(logs, most_bytes=CHUNK).read_logs(one.patterns["checkout api"], AT)
    assert 0 < len(short.lines) < 1_000
    assert short.truncated


async def test_a_line_longer_than_a_chunk_is_one_line(logs: Path) -> None:
    write(logs / "checkout/a.jsonl", line(3, "failed " + "z" * 3 * CHUNK), line(2, "refused").strip())
    assert sorted(text[:7] for text in await shown(source(logs))) == ["failed ", "refused"]


async def test_a_rotated_file_counts_as_long_as_it_is_recent(logs: Path) -> None:
    write(logs / "checkout/a.jsonl", line(1, "failed now"))
    write(logs / "checkout/a.jsonl.1", line(12, "failed before"))
    old = write(logs / "checkout/a.jsonl.2", line(13, "failed long ago"))
    os.utime(old, (0, ago(minutes=16).timestamp()))
    assert await shown(source(logs, "checkout/a.jsonl*")) == {"failed now": 1, "failed before": 1}


async def test_links_lead_only_where_they_may(logs: Path, tmp_path: Path) -> None:
    outside = write(tmp_path / "elsewhere/b.jsonl", line(1, "failed outside"))
    write(logs / "checkout/a.jsonl", line(1, "failed inside"))
    (logs / "checkout/link.jsonl").symlink_to(outside)
    (logs / "checkout/twin.jsonl").symlink_to(logs / "checkout/a.jsonl")
    (logs / "checkout/up.jsonl").symlink_to("../../elsewhere/b.jsonl")
    found = await source(logs).observe(ALERT, AT)
    assert [(e.text, e.count, e.truncated) for e in found if isinstance(e, Observed)] == [("failed inside", 1, True)]
    allowed = await shown(source(logs, links_into=str(outside.parent)))
    assert allowed == {"failed inside": 1, "failed outside": 1}
    (logs / "checkout/a.jsonl").unlink()
    (logs / "checkout/twin.jsonl").unlink()
    with pytest.raises(EvidenceUnavailable, match="leads out of the configured folder"):
        await source(logs).observe(ALERT, AT)


async def test_what_is_no_file_is_not_opened(logs: Path) -> None:
    os.mkfifo(logs / "pipe.jsonl")
    (logs / "folder.jsonl").mkdir()
    found = await source(logs, "*.jsonl").observe(ALERT, AT)
    assert [e.signal for e in found] == ["log_none"]
    (logs / "gone.jsonl").symlink_to(logs / "nothing")
    assert [e.signal for e in await source(logs, "*.jsonl").observe(ALERT, AT)] == ["log_none"]
    with pytest.raises(EvidenceUnavailable, match=r"no file matches nothing\*"):
        await source(logs, "nothing*").observe(ALERT, AT)
    with pytest.raises(EvidenceUnavailable, match="cannot be read by the bot's user"):
        await source(logs, "gone*").observe(ALERT, AT)


async def test_of_another_service_nothing_is_read(logs: Path) -> None:
    one = source(logs)
    assert await FileLogs(one.name, one.folder, {}).observe(ALERT, AT) == ()


@pytest.mark.parametrize(
    ("value", "at"),
    [
        ("2026-11-23T08:00:00Z", AT),
        ("2026-11-23T09:00:00.000+01:00", AT),
        ("2026-11-23 08:00:00,000", AT),
        (AT.timestamp(), AT),
        (int(AT.timestamp()) * 10**3, AT),
        (int(AT.timestamp()) * 10**6, AT),
        (int(AT.timestamp()) * 10**9, AT),
        (True, None),
        ("yesterday", None),
        (float("nan"), None),
        (1e300, None),
        ([], None),
    ],
)
def test_times_as_they_are_written(value: Any, at: datetime | None) -> None:
    assert read_moment(value) == at


@pytest.mark.parametrize(
    ("said", "is_error", "text"),
    [
        ({"msg": "x", "level": 50}, True, "x"),
        ({"msg": "x", "level": 30}, False, "x"),
        ({"log": "boom failed", "stream": "stderr"}, True, "boom failed"),
        ({"severity": "CRITICAL", "message": "x"}, True, "x"),
        ({"severity": "warning", "message": "failed"}, False, "failed"),
        ({"level": "error", "err": {"type": "TypeError", "message": "y"}}, True, "y"),
        ({"level": "error", "message": 3}, True, ""),
    ],
)
def test_levels_and_texts_of_known_loggers(said: dict[str, Any], is_error: bool, text: str) -> None:
    found = read_log_record(json.dumps({"ts": 1_795_420_800, **said}).encode())
    assert found is not None
    assert (found.is_error, found.text) == (is_error, text)
    assert found.at == datetime(2026, 11, 23, 8, 0, tzinfo=UTC)


def test_deep_nesting_is_a_bad_line() -> None:
    assert read_log_record(b"[" * 100_000) is None
