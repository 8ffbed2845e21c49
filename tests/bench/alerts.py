"""Benchmark of the reader: time and memory for 1 MB of one event, in ordinary and in hostile shapes.

`figures()` gives one row for each shape; run alone with `python -m tests.bench.alerts`, which exits 1 over a target.
Must not store or post anything.
"""

from __future__ import annotations

import json
import sys
import time
import tracemalloc
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bot.parsers import read
from bot.parsers.shape import build_shape

MEGABYTE = 1_000_000
MOST_MS = 50.0
MOST_MB = 50.0
ROUNDS = 3
HEAD = "[FIRING:1] GatewayErrors checkout-api (prod ap-south-1 critical)\n"
AM = "https://alertmanager.example/#/alerts?receiver=slack"


@dataclass(frozen=True, slots=True)
class Figure:
    """What one shape took: the best of some rounds in milliseconds, and the peak of memory in megabytes."""

    shape: str
    ms: float
    mb: float
    is_alert: bool

    @property
    def holds(self) -> bool:
        """Whether both targets are met."""
        return self.ms <= MOST_MS and self.mb <= MOST_MB


def post(text: str = "", **more: Any) -> dict[str, Any]:
    """A bot's message event."""
    return {"type": "message", "subtype": "bot_message", "bot_id": "B1", "ts": "1795981200.1", "text": text, **more}


def card(text: str, **more: Any) -> dict[str, Any]:
    """A bot's message with one attachment in Alertmanager's manner."""
    title = HEAD.strip()
    return post(attachments=[{"title": title, "title_link": AM, "color": "a30200", "text": text, **more}])


def fill(piece: str) -> str:
    """One megabyte of a piece."""
    return (piece * (MEGABYTE // len(piece) + 1))[:MEGABYTE]


# Lines of log dumps and lists as tools post them.
LOG = "2026-11-29T20:40:11Z ERROR POST https://api.gateway.example/v1/capture 504 in 30012 ms: upstream timed out (code=ETIMEDOUT)\n"
LIST = " - alertname = GatewayErrors\n - instance = 10.8.0.21:9100\n - value = 18.4%\n"
# One long line each: what a pattern could try in many ways.
LINES = {
    "spaces": " ", "letters": "a", "letters and spaces": "a ", "digits": "1", "digits and spaces": "1 ", "dots": "a.", "colons": "a: ", "wide colons": "：",
    "brackets": "[", "closed brackets": "[]", "nested brackets": "[(", "parentheses": "(", "angles": "<", "half links": "<http://a|", "stars": "*", "underscores": "_a",
    "backticks": "`", "quotes": '"', "braces": '{"a":', "equals": "a=", "pairs": "a=b ", "pipes": " | ", "dashes": "-", "dashes and spaces": " - ", "kebab": "a-", "capitals": "A_",
    "camel": "Aa", "slashes": "/", "addresses": "https://a.b/", "hosts": "a.b.", "mails": "a@", "percent": "1%", "values": "x is 1 > 2 ", "emoji": ":fire:", "tabs": "\t", "commas": ",1",
    "japanese": "障害", "combining": "e\u0301", "escaped": "&lt;", "tags": "env:prod,", "newlines": "\n", "bullets": "• ", "for a-b": "for a-b ", "exit": "exited with ", "of": "1 of 2 ", "state": "is DOWN ",
    "secret names": "token ", "secret values": "password=", "cards": "4242 ", "phones": "+1 2", "keys": "api_key_", "begin": "-----BEGIN ", "keyword": "mysql a ",
}  # fmt: skip


def shapes() -> dict[str, Callable[[], Mapping[str, Any]]]:
    """One megabyte of input, by name: ordinary shapes, then every hostile line as text and under a title."""
    ordinary: dict[str, Callable[[], Mapping[str, Any]]] = {
        "a log dump as text": lambda: post(HEAD + fill(LOG)),
        "a log dump in a card": lambda: card(fill(LOG)),
        "a label list in a card": lambda: card("Firing\n" + fill(LIST), footer="Grafana v11.4.0"),
        "10,000 fields": lambda: card("x", fields=[{"title": f"key {n}", "value": "v" * 80} for n in range(10_000)]),
        "5,000 blocks": lambda: post(HEAD, blocks=[{"type": "section", "text": {"type": "mrkdwn", "text": (LOG * 2)[:200]}} for _ in range(5_000)]),
        "2,000 cards": lambda: post(attachments=[{"title": f"[FIRING:1] A{n}", "text": "x" * 400, "color": "danger"} for n in range(2_000)]),
        "a mail": lambda: post(files=[{"mode": "email", "filetype": "email", "subject": "ALARM: db-1 is down", "plain_text": fill(LOG)}]),
    }  # fmt: skip
    hostile = {f"line of {name}": (lambda piece=piece: post(HEAD + fill(piece))) for name, piece in LINES.items()}
    under = {f"title of {name}": (lambda piece=piece: card("x", title=fill(piece))) for name, piece in LINES.items()}
    many = {
        f"lines of {name}": (lambda piece=piece: card(fill((piece * 300)[:300] + "\n")))
        for name, piece in LINES.items()
    }
    return {**ordinary, **hostile, **under, **many}


def measured(name: str, event: Mapping[str, Any], rounds: int = ROUNDS) -> Figure:
    """Time of the processor and memory for reading one event; the printed form is part of it, parsing the JSON is not."""
    took = []
    for _ in range(rounds):
        began = time.process_time()
        found = build_shape(read(event))
        took.append((time.process_time() - began) * 1000)
    tracemalloc.start()
    read(event)
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return Figure(name, round(min(took), 1), round(peak, 1), bool(found["is_alert"]))


def figures(rounds: int = ROUNDS) -> tuple[Figure, ...]:
    """All shapes, slowest first."""
    read(post(HEAD))  # patterns that are made at the first use
    found = [measured(name, make(), rounds) for name, make in shapes().items()]
    return tuple(sorted(found, key=lambda figure: -figure.ms))


def main() -> None:
    """Print the figures as JSON Lines; exit 1 if one is over a target."""
    found = figures()
    for figure in found:
        sys.stdout.write(
            json.dumps({"shape": figure.shape, "ms": figure.ms, "mb": figure.mb, "holds": figure.holds}) + "\n"
        )
    sys.exit(0 if all(figure.holds for figure in found) else 1)


if __name__ == "__main__":
    main()
