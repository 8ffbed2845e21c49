"""The README says what is so: its generated parts are current, its commands and files exist."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

from bot.bootstrap.configuration import read_configuration
from bot.settings import Settings
from tests.readme import README, made

ROOT = README.parent
TEXT = README.read_text(encoding="utf-8")
DOCS = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md"))}
ALL = "\n".join((TEXT, *DOCS.values()))
LOCKS = ("requirements.lock", "requirements-dev.lock", "requirements-dense.lock")


async def test_the_brief_and_the_settings_are_what_the_product_says(tmp_path: Path) -> None:
    for path, text in (await made(tmp_path)).items():
        assert path.read_text(encoding="utf-8") == text, "run: python -m tests.readme"


def test_it_is_short() -> None:
    assert len(TEXT.splitlines()) <= 150


def test_every_command_that_it_names_exists() -> None:
    known = subprocess.run(
        [sys.executable, "-m", "bot", "--help"], capture_output=True, text=True, cwd=ROOT, check=True
    ).stdout
    named = set(re.findall(r"`(?:\.venv/bin/)?precedent ([a-z]+)", TEXT)) | set(
        re.findall(r"^\s+precedent ([a-z]+)", ALL, re.MULTILINE)
    )
    assert named
    assert [name for name in named if not re.search(rf"\b{name}\b", known)] == []


def test_every_make_target_that_it_names_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert [t for t in set(re.findall(r"make ([a-z]+)", ALL)) if not re.search(rf"^{t}:", makefile, re.MULTILINE)] == []


def test_every_file_that_it_links_exists() -> None:
    assert [f for f in re.findall(r"\]\(([A-Za-z./]+)\)", TEXT) if not (ROOT / f).exists()] == []


def test_every_document_is_linked() -> None:
    assert [path.name for path in DOCS if f"](docs/{path.name})" not in TEXT] == []


def test_the_example_settings_are_settings() -> None:
    named = re.findall(r"^#?([A-Z_]+)=", (ROOT / ".env.example").read_text(encoding="utf-8"), re.MULTILINE)
    assert [n for n in named if n.lower() not in Settings.model_fields] == []


def test_the_example_of_a_configuration_is_one(tmp_path: Path) -> None:
    example = re.search(r"^    \[vendors\..*?(?=\n\n)", ALL, re.MULTILINE | re.DOTALL)
    assert example
    file = tmp_path / "precedent.toml"
    file.write_text(textwrap.dedent(example[0]), encoding="utf-8")
    found = read_configuration(file)
    assert (set(found.vendors), set(found.services)) == ({"acmepay"}, {"checkout-api"})


def test_the_lock_names_no_address_and_hashes_everything() -> None:
    lock = "".join((ROOT / name).read_text(encoding="utf-8") for name in LOCKS)
    assert "://" not in lock
    assert "index" not in [line.split()[0] for line in lock.splitlines() if line.strip()]
    pinned = re.findall(r"^([a-z0-9_.-]+)==", lock, re.MULTILINE | re.IGNORECASE)
    assert len(pinned) > 50
    assert lock.count("--hash=sha256:") >= len(pinned)
