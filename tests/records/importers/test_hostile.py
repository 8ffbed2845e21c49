"""Whatever a file holds, a reader gives records and refusals and nothing else, in time that grows with the text."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.incidents.record import Incident
from bot.records.importers.detect import read_file
from bot.records.importers.entries import ImportForm
from bot.workflows.resolutions.transfer import RefusedLine, read_entries
from tests.records.importers.forms_support import SAMPLES, everything

KEYS = """incident_number tinyId fields key incident_status reference title notes status body created_at createdAt report
closeTime description names incidents issues data summary customfield_1 custom_field_entries incident_timestamp_values value
type doc content text"""
PIECES = KEYS.split()
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12) | st.sampled_from(PIECES)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(PIECES), inner, max_size=6),
    max_leaves=15,
)
MARKS = ["#", "# ", "## Root cause\n", "\n", "---\n", "```\n", "title", "id", ",", ";", '"', "|", "- ", "1. ", "date: "]
ODD = [
    "2026-01-02",
    "99999999999",
    "{",
    "}",
    "[",
    "]",
    ":",
    "\ud800",
    "\ufeff",
    "<!--",
    "**",
    "a",
    "é",
    "\t",
    "h2. x\n",
    "\0",
]
TEXTS = st.lists(st.sampled_from(MARKS + ODD), max_size=40).map("".join)


def check(name: str, text: str, form: ImportForm | None) -> None:
    for found in read_entries(name, read_file(name, text, form).entries):
        assert isinstance(found, Incident | RefusedLine)


@settings(max_examples=80, deadline=None)
@given(
    tree=TREES,
    form=st.sampled_from([None, ImportForm.PAGERDUTY, ImportForm.OPSGENIE, ImportForm.JIRA, ImportForm.INCIDENT_IO]),
)
def test_any_json_is_read_or_refused(tree: object, form: ImportForm | None) -> None:
    check("-", json.dumps(tree), form)
    if isinstance(tree, dict):
        check("-", json.dumps({"issues": [{"key": "A-1", "fields": tree}], "names": tree}), form)


@settings(max_examples=150, deadline=None)
@given(text=TEXTS, form=st.sampled_from([None, *ImportForm]), name=st.sampled_from(["x.md", "x.csv", "x.txt"]))
def test_any_text_is_read_or_refused(text: str, form: ImportForm | None, name: str) -> None:
    check(name, text, form)


def test_text_that_is_not_utf8_is_refused_as_a_whole_with_what_to_do() -> None:
    text = "title,root cause\nMüll,x\n".encode("latin-1").decode("utf-8", "surrogateescape")
    (refused,) = everything("x.csv", text)
    assert isinstance(refused, RefusedLine)
    assert refused.line == 2
    assert refused.reason.startswith("is not UTF-8 (it may be Latin-1 or UTF-16)")


@pytest.mark.parametrize("name", ["x.md", "x.csv", "x.json"])
def test_ten_megabytes_end_soon(name: str) -> None:
    texts = {
        "x.md": "# T\n\n## Root cause\n" + "word **and** a [ ( < # \\ word\n" * 350_000,
        "x.csv": 'title,root cause\n"never closed,' + "cell,;|\n" * 1_300_000,
        "x.json": '{"incidents": ['
        + ",".join(['{"incident_number": 1, "title": "", "body": {"details": "' + "word " * 400 + '"}}'] * 5_000)
        + "]}",
    }
    began = time.process_time()
    found = everything(name, texts[name])
    assert time.process_time() - began < 20  # seconds of work, whatever else runs
    assert not [one for one in found if isinstance(one, Incident)]


def test_deep_nesting_is_refused_not_followed() -> None:
    deep = {"type": "paragraph"}
    for _ in range(60):
        deep = {"type": "paragraph", "content": [deep]}  # type: ignore[dict-item] # a tree of any depth
    issue = {"key": "A-1", "fields": {"summary": "x", "description": {"type": "doc", "content": [deep]}}}
    assert isinstance(everything("-", json.dumps(issue))[0], Incident)
    assert isinstance(everything("-", '{"incident_id":"A","title":' + "[" * 5000 + "]" * 5000 + "}")[0], RefusedLine)


def test_samples_cut_anywhere_are_read_or_refused() -> None:
    for sample in sorted(SAMPLES.iterdir()):
        text = sample.read_text(encoding="utf-8")
        for length in range(0, len(text), 97):
            check(sample.name, text[:length], None)


def test_a_huge_cell_costs_its_own_row_only() -> None:
    refused, kept = everything("x.csv", "id,title,root cause\n1,big," + "x" * 300_000 + "\n2,small,y\n")
    assert isinstance(refused, RefusedLine)
    assert "is larger than 256 kB" in refused.reason
    assert isinstance(kept, Incident)


@pytest.mark.parametrize(
    ("name", "text"), [("x.csv", "title,root cause\nx,y\n"), ("x.md", "# T\n\n## Root cause\nx\n")]
)
def test_utf16_without_a_mark_is_named_as_such(name: str, text: str) -> None:
    (refused,) = everything(name, text.encode("utf-16-le").decode())
    assert isinstance(refused, RefusedLine)
    assert "UTF-16" in refused.reason
    assert len(everything("x.csv", "title,root cause\nx,y\n\0,z\n")) == 2
