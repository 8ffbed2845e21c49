"""`precedent replay` on a store that a month filled: what it prints is the same twice, and tells what became another."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from bot.adapters.store.database.schema import HEAD
from bot.cli.replay import format_comparison
from bot.domain.incidents.record import Boundary, FailedCheck, VerificationStatus
from bot.domain.operations.replay_diff import ChangedBrief, ChangeKind, ReplayComparison
from bot.domain.recall.query import OPERATOR
from bot.ports.unit_of_work import Changes
from bot.workflows.operations.replay_file import read_replay_file
from bot.workflows.resolutions.resolve import FixOutcome, Resolution
from tests.adapters.store.database.upgrades_support import first_release
from tests.cli.command import Precedent
from tests.scenarios.month import Occurrence, occurrences
from tests.workflows.world import World, world

BETWEEN = timedelta(hours=11)
ALERTS, SOME = 60, 10


async def lived(w: World, one: Occurrence) -> None:
    """One alert, and what people wrote down of it."""
    known = ("fingerprint", "title", "severity", "service", "vendor", "region", "environment", "text", "tool")
    ts = await w.post(**{name: one.alert[name] for name in known})
    incident_id = await w.memory.incidents.find_incident("C1", ts)
    w.clock.advance(minutes=40)
    told = {
        "right": [(FixOutcome.RECOVERED, one.wording)],
        "decoy first": [(FixOutcome.NO, one.family.decoy), (FixOutcome.RECOVERED, one.wording)],
        "partly": [(FixOutcome.PARTLY, one.wording)],
        "mistaken": [(FixOutcome.RECOVERED, one.family.decoy)],
    }
    for number, (outcome, fix) in enumerate(told.get(one.act, [])):
        checks = tuple(FailedCheck(check, minutes) for check, minutes in one.family.checks)
        said = Resolution(outcome, incident_id, fix=fix, boundary=Boundary(one.family.boundary), failed_checks=checks)
        await w.resolve(replace(said, root_cause=one.family.cause), "U1", f"{one.number}/{number}")
    await w.post(**{name: one.alert[name] for name in known}, state="resolved")


async def month(folder: Path, *services: str) -> None:
    """The month's alerts of these services; of all without any."""
    async with world(folder) as w:
        began = datetime.now(tz=UTC) - ALERTS * BETWEEN - timedelta(hours=1)
        for one in (o for o in occurrences() if not services or o.family.service in services):
            w.clock.at = began + one.number * BETWEEN
            await lived(w, one)
            await w.drain_outbox()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("month")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EMBEDDINGS", "off")
        asyncio.run(month(folder, "audit-trail", "booking-api"))
    return folder


@pytest.fixture
def precedent(made: Path, tmp_path: Path) -> Precedent:
    with closing(sqlite3.connect(made / "world.db")) as source, closing(sqlite3.connect(tmp_path / "cli.db")) as copy:
        source.backup(copy)
    return Precedent(tmp_path)


def held(file: Path) -> list[str]:
    """Everything that a database holds."""
    with closing(sqlite3.connect(file)) as connection:
        return list(connection.iterdump())


def kept(precedent: Precedent, **settings: str) -> Path:
    ran = precedent("replay", "--days", "31", **settings)
    assert (ran.returncode, ran.stderr) == (0, "")
    file = precedent.folder / "before.jsonl"
    file.write_text(ran.stdout, encoding="utf-8")
    return file


def compared(precedent: Precedent, file: Path, **settings: str) -> dict[str, Any]:
    ran = precedent("replay", "--against", str(file), "--json", **settings)
    assert ran.returncode == 0, ran.stderr
    return dict(json.loads(ran.stdout))


async def take_back(folder: Path, service: str) -> None:
    """What was seen to work there turns out not to have."""
    async with world(folder) as w:
        records = [r for r in await w.memory.incidents.list_records(OPERATOR) if r.service == service]
        failed = [
            replace(r, attempts=tuple(replace(a, status=VerificationStatus.FAILED) for a in r.attempts))
            for r in records
        ]
        await w.memory.incidents.commit(Changes(records=tuple(failed)))


def test_the_same_twice_and_nothing_is_changed(precedent: Precedent) -> None:
    before = held(precedent.folder / "cli.db")
    file = kept(precedent)
    first, *lines = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    assert (first["format"], first["alerts"], len(lines)) == ("precedent-replay", SOME, SOME)
    found = compared(precedent, file)
    assert (found["compared"], found["changed"], found["changes"]) == (SOME, 0, [])
    assert held(precedent.folder / "cli.db") == before
    # no incident is its own precedent, nor a later one's
    at = {line["incident_id"]: line["at"] for line in lines}
    answered = [line for line in lines if line["brief"]["sources"]]
    assert len(answered) > SOME / 2
    for line in answered:
        for source in (*line["brief"]["sources"], *line["brief"]["possible"]):
            assert at[source["incident_id"]] < line["at"]


