"""Golden cases: one Slack event each, and the facts that must be read in it. A parser without a case fails."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from bot.parsers import PARSERS, read
from bot.parsers.message import parse_message
from bot.parsers.shape import build_shape
from tests.parsers.cases_support import CASES, NAMES, event, holds

KEYS = {
    "is_alert", "kind", "tool", "state", "title", "severity", "severity_raw", "service", "environment", "region", "vendor", "symptoms", "links", "labels",
    "fingerprint", "delivery", "alerts", "truncated",
}  # fmt: skip
# Replies that name nothing of the alert but its thread: only the thread tells which alert they belong to.
BY_THREAD = {"better_stack/acknowledged"}


def facts(name: str) -> dict[str, Any]:
    loaded = json.loads((CASES / f"{name}.alert.json").read_text(encoding="utf-8"))
    assert isinstance(loaded, dict)
    return loaded


@cache
def reading(name: str) -> dict[str, Any]:
    return build_shape(read(event(name)))


@pytest.mark.parametrize("name", NAMES)
def test_a_case_reads_as_its_facts(name: str) -> None:
    want, got = facts(name), reading(name)
    exact = (
        "is_alert",
        "kind",
        "delivery",
        "tool",
        "state",
        "title",
        "severity",
        "service",
        "environment",
        "region",
        "vendor",
    )
    assert {k: got.get(k) for k in exact if k in want} == {k: want[k] for k in exact if k in want}
    assert [s for s in want.get("symptoms", []) if not holds(s, got["symptoms"])] == []
    assert [u for u in want.get("links", []) if not any(x.startswith(u) for x in got["links"].values())] == []
    assert {k: got["labels"].get(k) for k in want.get("labels", {})} == want.get("labels", {})
    for member in want.get("alerts", []):
        assert any({**m["labels"], **m}.items() >= member.items() for m in map(flat, got["alerts"])), member


def flat(member: dict[str, Any]) -> dict[str, Any]:
    """A member with its labels beside its state."""
    return {"labels": {}, "state": member["state"], **member["labels"]}


@pytest.mark.parametrize("name", [n for n in NAMES if facts(n)["is_alert"] and n not in BY_THREAD])
def test_fingerprints_join_what_is_the_same_alert_and_part_what_is_not(name: str) -> None:
    want, got = facts(name), reading(name)
    if "same_alert_as" in want:
        assert got["fingerprint"] == reading(want["same_alert_as"])["fingerprint"]
    for other in want.get("different_from", []):
        assert got["fingerprint"] != reading(other)["fingerprint"]


@pytest.mark.parametrize("name", NAMES)
def test_the_printed_keys_are_the_contract(name: str) -> None:
    got = reading(name)
    assert set(got) == (KEYS if got["is_alert"] else {"is_alert", "kind", "reason", "delivery"})


def test_every_parser_has_a_case() -> None:
    used = {next(p for p in PARSERS if p.matches(parse_message(event(n)))).__name__ for n in NAMES}
    assert used == {parser.__name__ for parser in PARSERS}
