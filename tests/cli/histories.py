"""Histories as a team would bring them: 500 records in seven forms, twenty of them bad, each in a way of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DAY = "2026-{:02}-{:02}T08:00:00Z"
# Each writer's good records, and what is wrong with its bad ones (the field that the refusal names).
GOOD, BAD = 480, 20


def _day(number: int) -> str:
    return DAY.format(1 + number % 12, 1 + number % 28)


def _native(folder: Path) -> None:
    good = [
        {"incident_id": f"OLD-{n}", "title": f"Problem {n} of billing", "service": "billing", "started_at": _day(n)}
        for n in range(140)
    ]
    bad = ['{"title": "no id"}', "{broken", "[1]", json.dumps(good[0] | {"incident_id": "OLD-X", "started_at": "then"})]
    (folder / "native.jsonl").write_text("\n".join([*map(json.dumps, good[:70]), *bad, *map(json.dumps, good[70:])]))


def _table(folder: Path) -> None:
    rows = [f'T-{n},"Queue {n}, full",mail,{_day(n)},flush the queue,{("yes", "no", "")[n % 3]}' for n in range(96)]
    rows[10:10] = [
        "T-900,,mail,,,",
        "T-901,Queue,mail,01/02/2026,,",
        "T-902,Queue,mail,,x,perhaps",
        "T-903,Queue",
        "T-904,a,b,c,d,e,f",
    ]
    text = "\r\n".join(["Number,Headline,Component,Opened,Resolution,Worked", *rows, ""])
    (folder / "tickets.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())


def _pagerduty(folder: Path) -> None:
    good: list[dict[str, Any]] = [
        {"incident_number": n, "title": f"Latency {n}", "service": {"summary": "search"}, "status": "resolved"}
        | {"created_at": _day(n), "resolved_at": _day(n), "urgency": "high"}
        for n in range(1, 79)
    ]
    bad = [
        good[0] | {"incident_number": 900, "status": "triggered"},
        good[0] | {"incident_number": 901, "title": "", "summary": ""},
    ]
    (folder / "pagerduty.json").write_text(json.dumps({"incidents": [*good, *bad], "more": False}, indent=1))


def _opsgenie(folder: Path) -> None:
    good = [
        {"tinyId": str(n), "message": f"Disk {n}", "status": "closed", "createdAt": _day(n), "tags": ["service:db"]}
        for n in range(58)
    ]
    bad = [good[0] | {"tinyId": "900", "status": "open"}, good[0] | {"tinyId": "901", "createdAt": "soon"}]
    (folder / "opsgenie.json").write_text(json.dumps({"data": good + bad}))


def _jira(folder: Path) -> None:
    done = {"name": "Done", "statusCategory": {"key": "done"}}
    good = [
        {"key": f"REL-{n}", "fields": {"summary": f"Release {n} failed", "created": _day(n), "status": done}
         | {"description": "h2. Root cause\nA flag\nh2. Resolution\n# roll back"}}
        for n in range(57)
    ]  # fmt: skip
    bad = [
        {"key": "REL-900", "fields": {"summary": "x", "status": {"name": "Open", "statusCategory": {"key": "new"}}}},
        {"key": "REL-901"},
        {"key": "REL-902", "fields": {"summary": None, "status": done}},
    ]
    (folder / "jira.json").write_text(json.dumps({"issues": good + bad}))


def _incident_io(folder: Path) -> None:
    good = [
        {
            "reference": f"INC-{n}",
            "permalink": "https://app.incident.io/x",
            "name": f"Webhooks late {n}",
            "mode": "standard",
        }
        | {"incident_status": {"category": "closed"}, "created_at": _day(n)}
        for n in range(38)
    ]
    bad = [good[0] | {"mode": "test"}, good[0] | {"incident_status": {"category": "live"}}]
    (folder / "incident-io.json").write_text(json.dumps({"incidents": good + bad}))


def _write_ups(folder: Path) -> None:
    (folder / "write-ups").mkdir()
    for name, text in _markdown():
        (folder / "write-ups" / name).write_text(text, encoding="utf-8", errors="surrogateescape")


def _markdown() -> Iterator[tuple[str, str]]:
    for n in range(13):
        yield (
            f"2026-03-{n + 1:02}-dns.md",
            f"# DNS {n}\n\nService: dns\n\n## Root cause\n\nZone {n}\n\n## Resolution\n\n- restore\n",
        )
    yield "README.md", "# How we write post-mortems\n\nAs you like.\n"
    yield "latin.md", "# Caf\udce9\n\n## Root cause\n\nx\n"


def write_histories(folder: Path) -> None:
    """All of them, in a folder."""
    for write in (_native, _table, _pagerduty, _opsgenie, _jira, _incident_io, _write_ups):
        write(folder)