def test_what_a_correction_changes_is_told_worst_first(precedent: Precedent) -> None:
    file = kept(precedent)
    shutil.move(precedent.folder / "cli.db", precedent.folder / "world.db")
    asyncio.run(take_back(precedent.folder, "audit-trail"))
    shutil.move(precedent.folder / "world.db", precedent.folder / "cli.db")
    found = compared(precedent, file)
    assert found["changed"] == len(found["changes"]) > 2
    assert {change["service"] for change in found["changes"]} == {"audit-trail"}
    assert found["changes"][0]["kind"] == "another fix is recommended"
    ran = precedent("replay", "--against", str(file))
    assert ran.returncode == 0
    lines = ran.stdout.splitlines()
    assert lines[0] == f"{found['changed']} of {SOME} briefs change"
    side = next(line for line in lines if line.startswith("  fix "))
    assert "Rewind the consumer" in side.partition(" | ")[0]
    assert max(map(len, lines)) <= 160
    narrow = precedent("replay", "--against", str(file), COLUMNS="50").stdout
    assert max(map(len, narrow.splitlines())) <= 50
    assert "    - Rewind the consumer" in narrow


def test_a_database_of_an_older_version_is_not_migrated(tmp_path: Path) -> None:
    engine = sa.create_engine(f"sqlite:///{tmp_path / 'cli.db'}")
    with engine.begin() as connection:
        first_release(connection)
    engine.dispose()
    before, precedent = held(tmp_path / "cli.db"), Precedent(tmp_path)
    file = kept(precedent)
    assert compared(precedent, file)["changed"] == 0
    assert held(tmp_path / "cli.db") == before
    assert not any(HEAD in line for line in before if "alembic_version" in line)
    assert not list(tmp_path.glob("*.before-*"))


def test_a_name_of_the_configuration_changes_what_it_names(precedent: Precedent) -> None:
    file = kept(precedent)
    config = precedent.folder / "precedent.toml"
    config.write_text('[services.audit-log]\naliases = ["audit-trail"]\n', encoding="utf-8")
    found = compared(precedent, file, PRECEDENT_CONFIG=str(config))
    assert {change["service"] for change in found["changes"]} >= {"audit-log"}


@pytest.mark.integration  # for its length; it needs no service
def test_a_whole_month_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBEDDINGS", "off")
    asyncio.run(month(tmp_path))
    shutil.move(tmp_path / "world.db", tmp_path / "cli.db")
    precedent = Precedent(tmp_path)
    found = compared(precedent, kept(precedent))
    assert (found["compared"], found["changed"]) == (ALERTS, 0)


HEADER = {
    "format": "precedent-replay",
    "format_version": 1,
    "precedent": "9.9",
    "alerts": 1,
    "since": "2026-11-01T00:00:00+00:00",
    "until": "2026-11-02T00:00:00+00:00",
}
LINE = {
    "incident_id": "INC-1",
    "channel": "C1",
    "at": "2026-11-01T12:00:00Z",
    "service": "pay",
    "title": None,
    "read_from": "brief",
    "evidence_at": None,
    "brief": {"verdict": "v"},
}
ON_FIRST, ON_SECOND = (f"before.jsonl: is not what `precedent replay` wrote: line {n}" for n in (1, 2))


def header(**changes: Any) -> str:
    return json.dumps(HEADER | changes) + "\n" + json.dumps(LINE)


def line(**changes: Any) -> str:
    return json.dumps(HEADER) + "\n" + json.dumps(LINE | changes)


