"""`brief`, `resolve` and `digest` from a terminal."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.cli.command import Precedent
from tests.ports import free_port

EVENT = {
    "type": "message",
    "subtype": "bot_message",
    "bot_id": "B1",
    "ts": "1795921200.000100",
    "attachments": [
        {
            "color": "a30200",
            "title": "[FIRING:1] LedgerDrift ledger-export (prod eu-west-1 critical)",
            "fields": [{"title": "Service", "value": "ledger-export"}],
        }
    ],
}
RECORD = {
    "incident_id": "OLD-1",
    "title": "LedgerDrift",
    "service": "ledger-export",
    "boundary": "internal",
    "root_cause": "compaction",
    "attempts": [{"fix": "Pause the job; rebuild the partition", "status": "VERIFIED"}],
    "failed_checks": [{"check": "Disk errors", "minutes": 20}],
    "alerts": [{"title": "LedgerDrift"}],
    "started_at": "2026-11-01T10:00:00Z",
}
KEYS = [
    "verdict", "alert", "incident", "memory_mode", "insufficient_memory", "boundary", "root_cause", "steps", "step_warnings",
    "recommendation", "alternatives", "did_not_work", "skip", "later", "evidence", "contradictions", "sources", "possible", "missing",
]  # fmt: skip


@pytest.fixture
def precedent(tmp_path: Path) -> Precedent:
    command = Precedent(tmp_path)
    records = tmp_path / "records.jsonl"
    records.write_text(json.dumps(RECORD) + "\n")
    assert command("import", str(records)).returncode == 0
    return command


def test_a_source_that_is_down_is_named_only_if_evidence_is_asked_for(precedent: Precedent, tmp_path: Path) -> None:
    config = tmp_path / "precedent.toml"
    config.write_text(f'[prometheus.main]\nurl = "http://127.0.0.1:{free_port()}"\n')
    (tmp_path / "event.json").write_text(json.dumps(EVENT))
    asked = ("brief", str(tmp_path / "event.json"), "--json")
    found = json.loads(precedent(*asked, "--evidence", PRECEDENT_CONFIG=str(config)).stdout)["evidence"]
    assert [(one["source"], one["state"]) for one in found] == [("main", "unavailable")]
    assert "connect" in found[0]["reason"]
    assert json.loads(precedent(*asked, PRECEDENT_CONFIG=str(config)).stdout)["evidence"] == []


def test_the_brief_of_an_event_as_json(precedent: Precedent, tmp_path: Path) -> None:
    file = tmp_path / "event.json"
    file.write_text(json.dumps({"event": EVENT}))
    ran = precedent("brief", str(file), "--json")
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert list(found) == KEYS
    assert found["steps"] == ["Pause the job", "rebuild the partition"]
    assert found["recommendation"]["confidence"] == "MEDIUM"
    assert found["root_cause"] == {"text": "compaction", "verified": True, "incident_id": "OLD-1"}
    assert found["skip"][0]["check"] == "Disk errors"
    assert found["alert"]["service"] == "ledger-export"
    assert found["incident"] is None
    assert precedent("brief", str(file), "--json").stdout == ran.stdout


def test_the_brief_as_text_from_standard_input(precedent: Precedent) -> None:
    ran = precedent("brief", "-", stdin=json.dumps(EVENT))
    assert "1. Pause the job" in ran.stdout
    assert "OLD-1" in ran.stdout


def test_without_memory_nothing_is_said_of_the_past(precedent: Precedent) -> None:
    ran = precedent("brief", "-", "--no-memory", "--json", stdin=json.dumps(EVENT))
    found = json.loads(ran.stdout)
    assert found["memory_mode"] == "off"
    assert "OLD-1" not in ran.stdout
    assert found["root_cause"] is None


def test_a_text_is_taken_for_an_alert(precedent: Precedent) -> None:
    ran = precedent("brief", "--text", "something odd happens with the toaster", "--json")
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["insufficient_memory"] is not None
    assert found["root_cause"] is None


@pytest.mark.parametrize("ts", ["1e400", "9" * 400, "253402300800", "-1.5", "²", None, 5])
def test_an_event_with_an_odd_time_or_half_a_character_gets_its_brief(precedent: Precedent, ts: object) -> None:
    event = {"text": "CRITICAL: db-1 is down \ud800", "bot_id": "B1", "subtype": "bot_message", "ts": ts}
    assert precedent("brief", "-", stdin=json.dumps(event)).returncode == 0
    assert precedent("brief", "-", stdin='{"text": "db-1 \\ud800 password=hunter22"}').returncode == 0


def test_the_time_decides_how_old_a_success_is(precedent: Precedent) -> None:
    late = json.loads(precedent("brief", "-", "--json", "--at", "2027-11-29T00:00:00", stdin=json.dumps(EVENT)).stdout)
    assert late["recommendation"]["last_worked"] == "2026-11-01T10:00:00Z"


@pytest.mark.parametrize(
    ("arguments", "stdin", "status", "says"),
    [
        (("brief",), "", 2, "give one of"),
        (("brief", "-", "--text", "x"), "{}", 2, "give one of"),
        (("brief", "nowhere.json"), "", 2, "no file"),
        (("brief", "-"), "{oops", 1, "not JSON"),
        (("brief", "-"), "[1]", 1, "no Slack message event"),
        (("brief", "-"), '{"n": ' + "9" * 5_000 + "}", 1, "a number that is too long"),
        (("brief", "-"), "[" * 100_000, 1, "nested too deeply"),
        (("brief", "-"), '{"ts": NaN}', 1, "NaN is no number"),
        (("brief", "-"), '{"type": "message", "user": "U1", "text": "lunch?"}', 1, "no alert"),
        (("brief", "--text", "x", "--at", "soon"), "", 2, "is no time"),
        (("brief", "--text", " "), "", 2, "--text is empty"),
        (("resolve", "INC-99", "--outcome", "by_itself"), "", 1, "INC-99"),
        (("resolve", "OLD-1", "--outcome", "recovered"), "", 1, "what was done"),
        (("resolve", "OLD-1", "--outcome", "no", "--fix", "x", "--failed-check", "DNS=soon"), "", 2, "no number"),
        (("digest", "--days", "0"), "", 2, "--days"),
    ],
)
def test_bad_input_ends_in_one_sentence(
    precedent: Precedent, arguments: tuple[str, ...], stdin: str, status: int, says: str
) -> None:
    ran = precedent(*arguments, stdin=stdin)
    assert ran.returncode == status
    assert says in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_database_that_cannot_be_opened_is_exit_3(precedent: Precedent) -> None:
    ran = precedent("brief", "--text", "x", DATABASE_URL="sqlite+aiosqlite:////proc/nowhere/x.db")
    assert ran.returncode == 3
    assert "Traceback" not in ran.stderr
    assert len(ran.stderr.strip().splitlines()) == 1


def test_a_bad_setting_is_named(precedent: Precedent) -> None:
    ran = precedent("digest", DIGEST_HOUR="25")
    assert ran.returncode == 2
    assert "DIGEST_HOUR" in ran.stderr


def test_the_digest_as_json_and_as_text(precedent: Precedent) -> None:
    found = json.loads(precedent("digest", "--days", "60", "--json").stdout)
    assert set(found) >= {"period", "since", "until", "incidents", "families"}
    assert precedent("digest").returncode == 0


def test_the_picture_of_a_digest_is_written_where_something_happened(precedent: Precedent, tmp_path: Path) -> None:
    yesterday = (datetime.now(UTC) - timedelta(hours=20)).isoformat()
    assert precedent("digest", "--days", "1", "--picture", str(tmp_path / "no.png")).returncode == 1
    precedent("import", "-", stdin=json.dumps(RECORD | {"incident_id": "OLD-2", "started_at": yesterday}))
    assert precedent("digest", "--days", "1", "--picture", str(tmp_path / "a.png")).returncode == 0
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert precedent("digest", "--days", "1", "--picture", str(tmp_path / "none" / "a.png")).returncode == 2


def test_the_report_as_json_and_as_text(precedent: Precedent) -> None:
    found = json.loads(precedent("report", "--days", "60", "--json").stdout)
    assert (found["incidents"], found["acted_on"], found["acted_on_percent"]) == (0, {"part": 0, "of": 0}, None)
    assert found["until"].endswith("Z")
    assert "No incident began in this time" in precedent("report").stdout
