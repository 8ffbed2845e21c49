"""The README says what is so: its generated parts are current, its commands and files exist."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest
import yaml
from PIL import Image

from bot.bootstrap.config.file import read_configuration
from bot.observability import REGISTRY
from bot.settings import Settings
from tests.command_lines import command_lines, refused
from tests.readme import PICTURES, README, SAYS, brief_text, made

ROOT = README.parent
TEXT = README.read_text(encoding="utf-8")
DOCS = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md"))}
ALL = "\n".join((TEXT, *DOCS.values()))
# Words that are written like a setting and are none: the bot's answer, other programs' variables.
NOT_OURS = {"INSUFFICIENT_MEMORY", "HINDSIGHT_IMAGE", "NAME", "XDG_STATE_HOME"}
LOCKS = ("requirements.lock", "requirements-dev.lock", "requirements-dense.lock")


async def test_the_brief_and_the_settings_are_what_the_product_says(tmp_path: Path) -> None:
    for path, text in (await made(tmp_path)).items():
        assert path.read_text(encoding="utf-8") == text, "run: python -m tests.readme"


async def test_the_picture_says_what_the_product_says(tmp_path: Path) -> None:
    for path in PICTURES.values():
        assert f'"docs/{path.name}"' in TEXT
        with Image.open(path) as picture:
            assert picture.text[SAYS] == await brief_text(tmp_path), "run: python -m tests.picture"  # type: ignore[attr-defined]  # only PNG has it
        assert path.stat().st_size < 200_000


def test_it_is_short() -> None:
    assert len(TEXT.splitlines()) <= 150


@pytest.mark.parametrize("path", [README, *DOCS], ids=lambda path: path.name)
def test_every_command_line_is_accepted(path: Path) -> None:
    lines = list(command_lines(path.read_text(encoding="utf-8")))
    assert [(line, why) for line, partly in lines if (why := refused(line, partly=partly))] == []
    assert lines or path.name not in {"README.md", "install.md", "operating.md", "security.md"}


def test_command_lines_are_read_strictly() -> None:
    text = "`precedent nonsense`, `precedent backup FILE --no-such`\n\n    precedent backup\n    x | bin/precedent purge INC-1 > y\n"
    found = [refused(line, partly=partly) for line, partly in command_lines(text)]
    assert found[0] == "there is no command nonsense"
    assert "--no-such" in (found[1] or "")
    assert "Missing" in (found[2] or "")
    assert found[3:] == [None]


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


def test_the_scopes_that_security_tells_of_are_those_of_the_manifest() -> None:
    manifest = yaml.safe_load((ROOT / "manifest.yml").read_text(encoding="utf-8"))["oauth_config"]["scopes"]
    told = re.findall(
        r"^\| `([a-z_]+:?[a-z]*)` \| (yes|optional) \|", DOCS[ROOT / "docs" / "security.md"], re.MULTILINE
    )
    assert sorted(name for name, _ in told) == sorted(manifest["bot"])
    assert sorted(name for name, how in told if how == "optional") == sorted(manifest["bot_optional"])


def test_settings_that_the_documents_name_are_settings() -> None:
    known = {name.upper() for name in Settings.model_fields}
    for name in ("install.md", "operating.md", "security.md"):
        assigned = re.findall(r"(?<![A-Za-z$_-])([A-Z]+(?:_[A-Z]+)+)(?==| |`)", DOCS[ROOT / "docs" / name])
        named = {n.removesuffix("_FILE") for n in assigned}
        assert named - known <= NOT_OURS, name


def test_the_retention_that_security_tells_of_is_the_default() -> None:
    rows = re.findall(r"\| (\d+) (hours|days) \| `([A-Z_]+)` \|", DOCS[ROOT / "docs" / "security.md"])
    assert {name for _, _, name in rows} == {n.upper() for n in Settings.model_fields if n.startswith("keep_")}
    for number, unit, name in rows:
        assert (Settings.model_fields[name.lower()].default, name.rpartition("_")[2].lower()) == (int(number), unit)


def test_the_metrics_that_operating_tells_of_are_there() -> None:
    there = {family.name for family in REGISTRY.collect()} | {f"{family.name}_total" for family in REGISTRY.collect()}
    named = set(re.findall(r"\bprecedent_[a-z_]+", DOCS[ROOT / "docs" / "operating.md"]))
    assert len(named) > 5
    assert named <= there
