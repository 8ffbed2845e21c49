from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from bot.cli.records.import_records import format_row
from tests.builders import an_incident
from tests.cli.command import ROOT, Precedent
from tests.cli.histories import BAD, GOOD, write_histories


@pytest.fixture
def precedent(tmp_path: Path) -> Precedent:
    return Precedent(tmp_path)


def test_a_folder_of_histories_comes_in_once_and_what_is_bad_is_explained(precedent: Precedent, tmp_path: Path) -> None:
    folder = tmp_path / "history"
    folder.mkdir()
    write_histories(folder)

    nowhere = tmp_path / "untouched" / "cli.db"
    tried = precedent("import", str(folder), "--dry-run", DATABASE_URL=f"sqlite+aiosqlite:///{nowhere}")
    assert tried.returncode == 1
    assert tried.stdout.count(" refused: ") == BAD
    assert "tickets.csv (csv): 96 records, 5 refused" in tried.stdout
    assert "columns: Number → incident_id; Headline → title; Component → service" in tried.stdout
    assert "PD-7  " in tried.stdout
    assert not nowhere.parent.exists()

    first = precedent("import", str(folder), "--no-embed")
    told = json.loads(first.stdout)
    assert first.returncode == 1
    assert (told["read"], told["added"], told["replaced"], told["unchanged"]) == (GOOD + BAD, GOOD, 0, 0)
    assert len(told["refused"]) == BAD
    assert all(bad["file"] and bad["line"] and bad["reason"] for bad in told["refused"])
    assert "tickets.csv:13: started_at: can be read in two ways" in first.stderr
    assert "latin.md:1: is not UTF-8" in first.stderr
    assert "Traceback" not in first.stderr

    again = json.loads(precedent("import", str(folder), "--no-embed").stdout)
    assert (again["added"], again["replaced"], again["unchanged"]) == (0, 0, GOOD)

    exported = [json.loads(line) for line in precedent("export").stdout.splitlines()]
    by_id = {record["incident_id"]: record for record in exported}
    assert len(by_id) == GOOD
    assert {"OLD-5", "T-5", "PD-5", "OPS-5", "REL-5", "IIO-INC-5", "PM-write-ups-2026-03-05-dns"} <= by_id.keys()
    assert [a["status"] for n in (0, 1, 2) for a in by_id[f"T-{n}"]["attempts"]] == ["VERIFIED", "FAILED", "UNVERIFIED"]
    assert all(a["how"] == "import" for record in exported for a in record["attempts"])
    assert by_id["REL-5"]["attempts"][0] | {"fix": "roll back"} == by_id["REL-5"]["attempts"][0]


def test_a_table_that_does_not_tell_its_title_is_asked_about_once(precedent: Precedent, tmp_path: Path) -> None:
    table, kept = tmp_path / "x.csv", tmp_path / "columns.json"
    table.write_text("Nr,Was,Wann\n1,Platte voll password=hunter2hunter2,2026-01-02\n", encoding="utf-8")
    asked = precedent("import", str(table), "--mapping", str(kept))
    assert (asked.returncode, asked.stdout) == (2, "")
    assert 'They are: Nr, Was, Wann. Say which is, with --map "Nr=title"' in asked.stderr

    said = precedent(
        "import",
        str(table),
        "--map",
        "Was=title",
        "--map",
        "Nr=incident_id",
        "--map",
        "Wann=started_at",
        "--mapping",
        str(kept),
    )
    assert json.loads(said.stdout)["added"] == 1
    assert json.loads(kept.read_text()) == {"Was": "title", "Nr": "incident_id", "Wann": "started_at"}
    assert json.loads(precedent("import", str(table), "--mapping", str(kept)).stdout)["unchanged"] == 1
    record = json.loads(precedent("export").stdout)
    assert (record["title"], record["started_at"]) == ("Platte voll password=[masked:secret]", "2026-01-02T00:00:00Z")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--map", "Was=headline"), "headline: no such field; fields are incident_id, title"),
        (("--map", "title"), "should be COLUMN=FIELD"),
        (("--mapping", "{folder}/bad.json"), "bad.json should be an object"),
        (("--map", "Was=title", "--mapping", "{folder}/no/such.json"), "cannot be written"),
    ],
)
def test_a_mapping_that_cannot_be_used_is_told(
    precedent: Precedent, tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    (tmp_path / "x.csv").write_text("Was\nx\n")
    (tmp_path / "bad.json").write_text("[1]")
    done = precedent("import", str(tmp_path / "x.csv"), *(a.format(folder=tmp_path) for a in arguments))
    assert done.returncode == 2
    assert says in done.stderr


def test_a_folder_without_histories_is_told(precedent: Precedent, tmp_path: Path) -> None:
    (tmp_path / "x.png").write_bytes(b"x")
    done = precedent("import", str(tmp_path))
    assert done.returncode == 2
    assert "holds no file that ends in one of .md" in done.stderr


def test_at_a_terminal_it_asks_for_each_column_it_does_not_know(precedent: Precedent, tmp_path: Path) -> None:
    table = tmp_path / "x.csv"
    table.write_text("Was,Wo\nPlatte voll,db\n", encoding="utf-8")
    ours, theirs = pty.openpty()
    environment = dict(os.environ) | {"DATABASE_URL": f"sqlite+aiosqlite:///{tmp_path / 'cli.db'}", "EMBEDDINGS": "off"}
    command = [sys.executable, "-m", "bot", "import", str(table), "--dry-run"]
    with subprocess.Popen(
        command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment
    ) as running:
        os.close(theirs)
        os.write(ours, b"headline\ntitle\nservice\n")
        shown, asked = running.communicate(timeout=60)
    os.close(ours)
    assert "Was (one of the fields):" in asked
    assert "Platte voll" in shown
    assert " db " in shown


def test_a_terminal_obeys_nothing_that_a_file_says() -> None:
    found = an_incident("X\x1b[2J1", title="one\ntwo\x1b]0;owned\x07", service="s\u202ex", evidence={"A\x1b": "b"})
    cells = format_row(found)
    assert all(cell.isprintable() for cell in cells)
    assert cells[-1].startswith("one two ]0;owned")
    assert "(kept as text: A )" in cells[-1]
