"""Records corrected from a terminal, and the audit log that says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Precedent

RECORD = {
    "incident_id": "INC-7",
    "title": "Ledger drifts on quagga",
    "service": "ledger",
    "attempts": [{"fix": "flush the quagga cache", "status": "VERIFIED"}],
}


@pytest.fixture
def precedent(tmp_path: Path) -> Precedent:
    made = Precedent(tmp_path)
    assert made("import", "-", stdin=json.dumps(RECORD) + "\n", EMBEDDINGS="off").returncode == 0
    return made


def recalled(precedent: Precedent) -> list[str]:
    ran = precedent("recall", "--jsonl", stdin='{"text": "quagga ledger drifts"}\n', EMBEDDINGS="off")
    return [p["incident_id"] for p in json.loads(ran.stdout)["precedents"]]


def audited(precedent: Precedent, *arguments: str) -> list[dict[str, Any]]:
    ran = precedent("audit", "export", *arguments)
    assert ran.returncode == 0, ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()]


def test_an_edit_says_what_changed_and_the_log_keeps_before_and_after(precedent: Precedent) -> None:
    ran = precedent("edit", "INC-7", "--root-cause", "a cron job", "--failed-checks", "DNS, 10", "--by", "ann")
    assert json.loads(ran.stdout)["changed"] == [
        {"field": "root_cause", "before": "", "after": "a cron job"},
        {"field": "failed_checks", "before": "", "after": "DNS, 10"},
    ]
    imported, edited = audited(precedent)
    assert (imported["actor"], imported["action"], imported["object"]) == ("import", "import", "INC-7")
    assert (edited["actor"], edited["action"]) == ("ann", "edit")
    assert edited["before"] == {"root_cause": None, "failed_checks": []}
    assert edited["after"] == {"root_cause": "a cron job", "failed_checks": [{"check": "DNS", "minutes": 10.0}]}
    assert edited["at"].endswith("Z")


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("edit", "INC-7"), 2, "say what to change"),
        (("edit", "INC-7", "--title", " "), 1, "title: A record needs a title."),
        (("edit", "INC-7", "--boundary", "us"), 1, "boundary: Choose one."),
        (("edit", "INC-8", "--title", "x"), 1, "no record of INC-8"),
        (("retract", "INC-7"), 2, "say why"),
        (("retract", "INC-8", "--reason", "x"), 1, "no record of INC-8"),
        (("purge", "INC-7"), 2, "say why"),
        (("audit", "export", "--since", "yesterday"), 2, "--since: 12h, 30d, 2w or a date"),
    ],
)
def test_what_cannot_be_done_is_told(precedent: Precedent, arguments: tuple[str, ...], status: int, said: str) -> None:
    ran = precedent(*arguments)
    assert (ran.returncode, said in ran.stderr) == (status, True), ran.stderr
    assert recalled(precedent) == ["INC-7"]


def test_retracted_is_recalled_no_more_until_it_is_imported_again(precedent: Precedent) -> None:
    assert recalled(precedent) == ["INC-7"]
    assert precedent("retract", "INC-7", "--reason", "a drill").returncode == 0
    assert recalled(precedent) == []
    assert audited(precedent)[-1]["before"]["title"] == RECORD["title"]
    line = json.dumps(RECORD) + "\n"
    assert "--again takes it" in precedent("import", "-", stdin=line, EMBEDDINGS="off").stderr
    assert recalled(precedent) == []
    precedent("import", "-", "--again", stdin=line, EMBEDDINGS="off")
    assert recalled(precedent) == ["INC-7"]


def test_purged_is_in_no_byte_and_again_is_no_error(precedent: Precedent, tmp_path: Path) -> None:
    precedent("edit", "INC-7", "--lesson", "the quagga lies")
    first = json.loads(precedent("purge", "INC-7", "--reason", "a customer's name").stdout)
    assert (first["was_there"], len(first["sha256"])) == (True, 64)
    assert [p.name for p in tmp_path.iterdir() if b"quagga" in p.read_bytes()] == []
    second = precedent("purge", "INC-7", "--reason", "a customer's name")
    assert json.loads(second.stdout) == {"incident_id": "INC-7", "was_there": False, "sha256": None}
    lines = audited(precedent)
    assert [line["action"] for line in lines] == ["import", "edit", "purge", "purge"]
    assert "quagga" not in json.dumps(lines)
    assert first["sha256"] in lines[2]["detail"]


def test_the_log_since_a_time(precedent: Precedent) -> None:
    assert len(audited(precedent, "--since", "1h")) == 1
    assert audited(precedent, "--since", "2199-01-01") == []
