"""`precedent parse`: one result per event, line numbers for what is no event, exit status by outcome."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner, Result

from bot.cli import app

FIRING = {"type": "message", "ts": "1.0", "bot_id": "B1", "text": "🔴 db-1 is down"}


def parse(*args: str, stdin: str | bytes = "") -> Result:
    return CliRunner().invoke(app, ["parse", *args], input=stdin)


def test_one_event_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "event.json"
    file.write_text(json.dumps(FIRING, indent=2), encoding="utf-8")
    done = parse(str(file))
    assert done.exit_code == 0
    assert json.loads(done.stdout)["state"] == "firing"


def test_one_event_from_standard_input_is_the_default() -> None:
    assert json.loads(parse(stdin=json.dumps(FIRING)).stdout)["is_alert"] is True


def test_an_envelope_reads_as_its_event() -> None:
    done = parse(
        "--jsonl", "-", stdin=json.dumps({"type": "event_callback", "event": FIRING}) + "\n" + json.dumps(FIRING)
    )
    first, second = map(json.loads, done.stdout.splitlines())
    assert first == second


def test_a_bad_line_gets_a_sentence_an_object_and_status_1_and_the_rest_is_read() -> None:
    deep = "[" * 100_000
    lines = [json.dumps(FIRING), "{oops", "[1]", deep, json.dumps({"type": "message", "user": "U1", "text": "hi"})]
    done = parse("--jsonl", "-", stdin="\n".join(lines) + "\n\n")
    assert done.exit_code == 1
    printed = [json.loads(line) for line in done.stdout.splitlines()]
    assert [("error" in p, p.get("line")) for p in printed] == [
        (False, None),
        (True, 2),
        (True, 3),
        (True, 4),
        (False, None),
    ]
    assert printed[4] == {"is_alert": False, "kind": "chatter", "reason": "a person wrote it", "delivery": "post"}
    told = done.stderr.splitlines()
    assert len(told) == 3
    assert told[0].startswith("precedent parse: line 2: not JSON: ")
    assert told[1] == "precedent parse: line 3: expected a JSON object with a Slack event, got list"
    assert told[2] == "precedent parse: line 4: not JSON that can be read: nested too deeply"


def test_bytes_that_are_no_utf8_do_not_break_it() -> None:
    assert parse(stdin=b'{"text": "\xff down", "bot_id": "B1"}').exit_code == 0


def test_wrong_usage_exits_2(tmp_path: Path) -> None:
    missing = parse(str(tmp_path / "none.json"))
    assert missing.exit_code == 2
    assert "there is no file" in missing.stderr
    assert parse("--no-such-option").exit_code == 2


def test_a_number_of_thousands_of_digits_and_a_byte_order_mark() -> None:
    done = parse("--jsonl", stdin=b'\xef\xbb\xbf{"n": ' + b"9" * 5_000 + b'}\n{"text": "\\ud800"}\n')
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert done.exit_code == 1
    assert first == {"error": "not JSON that can be read: it holds a number that is too long", "line": 1}
    assert second["is_alert"] is False
    assert parse("-", stdin=b"\xef\xbb\xbf{}").exit_code == 0