def brief(**parts: Any) -> str:
    return line(brief={"verdict": "v"} | parts)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ON_FIRST),
        ("no JSON", ON_FIRST),
        ("[1]", ON_FIRST),
        ('{"a": 1}', ON_FIRST),
        ("[" * 100_000, ON_FIRST),
        ("\udcff" + header(), ON_FIRST),
        (header(format_version=2, since=5, more=1), "a newer Precedent (9.9)"),
        (header(format_version=2, precedent="\x1b[2J\x9b9"), "a newer Precedent ([2J 9)"),
        (header(format_version=True), ON_FIRST),
        (header(format_version=0), ON_FIRST),
        (header(precedent=9), ON_FIRST),
        (header(alerts=float("inf")), ON_FIRST),
        (header(alerts=True), ON_FIRST),
        (header(alerts=1.0), ON_FIRST),
        (header(alerts=-1), ON_FIRST),
        (header(alerts=10**4000), "is cut short: 1 of 1000"),
        (header().replace('"alerts": 1', '"alerts": 1' + "0" * 10_000), ON_FIRST),
        (header(alerts=0), "is cut short: 1 of 0"),
        (json.dumps(HEADER), "is cut short: 0 of 1"),
        (header(since="2026-11-01"), ON_FIRST),
        (header(since="2026-11-01T00:00:00"), ON_FIRST),
        (header(since=1_700_000_000), ON_FIRST),
        (header(since="0001-01-01T00:00:00+14:00"), ON_FIRST + " (since, until)"),
        (header(until="9999-12-31T23:59:59-14:00"), ON_FIRST + " (since, until)"),
        (header(since="2026-11-02T00:00:01+00:00"), ON_FIRST + " (since is after until)"),
        (header(unknown=1), ON_FIRST + " (unknown)"),
        (header(**{"\x1b[2Jx" * 100: 1}), ON_FIRST + " ([2Jx"),
        (json.dumps(HEADER) + "\n{broken", ON_SECOND),
        (json.dumps(HEADER) + "\n\n5", "before.jsonl: is not what `precedent replay` wrote: line 3"),
        (json.dumps(HEADER) + '\n{"incident_id": "INC-1"}', ON_SECOND),
        (line(unknown=1), ON_SECOND + " (unknown)"),
        (line(incident_id=""), ON_SECOND),
        (line(channel=None), ON_SECOND + " (channel)"),
        (line(service={"a": 1}), ON_SECOND + " (service)"),
        (line(title="\ud800"), ON_SECOND),
        (line(read_from="x"), ON_SECOND + " (read_from)"),
        (line(brief=None), ON_SECOND + " (brief)"),
        (line() + "\n" + json.dumps(LINE), "before.jsonl: is not what `precedent replay` wrote: line 3 (this alert"),
        (brief(verdict={"a": 1}), ON_SECOND + " (brief.verdict)"),
        (brief(verdict="\ud800 evil"), ON_SECOND),
        (brief(skip=5), ON_SECOND + " (brief.skip)"),
        (brief(skip=True), ON_SECOND + " (brief.skip)"),
        (brief(skip=[{"check": "x", "count": 1e400, "of": 1}]), ON_SECOND + " (brief.skip.0.count)"),
        (brief(steps="abc"), ON_SECOND + " (brief.steps)"),
        (brief(sources=[1]), ON_SECOND + " (brief.sources.0)"),
        (brief(insufficient_memory="yes"), ON_SECOND + " (brief.insufficient_memory)"),
        (brief(recommendation=[1, 2]), ON_SECOND + " (brief.recommendation)"),
        (brief(recommendation={"fix": ["a"], "confidence": {"x": []}}), ON_SECOND + " (brief.recommendation."),
        (brief(root_cause={"text": "x", "verified": 1}), ON_SECOND + " (brief.root_cause.verified)"),
    ],
)
def test_a_file_that_cannot_be_used(tmp_path: Path, text: str, said: str) -> None:
    """The command says so in one sentence that steers no terminal, without having opened the database."""
    file = tmp_path / "before.jsonl"
    file.write_text(text, encoding="utf-8", errors="surrogateescape")
    ran = Precedent(tmp_path)("replay", "--against", str(file), DATABASE_URL="none-is-asked://")
    assert (ran.returncode, ran.stdout) == (1, "")
    assert said in ran.stderr
    assert ran.stderr.count("\n") == 1
    assert ran.stderr.strip().isprintable()


def test_what_another_version_says_besides_is_left_out_and_its_name_steers_no_terminal() -> None:
    known = {"verdict": "v", "sources": [{"incident_id": "INC-2", "tier": 1}], "new_part": {"deep": [1]}}
    text = (
        json.dumps(HEADER | {"precedent": "9\x1b[2J\x9b\n" + "x" * 500}) + "\n\n" + json.dumps(LINE | {"brief": known})
    )
    before = read_replay_file("f", text.split("\n"))
    assert before.lines == (LINE | {"brief": {"verdict": "v", "sources": [{"incident_id": "INC-2"}]}},)
    assert before.version.isprintable()
    assert len(before.version) <= 40
    assert (before.since, before.until) == (datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 11, 2, tzinfo=UTC))
    told = ChangedBrief(
        {"incident_id": "\x1b[2J", "service": "", "title": "a\nb\x07", "at": "", "channel": ""}, ChangeKind.FIX, ()
    )
    assert all(one.isprintable() for one in format_comparison(before, ReplayComparison(1, (told,)), 80))
