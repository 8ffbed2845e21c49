"""The command line: in this process (fast), or in one of its own (as it is installed), with a database of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from typer.testing import CliRunner

from bot.cli import app
from tests.databases import fresh

ROOT = Path(__file__).parent.parent.parent


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Precedent:
    """Runs `precedent ...`; `settings` go into its environment."""

    folder: Path

    def _environment(self, settings: dict[str, str]) -> dict[str, str]:
        return {
            "DATABASE_URL": fresh(self.folder / "cli.db"),
            "COLUMNS": "200",
            "EMBEDDINGS": "off",
        } | settings

    def __call__(self, *arguments: str, stdin: str = "", **settings: str) -> Ran:
        result = CliRunner().invoke(app, list(arguments), input=stdin, env=self._environment(settings))
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Ran(result.exit_code, result.stdout, result.stderr)

    def process(self, *arguments: str, stdin: str = "", **settings: str) -> Ran:
        """In a process of its own."""
        kept = {
            k: v for k, v in os.environ.items() if k in {"PATH", "HOME", "LANG", "VIRTUAL_ENV"} or k.startswith("COV")
        }
        environment = kept | self._environment(settings)
        command = [sys.executable, "-m", "bot", *arguments]
        done = subprocess.run(
            command, check=False, input=stdin, capture_output=True, text=True, cwd=ROOT, env=environment, timeout=120
        )
        return Ran(done.returncode, done.stdout, done.stderr)
