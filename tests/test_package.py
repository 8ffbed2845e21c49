"""What is published works where there is no checkout: the sdist builds a wheel with every file, and that runs the demo."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PUBLISHED = ("bot", "deploy", "docs", "seeds")
PASSING = shutil.ignore_patterns("__pycache__", "*.py[cod]")
BUILD = "import sys; from setuptools import build_meta as b; print(getattr(b, 'build_' + sys.argv[1])(sys.argv[2]))"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made from the unpacked sdist, which is made from a copy of the tree: a build leaves files behind."""
    work = tmp_path_factory.mktemp("package")
    tree, unpacked = work / "tree", work / "unpacked"
    tree.mkdir()
    for folder in PUBLISHED:
        shutil.copytree(ROOT / folder, tree / folder, ignore=PASSING)
    for file in ROOT.iterdir():
        if file.is_file() and file.name not in {".git", ".env"}:
            shutil.copy2(file, tree)
    with tarfile.open(built("sdist", tree, work)) as sdist:
        sdist.extractall(unpacked, filter="data")
    (top,) = unpacked.iterdir()
    return built("wheel", top, work)


def built(kind: str, tree: Path, into: Path) -> Path:
    done = subprocess.run(
        [sys.executable, "-c", BUILD, kind, str(into)], check=False, cwd=tree, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return into / done.stdout.splitlines()[-1]


def expected() -> dict[str, bytes]:
    """Every file of the package, and those that it carries, as they are here."""
    sources = [(ROOT / "bot", "bot"), (ROOT / "seeds", "bot/_files/seeds")]
    files = {
        f"{under}/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for folder, under in sources
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    return files | {"bot/_files/manifest.yml": (ROOT / "manifest.yml").read_bytes()}


def test_the_wheel_of_the_sdist_holds_every_file(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as packed:
        held = {name: packed.read(name) for name in packed.namelist() if ".dist-info/" not in name}
        (licence,) = (name for name in packed.namelist() if name.endswith("LICENSE"))
    want = expected()
    assert sorted(held) == sorted(want)
    assert [name for name in want if held[name] != want[name]] == []
    assert licence


@pytest.mark.integration
def test_it_runs_where_there_is_no_checkout(wheel: Path, tmp_path: Path) -> None:
    site, elsewhere = tmp_path / "site", tmp_path / "elsewhere"
    elsewhere.mkdir()
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-index",
        "--no-deps",
        "--no-compile",
        "--target",
        str(site),
    ]
    subprocess.run([*pip, str(wheel)], check=True, timeout=180)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("COV")} | {"PYTHONPATH": str(site)}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            arguments, check=False, cwd=elsewhere, env=environment, capture_output=True, text=True, timeout=180
        )

    where = run(sys.executable, "-c", "import bot; print(bot.__file__)").stdout
    assert Path(where.strip()).is_relative_to(site)
    demo = run(sys.executable, str(site / "bin" / "precedent"), "demo")
    assert demo.returncode == 0, demo.stderr
    assert "worked 3 of 3 (HIGH)" in demo.stdout
    assert "INSUFFICIENT_MEMORY" in demo.stdout
    doctor = run(sys.executable, str(site / "bin" / "precedent"), "doctor")
    assert (doctor.returncode, "SLACK_BOT_TOKEN" in doctor.stdout) == (3, True)
    assert list(elsewhere.iterdir()) == []
