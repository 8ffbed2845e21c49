"""What tests of logs files share with other tests."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from tests.adapters.evidence.servers import AT, ago, iso


def line(minutes: float, message: str, level: str | None = "error", **more: Any) -> str:
    said = {"time": iso(ago(minutes=minutes)), **({"level": level} if level else {}), "message": message, **more}
    return json.dumps(said) + "\n"


def write(path: Path, *written: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(written))
    os.utime(path, (AT.timestamp(), AT.timestamp()))
    return path
