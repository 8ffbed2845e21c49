"""How much of a post is interpreted: a hostile or very long one must not hold up the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from bot.domain.alerts.alert import Alert
from bot.parsers import read
from bot.parsers.common.bare_values import name_values
from bot.parsers.common.symptoms import find_metrics
from bot.parsers.message import LIMIT_BYTES, LONGEST_BODY, LONGEST_TEXT, parse_message

FILLERS = ["> ", "- ", "1 ", "a=b ", "| ", "(", "[", "*", "`", "\n", "key: ", "😀", "x" * 70 + " ", "504 "]


def post(**event: Any) -> dict[str, Any]:
    return {"type": "message", "subtype": "bot_message", "bot_id": "B1", "ts": "1795981200.1", **event}


def test_only_the_first_values_are_named() -> None:
    assert name_values(["x"] * 99 + ["prod"]) == {"env": "prod", "container": "x"}
    assert name_values(["x"] * 100 + ["prod"]) == {}


def test_a_value_is_named_by_the_next_name_however_far_and_by_the_one_before() -> None:
    assert name_values(["api", "zz", "prod"]) == {"container": "api", "env": "prod"}
    assert name_values(["10.8.0.21", "node", "eu-west-1", "api", "critical", "core"]) == {
        "instance": "10.8.0.21",
        "job": "node",
        "region": "eu-west-1",
        "service": "api",
        "severity": "critical",
        "team": "core",
    }


def test_metrics_are_read_in_the_first_lines_with_numbers() -> None:
    lines = [f"queue depth is {n}" for n in range(100)]
    assert [s.value for s in find_metrics("\n".join(["no number", *lines]))] == [str(n) for n in range(30)]


@pytest.mark.parametrize("filler", FILLERS)
def test_what_is_interpreted_of_any_filler_is_bounded(filler: str) -> None:
    text = "[FIRING:1] Big svc (prod critical) " + (filler * 65_000)[:65_000]
    cards = [{"color": "danger", "title": "[FIRING:1] Big", "text": text, "fields": [{"title": "Zone", "value": "z1"}]}]
    for event in (post(text=text), post(attachments=cards * 9)):
        message = parse_message(event)
        assert len(message.body) <= LONGEST_BODY + 1
        assert all(len(part) <= LONGEST_TEXT for part in (message.text, *(c.text for c in message.cards)))
        assert isinstance(read(event), Alert)


def test_fields_after_a_long_text_are_still_read() -> None:
    log = "\n".join(f"{n} ERROR POST /v1/capture 504" for n in range(1200))
    found = read(
        post(
            text="CRITICAL: payments down\n" + log, attachments=[{"fields": [{"title": "Service", "value": "ledger"}]}]
        )
    )
    assert isinstance(found, Alert)
    assert (found.service, found.truncated) == ("ledger", False)


def test_a_text_is_cut_between_words() -> None:
    body = parse_message(post(text="a " * 5_990 + "password=" + "x" * 90)).body
    assert body.endswith("a")
    assert "pass" not in body


class Node(Mapping[str, Any]):
    """A text element that counts how often its text is asked for."""

    asked = 0

    def __getitem__(self, key: str) -> Any:
        Node.asked += key == "text"
        return {"type": "text", "text": "y" * 1_000}[key]

    def __iter__(self) -> Iterator[str]:
        return iter(("type", "text"))

    def __len__(self) -> int:
        return 2


def test_nested_elements_after_the_limit_are_not_looked_at() -> None:
    Node.asked = 0
    sections = [{"type": "rich_text_section", "elements": [Node()] * 100} for _ in range(100)]
    message = parse_message(post(blocks=[{"type": "rich_text", "elements": sections}]))
    assert message.truncated
    assert Node.asked <= LIMIT_BYTES // 1_000 + 2


def test_addresses_and_alternative_texts_have_a_limit_of_their_own() -> None:
    actions = [{"text": "Run", "url": f"https://x.example/{n}/" + "y" * 3_900} for n in range(100)]
    message = parse_message(post(text="db-1 is down", attachments=[{"actions": actions, "fallback": "z" * 9_000}] * 9))
    assert sum(len(link.url) for link in message.links) <= LIMIT_BYTES
    assert not message.truncated
