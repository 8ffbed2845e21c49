from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import Precedent

RECORDS = [
    {
        "incident_id": f"INC-{n}",
        "title": "Ledger drift above the limit",
        "service": "ledger",
        "started_at": f"2026-10-0{n}T08:00:00Z",
        "attempts": [{"fix": fix, "status": "VERIFIED"}],
    }
    for n, fix in ((1, "Flush the ledger cache"), (2, "Clean out the ledger store"), (3, "flushed ledger cache"))
]


@pytest.fixture
def precedent(tmp_path: Path) -> Precedent:
    made = Precedent(tmp_path)
    lines = "".join(json.dumps(record) + "\n" for record in RECORDS)
    assert made("import", "-", "--no-embed", stdin=lines).returncode == 0
    return made


def best(precedent: Precedent) -> tuple[int, str]:
    text = json.dumps({"text": "Ledger drift above the limit"})
    told = json.loads(precedent("brief", "-", "--json", "--at", "2026-11-01T00:00:00Z", stdin=text).stdout)
    return told["recommendation"]["successes"], told["recommendation"]["explanation"]


def test_the_operator_merges_splits_and_takes_back(precedent: Precedent) -> None:
    listed = json.loads(precedent("fixes", "list").stdout)
    assert sorted(len(group) for group in listed["fixes"]) == [1, 2]
    id_of = {w["incident_id"]: w["id"] for group in listed["fixes"] for w in group}
    assert best(precedent)[0] == 2

    merged = json.loads(precedent("fixes", "merge", id_of["INC-1"], id_of["INC-2"], "--by", "ada").stdout)
    assert (merged["fixes"], merged["by"]) == ("one", "ada")
    successes, explanation = best(precedent)
    assert successes == 3
    assert "3 wordings counted as one fix, as a person said" in explanation

    split = json.loads(precedent("fixes", "split", id_of["INC-3"], id_of["INC-1"]).stdout)
    assert best(precedent)[0] == 2
    shown = json.loads(precedent("fixes", "list", "STORE").stdout)
    assert [len(group) for group in shown["fixes"]] == [2]
    assert [each["number"] for each in shown["said"]] == [merged["number"], split["number"]]

    assert precedent("fixes", "undo", str(split["number"])).returncode == 0
    assert best(precedent)[0] == 3
    assert precedent("fixes", "undo", str(split["number"])).returncode == 1
    audit = [json.loads(line)["action"] for line in precedent("audit", "export").stdout.splitlines()]
    assert audit[-3:] == ["file fixes", "file fixes", "undo file fixes"]


@pytest.mark.parametrize("other", ["nowhere", ""])
def test_what_cannot_be_merged_is_told(precedent: Precedent, other: str) -> None:
    listed = json.loads(precedent("fixes", "list").stdout)
    first = listed["fixes"][0][0]["id"]
    done = precedent("fixes", "merge", first, other or first)
    assert done.returncode == 1
    assert ("there is no wording nowhere" if other else "worded the same") in done.stderr
