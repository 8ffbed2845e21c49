"""The command line in a process of its own, with a database of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


@dataclass(frozen=True)
class Precedent:
    """Runs `precedent ...`; `settings` go into its environment."""

    folder: Path

    def __call__(self, *arguments: str, stdin: str = "", **settings: str) -> subprocess.CompletedProcess[str]:
        kept = {
            k: v for k, v in os.environ.items() if k in {"PATH", "HOME", "LANG", "VIRTUAL_ENV"} or k.startswith("COV")
        }
        environment = kept | {"DATABASE_URL": f"sqlite+aiosqlite:///{self.folder / 'cli.db'}"} | settings
        return subprocess.run(  # noqa: PLW1510  # the exit status is what tests look at
            [sys.executable, "-m", "bot", *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            cwd=ROOT,
            env=environment,
            timeout=60,
        )
