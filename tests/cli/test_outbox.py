"""`precedent outbox` and `inbox`: what is owed, tried again, dropped with a reason, carried away."""

from __future__ import annotations

import asyncio
import json
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.store import Store, open_store
from bot.bootstrap.system import SystemClock
from bot.domain.delivery.kinds import Operation
from bot.domain.incidents.record import Incident
from bot.ports.chat import Posting
from bot.ports.delivery.inbox import ReceivedEvent
from bot.ports.delivery.outbox import Destination, OutboxEntry, build_outbox_entry
from bot.ports.unit_of_work import Changes
from tests.cli.command import Precedent
from tests.databases import fresh
from tests.fakes import FakeIds

RECORD = Incident("INC-7", "Gateway timeouts", root_cause="a full partition")


@dataclass
class Filled:
    """A command line on a store with: 1 sent, 2 dead, 3 waiting, 4 and 5 owed to the bank; one dead event."""

    precedent: Precedent
    folder: Path

    def json(self, *arguments: str) -> Any:
        ran = self.precedent(*arguments, "--json")
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)


async def fill(folder: Path) -> None:
    store: Store = await open_store(fresh(folder / "cli.db"), SystemClock(), FakeIds())
    posts = tuple(
        build_outbox_entry(Posting(Operation.POST, f"C{n}", f"note/{n}", f"secret plan {n}"), key=str(n))
        for n in (1, 2, 3)
    )
    to_bank = tuple(
        OutboxEntry(Destination.BANK, Operation.RETAIN, i, f"retain/{i}", {"incident_id": i})
        for i in ("INC-7", "INC-8")
    )
    await store.incidents.commit(Changes(records=(RECORD,), deliveries=posts + to_bank))
    sent, dead = await store.outbox.claim(Destination.SLACK, 2)
    await store.outbox.acknowledge(sent, "1.1")
    await store.outbox.dead_letter(dead, "The channel is archived.")
    await store.inbox.receive(ReceivedEvent("Ev1", "T1/C1/1", "message", {"event": {"text": "hello"}}))
    (event,) = await store.inbox.claim(1)
    await store.inbox.give_up(event, "KeyError: 'bug'")
    await store.close()


@pytest.fixture
def filled(tmp_path: Path) -> Filled:
    asyncio.run(fill(tmp_path))
    return Filled(Precedent(tmp_path), tmp_path)


def test_the_list_shows_what_is_not_sent_without_what_it_says(filled: Filled) -> None:
    rows = filled.json("outbox", "list")
    assert [(row["id"], row["state"], row["destination"]) for row in rows] == [
        (2, "dead", "slack"),
        (3, "pending", "slack"),
        (4, "pending", "bank"),
        (5, "pending", "bank"),
    ]
    assert rows[0]["error"] == "The channel is archived."
    assert "payload" not in rows[0]
    assert [row["id"] for row in filled.json("outbox", "list", "--state", "sent")] == [1]
    assert [row["id"] for row in filled.json("outbox", "list", "--limit", "1")] == [2]
    assert filled.json("outbox", "list", "--state", "sending") == []


def test_the_list_for_people(filled: Filled) -> None:
    said = filled.precedent("outbox", "list")
    assert "2  dead     slack  post       note/2" in said.stdout
    assert "The channel is archived." in said.stdout
    assert "secret plan" not in said.stdout
    assert filled.precedent("outbox", "list", "--state", "sending").stderr == "No delivery is sending.\n"
    assert filled.precedent("outbox", "list", "--state", "lost").returncode == 2


def test_an_empty_store_owes_nothing(tmp_path: Path) -> None:
    assert Precedent(tmp_path)("outbox", "list").stderr == "Nothing is owed.\n"
    assert Precedent(tmp_path)("inbox", "list").stderr == "No event was given up.\n"


def test_replay_by_number_and_all_at_once(filled: Filled) -> None:
    ran = filled.precedent("outbox", "replay", "1", "3", "77")
    assert ran.returncode == 1
    assert json.loads(ran.stdout)["replayed"] == [3]
    assert "77: There is no row of this number." in ran.stderr
    ran = filled.precedent("outbox", "replay", "--all-dead")
    assert (ran.returncode, json.loads(ran.stdout)) == (0, {"replayed": [2], "refused": []})
    assert filled.json("outbox", "list", "--state", "dead") == []


@pytest.mark.parametrize("words", [("outbox", "replay"), ("outbox", "replay", "2", "--all-dead"), ("inbox", "replay")])
def test_replay_wants_one_choice(filled: Filled, words: tuple[str, ...]) -> None:
    ran = filled.precedent(*words)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "--all-dead" in ran.stderr


def test_drop_is_refused_without_a_reason(filled: Filled) -> None:
    for reason in ((), ("--reason", "  ")):
        ran = filled.precedent("outbox", "drop", "2", *reason)
        assert ran.returncode == 2
        assert "--reason" in ran.stderr
    assert len(filled.json("outbox", "list")) == 4
    ran = filled.precedent("outbox", "drop", "2", "--reason", "the channel is gone", "--by", "ada")
    assert (ran.returncode, json.loads(ran.stdout)["dropped"]) == (0, [2])
    assert [row["id"] for row in filled.json("outbox", "list")] == [3, 4, 5]


def test_the_export_holds_all_that_is_owed_with_its_content(filled: Filled) -> None:
    target = filled.folder / "owed.jsonl"
    ran = filled.precedent("outbox", "export", str(target))
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", f"5 lines written to {target}.\n")
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    lines = [json.loads(line) for line in target.read_text().splitlines()]
    assert [(line["box"], line["id"]) for line in lines] == [
        ("outbox", 2),
        ("outbox", 3),
        ("outbox", 4),
        ("outbox", 5),
        ("inbox", 1),
    ]
    assert lines[0]["payload"]["text"] == "secret plan 2"
    assert lines[2]["record"]["root_cause"] == "a full partition"
    assert lines[3]["record"] is None
    assert lines[4]["body"] == {"event": {"text": "hello"}}
    assert filled.precedent("outbox", "export").stdout == target.read_text()
    assert filled.precedent("outbox", "export", str(filled.folder)).returncode == 2


def test_given_up_events(filled: Filled) -> None:
    (event,) = filled.json("inbox", "list")
    assert (event["id"], event["kind"], event["error"]) == (1, "message", "KeyError: 'bug'")
    assert "body" not in event
    assert "KeyError: 'bug'" in filled.precedent("inbox", "list").stdout
    assert json.loads(filled.precedent("inbox", "replay", "1").stdout)["replayed"] == [1]
    assert filled.precedent("inbox", "replay", "1").returncode == 1
    assert json.loads(filled.precedent("inbox", "replay", "--all-dead").stdout)["replayed"] == []


def test_a_database_that_is_down_is_a_sentence(tmp_path: Path) -> None:
    ran = Precedent(tmp_path)("outbox", "list", DATABASE_URL="postgresql+asyncpg://u@127.0.0.1:1/d")
    assert ran.returncode == 3
    assert "cannot be reached" in ran.stderr
