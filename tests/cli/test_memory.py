from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import Precedent
from tests.databases import postgres_server

RECORDS = [
    {
        "incident_id": "INC-1",
        "title": "Payment gateway timeouts",
        "service": "payments-api",
        "vendor": "razorpay",
        "started_at": "2026-11-20T08:00:00Z",
        "root_cause": "vendor outage",
        "symptoms": ["gateway answers 504"],
        "attempts": [{"fix": "Fail over to stripe", "status": "VERIFIED"}],
    },
    {"incident_id": "INC-2", "title": "Disk full on orders-db", "service": "orders-db"},
]


@pytest.fixture
def precedent(tmp_path: Path) -> Precedent:
    return Precedent(tmp_path)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "records.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in RECORDS), encoding="utf-8")
    return path


def test_import_recall_export(precedent: Precedent, file: Path, tmp_path: Path) -> None:
    done = precedent("import", str(file), "--no-embed")
    assert (done.returncode, done.stderr) == (0, "")
    counts = {"read": 2, "added": 2, "replaced": 0, "unchanged": 0}
    assert json.loads(done.stdout) == counts | {"refused": [], "forgotten": []}

    again = precedent("import", str(file))
    assert json.loads(again.stdout)["unchanged"] == 2
    assert "Nothing changed" in again.stderr

    told = precedent("recall", "razorpay gateway 504 timeouts", "--limit", "1", "--json")
    answer = json.loads(told.stdout)
    assert [p["incident_id"] for p in answer["precedents"]] == ["INC-1"]
    assert (answer["known"], answer["query"]["vendor"], answer["missing"]) == (2, "razorpay", [])
    assert answer["precedents"][0]["date"] == "2026-11-20"

    shown = precedent("recall", "razorpay gateway 504 timeouts", "--vendor", "razorpay", "--service", "payments-api")
    assert shown.stdout.startswith("strong")
    assert "root cause: vendor outage" in shown.stdout
    assert "fix, worked: Fail over to stripe" in shown.stdout
    assert precedent("recall", "xyzzy").stdout == "Nothing in memory is like this (2 incidents known).\n"
    filed = precedent("recall", "vendor:Razorpay since:2026-11-01 limit:1")
    assert filed.stdout.startswith("INC-1  2026-11-20")
    assert "fix, worked: Fail over to stripe" in filed.stdout
    listed = precedent("recall", "--vendor", "razorpay", "--json")
    assert [i["incident_id"] for i in json.loads(listed.stdout)["incidents"]] == ["INC-1"]
    assert precedent("recall", "vendor:nobody").stdout == "No incident in memory has that.\n"
    assert precedent("recall", "payments limit:99").returncode == 2

    questions = '{"text": "disk full"}\n\n{"text": "xyzzy"}\n'
    lines = precedent("recall", "--jsonl", "--limit", "10", stdin=questions).stdout.splitlines()
    assert json.loads(lines[0])["precedents"][0]["incident_id"] == "INC-2"
    assert json.loads(lines[0])["precedents"][0].keys() == {"incident_id", "probability", "tier"}
    assert json.loads(lines[1]) == {"precedents": []}

    exported = precedent("export")
    assert [json.loads(line)["incident_id"] for line in exported.stdout.splitlines()] == ["INC-1", "INC-2"]
    to_file = precedent("export", str(tmp_path / "out.jsonl"))
    assert (to_file.returncode, to_file.stdout) == (0, "")
    assert (tmp_path / "out.jsonl").read_text(encoding="utf-8") == exported.stdout


def test_what_came_closest_is_named_with_what_to_ask_for(precedent: Precedent, tmp_path: Path) -> None:
    record = '{"incident_id": "PAY-7", "title": "Gateway 504s", "service": "payments-api", "vendor": "razorpay"}'
    (tmp_path / "one.jsonl").write_text(record, encoding="utf-8")
    assert precedent("import", str(tmp_path / "one.jsonl")).returncode == 0
    said = precedent("recall", "payments").stdout
    assert said.startswith("Nothing in memory is like this (1 incident known). Nearest: PAY-7 Gateway 504s (0.")
    assert said.endswith("; ask for it by service:payments-api vendor:razorpay.\n")


