from __future__ import annotations

import asyncio
import io
import json
import logging
import sys

import pytest

from bot.observability import configure_logging, get_logger, set_correlation_id, spawn


async def test_a_background_failure_is_logged_and_not_lost(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("INFO")

    async def fails() -> None:
        raise ValueError("boom")

    task = spawn(fails(), "fails")
    await asyncio.wait({task})
    await asyncio.sleep(0)
    line = json.loads(capsys.readouterr().err.splitlines()[0])
    assert line["task"] == "fails"
    assert "boom" in line["error"]


def test_logs_are_json_with_a_correlation_id(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("INFO")
    set_correlation_id("Ev1")
    get_logger("test").info("read", kind="alert")
    get_logger("test").debug("not shown")
    logging.getLogger("elsewhere").warning("from a library")
    lines = [json.loads(text) for text in capsys.readouterr().err.splitlines()]
    assert lines[0]["event"] == "read"
    assert lines[0]["correlation"] == "Ev1"
    assert lines[1]["event"] == "from a library"
    assert len(lines) == 2


def test_logs_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("WARNING", as_json=False)
    get_logger("test").info("quiet")
    get_logger("test").warning("loud", kind="alert")
    said = capsys.readouterr().err
    assert "loud" in said
    assert "quiet" not in said


def test_a_log_that_cannot_be_written_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    class Full(io.StringIO):
        def write(self, text: str) -> int:
            tried.append(text)
            raise OSError(28, "No space left on device")

    configure_logging("INFO")
    monkeypatch.setattr(sys, "stderr", Full())
    get_logger("test").error("lost")
    assert "lost" in tried[0]
