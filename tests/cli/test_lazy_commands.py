"""Commands are imported when they are asked for, and the list of them says what they say themselves."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bot.cli.lazy_commands import COMMANDS, import_commands
from tests.cli.command import ROOT, Precedent

SLOW = [
    "aiohttp",
    "alembic",
    "apscheduler",
    "asyncpg",
    "groq",
    "hindsight_client",
    "matplotlib",
    "numpy",
    "onnxruntime",
    "slack_bolt",
    "slack_sdk",
    "sqlalchemy",
]
LOADED = "import sys, bot.cli{}; sys.stdout.write(' '.join(n for n in sys.argv[1:] if n in sys.modules))"


def loaded(family: str, *names: str) -> list[str]:
    """Which modules a new process has imported for this family of commands ("" for none)."""
    command = [sys.executable, "-c", LOADED.format(family and f".{family}"), *names]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=120).stdout.split()


def test_the_list_has_every_command_of_every_family_and_its_own_words() -> None:
    families = {
        ".".join(path.relative_to(Path(ROOT, "bot/cli")).with_suffix("").parts)
        for path in Path(ROOT, "bot/cli").rglob("*.py")
        if "\ndef register(" in path.read_text(encoding="utf-8")
    }
    said = {
        name: (family, " ".join(command.help.split("\n\n")[0].split()))
        for family in sorted(families)
        for name, command in import_commands(family).items()
    }
    assert said == COMMANDS


def test_a_command_that_is_not_there_is_told_with_the_one_that_was_meant(tmp_path: Path) -> None:
    ran = Precedent(tmp_path)("recal")
    assert ran.returncode == 2
    assert "No such command 'recal'. Did you mean 'recall'?" in ran.stderr


@pytest.mark.parametrize("family", ["", "parse"])
def test_what_needs_no_store_and_no_slack_loads_none(family: str) -> None:
    families = [f"bot.cli.{module}" for module, _ in COMMANDS.values() if module != family]
    assert loaded(family, *SLOW, *families) == []
