"""Whatever is given to `precedent parse`: an answer in JSON, or a sentence that says what is wrong."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from bot.cli import app
from bot.cli.parse import EventRejected, parse_slack_event
from bot.domain.alerts.alert import Alert
from bot.parsers import read
from bot.parsers.explained.rules import explain
from bot.parsers.shape import build_shape
from bot.records.alert_json import read_alert, write_alert
from tests.parsers.reading_support import SLACK_KEYS, VALUES

EVENTS = st.dictionaries(st.sampled_from(SLACK_KEYS), VALUES, max_size=8)
LOUD = EVENTS.map(lambda event: {**event, "bot_id": "B1", "subtype": "bot_message"})


@settings(max_examples=120, deadline=None)
@given(st.text(max_size=60) | st.sampled_from(['{"a":', "[1]", "null", "NaN", '{"text": 1e999}', "{}", '"x"']))
def test_any_text_is_an_event_or_is_refused_with_a_sentence(raw: str) -> None:
    problem = ""
    try:
        shown = json.dumps(build_shape(read(parse_slack_event(raw))), allow_nan=False)
        assert shown
    except EventRejected as refused:
        problem = str(refused)
        assert problem.startswith(("not JSON", "expected a JSON object"))  # both ways are right


@settings(max_examples=25, deadline=None)
@given(st.binary(max_size=80))
def test_any_bytes_end_with_a_status_of_the_contract(raw: bytes) -> None:
    done = CliRunner().invoke(app, ["parse", "--jsonl", "--explain"], input=raw)
    assert done.exit_code in {0, 1}
    assert all(json.loads(line) for line in done.stdout.splitlines())


@settings(max_examples=120, deadline=None)
@given(EVENTS | LOUD)
def test_any_event_is_explained_and_printed(event: dict[str, Any]) -> None:
    found = read(event)
    json.dumps({**build_shape(found), "explain": explain(event)}, ensure_ascii=False).encode()
    if isinstance(found, Alert):
        written = json.loads(json.dumps(write_alert(found)))
        assert build_shape(read_alert(written)) == build_shape(found)