def test_one_incident_as_a_post_mortem(precedent: Precedent, file: Path, tmp_path: Path) -> None:
    assert precedent("import", str(file)).returncode == 0
    first = json.loads(precedent("export").stdout.splitlines()[0])
    told = precedent("export", "--postmortem", first["incident_id"])
    assert told.stdout.startswith(f"# {first['incident_id']}: ")
    assert "## Timeline" in told.stdout
    out = tmp_path / "out.md"
    assert precedent("export", str(out), "--postmortem", first["incident_id"]).returncode == 0
    assert out.read_text(encoding="utf-8") == told.stdout
    missing = precedent("export", "--postmortem", "INC-99")
    assert (missing.returncode, missing.stdout) == (1, "")
    assert "INC-99" in missing.stderr
    nowhere = precedent("export", str(tmp_path / "no" / "out.md"), "--postmortem", first["incident_id"])
    assert nowhere.returncode == 2


def test_bad_records_are_told_and_the_others_go_in(precedent: Precedent) -> None:
    done = precedent("import", "-", stdin='{"title": "no id"}\n' + json.dumps(RECORDS[0]) + "\n{\n")
    assert done.returncode == 1
    assert json.loads(done.stdout)["added"] == 1
    assert "-:1: incident_id: is missing; a record needs an id and a title" in done.stderr
    assert "-:3: is not JSON" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "stdin", "status", "says"),
    [
        (("import", "nowhere.jsonl"), "", 2, "there is no file"),
        (("recall",), "", 2, "give a text, a filter, or --jsonl"),
        (("recall", "--jsonl"), "not json\n", 1, "line 1 of standard input"),
        (("recall", "--jsonl"), '{"words": 1}\n', 1, "line 1 of standard input"),
        (("export", "no/such/folder/file"), "", 2, "cannot be written"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(
    precedent: Precedent, arguments: tuple[str, ...], stdin: str, status: int, says: str
) -> None:
    done = precedent(*arguments, stdin=stdin)
    assert done.returncode == status
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_store_that_is_down_is_exit_3_without_a_traceback(precedent: Precedent, file: Path) -> None:
    done = precedent("import", str(file), DATABASE_URL="postgresql+asyncpg://u@127.0.0.1:1/d")
    assert done.returncode == 3
    assert "server cannot be reached" in done.stderr
    assert "Traceback" not in done.stderr


def test_migrating_sqlite_is_no_trouble(precedent: Precedent) -> None:
    assert precedent("migrate").returncode == 0


@pytest.mark.integration
def test_postgresql_says_that_it_wants_migrating(precedent: Precedent, file: Path) -> None:
    base = postgres_server().rpartition("/")[0]
    unmigrated = precedent("import", str(file), DATABASE_URL=f"{base}/template1")
    assert unmigrated.returncode == 3
    assert "precedent migrate" in unmigrated.stderr


def test_a_bad_byte_or_a_byte_order_mark_costs_one_line_at_most(precedent: Precedent, tmp_path: Path) -> None:
    path = tmp_path / "odd.jsonl"
    good = [json.dumps(record).encode() for record in RECORDS]
    path.write_bytes(b"\xef\xbb\xbf" + b"\r\n".join([good[0], b'{"incident_id": "X", "title": "\xff"}', good[1], b""]))
    done = precedent("import", str(path))
    told = json.loads(done.stdout)
    assert (done.returncode, told["added"]) == (1, 2)
    assert told["refused"] == [{"file": str(path), "line": 2, "field": "", "reason": "is not UTF-8 at column 32"}]


def test_questions_that_are_none_are_told_in_their_place(precedent: Precedent, file: Path) -> None:
    precedent("import", str(file))
    bad = ['{"text": 5}', '{"n": ' + "9" * 5_000 + "}", "[" * 100_000, "5"]
    asked = ['{"text": "disk full"}', *bad, '{"text": "\\ud800 disk"}']
    told = precedent("recall", "--jsonl", stdin="\n".join(asked))
    answers = [json.loads(answer) for answer in told.stdout.splitlines()]
    assert told.returncode == 1
    assert [answer.get("line") for answer in answers] == [None, 2, 3, 4, 5, None]
    assert answers[2]["error"] == "holds a number that is too long"
    assert answers[5]["precedents"][0]["incident_id"] == "INC-2"
