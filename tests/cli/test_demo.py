"""The demo shows the two threads that it promises, and ends."""

from __future__ import annotations

from pathlib import Path

from tests.cli.command import Precedent


def test_the_demo(tmp_path: Path) -> None:
    database = tmp_path / "untouched.db"
    ran = Precedent(tmp_path).process("demo", DATABASE_URL=f"sqlite+aiosqlite:///{database}")
    assert ran.returncode == 0, ran.stderr
    known, unknown, later = (part for part in ran.stdout.split("─" * 60)[1:5] if "FIRING" in part)
    for part in ("HIGH", "vendor", "1. ", "worked 3 of 3", "min", "INC-8", "INC-14", "INC-29"):
        assert part in known, part
    assert "INSUFFICIENT_MEMORY" in unknown
    assert "ROOT CAUSE" not in unknown
    assert "MEDIUM" in later
    assert "1. Pause the export job" in later
    assert ran.stderr == ""
    assert not database.exists()
