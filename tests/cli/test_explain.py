"""`precedent parse --explain` and `precedent alerts test`: why a post was read as it was, and what would be answered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.parsers.explained.rules import explain
from tests.cli.command import Precedent

CASES = Path(__file__).parent.parent / "parsers" / "cases"
NAMES = sorted(str(p.relative_to(CASES))[: -len(".alert.json")] for p in CASES.glob("*/*.alert.json"))
TEXT = {"type": "message", "subtype": "bot_message", "bot_id": "B1", "ts": "1795981200.1", "channel": "C1"}
FIRING = {
    **TEXT,
    "text": "[DOWN] Card payments\nseverity: P1\nservice: Pay\nregion: eu-west-1\nenv: prod\nPOST https://api.stripe.com/v1 504",
}
RESOLVED = {**TEXT, "ts": "1795981300.1", "text": FIRING["text"].replace("[DOWN]", "[UP]")}


@pytest.fixture
def precedent(tmp_path: Path) -> Precedent:
    return Precedent(tmp_path)


def explained(precedent: Precedent, event: dict[str, Any], **settings: str) -> dict[str, Any]:
    done = precedent("parse", "--explain", stdin=json.dumps(event), **settings)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)["explain"]
    return found


def test_each_field_has_its_rule_and_its_place(precedent: Precedent, tmp_path: Path) -> None:
    config = tmp_path / "precedent.toml"
    config.write_text('[services.payments-api]\naliases = ["Pay"]\n')
    found = explained(precedent, FIRING, PRECEDENT_CONFIG=str(config))
    fields = found["fields"]
    assert found["parser"] == "generic"
    assert fields["state"] == {"value": "firing", "rule": "the token “DOWN” of a first line", "where": None}
    assert (fields["severity"]["rule"], fields["severity"]["where"]) == ("label “severity”", "text, line 2")
    assert fields["service"]["rule"] == "configuration [services.payments-api], for “Pay”"
    assert (fields["region"]["rule"], fields["region"]["where"]) == ("label “region”", "text, line 4")
    assert fields["environment"]["rule"] == "label “env”"
    assert fields["vendor"]["rule"] == "a host in an error (table of vendors)"
    assert fields["title"]["rule"] == "the first line that names it"
    assert found["labels"]["service"] == "text, line 3"


def test_a_parser_of_its_own_is_named_with_what_it_goes_by(precedent: Precedent) -> None:
    found = explained(precedent, json.loads((CASES / "alertmanager/default_firing.json").read_text()))
    assert found["parser"] == "alertmanager"
    assert "bracket title" in found["matched"]
    assert found["fields"]["title"]["rule"] == "parser alertmanager"
    assert found["fields"]["title"]["where"] == "attachments[0].title"
    assert found["fingerprint"]["parts"]


def test_what_is_not_stated_is_said_and_a_refusal_has_its_reason(precedent: Precedent) -> None:
    found = explained(precedent, {**TEXT, "text": "🔴 db-1 is down"})
    assert found["fields"]["vendor"] == {"value": None, "rule": "nothing in the post states it", "where": None}
    talk = explained(precedent, {"type": "message", "user": "U1", "text": "hi"})
    assert talk == {"parser": "generic", "kind": "chatter", "rule": "a person wrote it"}


@pytest.mark.parametrize("name", NAMES)
def test_every_case_can_be_explained_without_leaving_a_stated_field_out(name: str) -> None:
    event = json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))
    facts = json.loads((CASES / f"{name}.alert.json").read_text(encoding="utf-8"))
    found = explain(event)
    if not facts["is_alert"]:
        assert set(found) == {"parser", "kind", "rule"}
        return
    for field in ("state", "title", "severity", "service", "environment", "region", "vendor"):
        value = facts.get(field)
        assert (found["fields"][field]["value"] is None) == (value is None), field
        assert found["fields"][field]["rule"]


def test_a_severity_that_only_a_colour_tells_is_said_to_be_one() -> None:
    card = {"color": "warning", "title": "db-1 is down", "text": "[DOWN]"}
    fields = explain({**TEXT, "text": "", "attachments": [card]})["fields"]
    assert fields["severity"] == {"value": "warning", "rule": "a warning's colour or icon", "where": None}


def test_no_secret_is_quoted(precedent: Precedent) -> None:
    secret = "Zq9Xw7LeAk12"
    found = explained(precedent, {**TEXT, "text": f"[DOWN] db-1 password={secret} is down\npassword: {secret}"})
    assert secret not in json.dumps(found)


def test_replies_are_read_with_their_root_where_it_is_in_the_input(precedent: Precedent) -> None:
    reply = {**TEXT, "ts": "1795981400.1", "thread_ts": FIRING["ts"], "text": "<@U1> acknowledged the incident"}
    done = precedent("parse", "--jsonl", stdin="\n".join(map(json.dumps, (reply, FIRING))))
    first, second = map(json.loads, done.stdout.splitlines())
    assert (first["state"], first["fingerprint"], first["title"]) == (
        "acknowledged",
        second["fingerprint"],
        second["title"],
    )
    alone = json.loads(precedent("parse", stdin=json.dumps(reply)).stdout)
    assert (alone["title"], alone["fingerprint"] == second["fingerprint"]) == (None, False)


def test_alerts_test_shows_the_life_that_the_events_would_make(precedent: Precedent, tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    talk = {"type": "message", "user": "U1", "text": "hi"}
    file.write_text("\n".join(map(json.dumps, (FIRING, FIRING | {"ts": "1795981250.1"}, talk, RESOLVED))))
    done = precedent("alerts", "test", str(file))
    assert done.returncode == 0, done.stderr
    assert "it opens an incident (INC-1 of this rehearsal)\nanswered in its thread:" in done.stdout
    assert "INSUFFICIENT_MEMORY" in done.stdout
    assert "line 2: an alert" in done.stdout
    assert "it belongs to INC-1, which stays open" in done.stdout
    assert "line 3: no alert (chatter): a person wrote it. The bot says nothing." in done.stdout
    assert "INC-1 is cleared now\nits brief is changed:" in done.stdout
    assert done.stdout.count("answered in its thread") == 1
    listed = precedent("export")
    assert listed.stdout.strip() == ""


def test_alerts_test_takes_one_event_over_several_lines_and_refuses_what_is_none(precedent: Precedent) -> None:
    assert "opens an incident" in precedent("alerts", "test", "-", stdin=json.dumps(FIRING, indent=2)).stdout
    assert "it opens nothing" in precedent("alerts", "test", "-", stdin=json.dumps(RESOLVED)).stdout
    bad = precedent("alerts", "test", "-", stdin=json.dumps(FIRING) + "\n{oops\n")
    assert bad.returncode == 1
    assert "line 2: not JSON" in bad.stderr


def test_a_wrong_configuration_file_is_wrong_usage(precedent: Precedent, tmp_path: Path) -> None:
    config = tmp_path / "precedent.toml"
    config.write_text("[vendors.acme]\nalias = 1\n")
    for command in (("parse",), ("alerts", "test", "-")):
        done = precedent(*command, stdin=json.dumps(FIRING), PRECEDENT_CONFIG=str(config))
        assert done.returncode == 2
        assert "vendors.acme.alias" in done.stderr


def test_alerts_test_recalls_from_the_real_memory_and_changes_nothing_in_it(
    precedent: Precedent, tmp_path: Path
) -> None:
    fingerprint = json.loads(precedent("parse", stdin=json.dumps(FIRING)).stdout)["fingerprint"]
    record = {
        "incident_id": "INC-1",
        "title": "Card payments",
        "service": "Pay",
        "vendor": "stripe",
        "started_at": "2026-10-01T02:00:00Z",
        "root_cause": "The vendor's acquirer was down",
        "attempts": [{"fix": "Fail over to the second acquirer", "status": "VERIFIED"}],
        "alerts": [{"fingerprint": fingerprint, "tool": "generic", "title": "Card payments"}],
    }
    file = tmp_path / "records.jsonl"
    file.write_text(json.dumps(record))
    assert precedent("import", "--no-embed", str(file)).returncode == 0
    before = precedent("export").stdout
    done = precedent("alerts", "test", "-", stdin=json.dumps(FIRING))
    assert "Fail over to the second acquirer" in done.stdout
    assert precedent("export").stdout == before
