"""A database of an older version is brought up to date with everything in it."""

from __future__ import annotations

import json
from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory

from bot.adapters.store import open_store
from bot.adapters.store.database.connection import connect, read_url
from bot.adapters.store.database.schema import HEAD, MIGRATIONS, list_revisions
from bot.domain.incidents.lifecycle import IncidentState
from bot.ports.delivery.outbox import Destination
from tests.fakes import START, FakeClock, FakeIds

OLD_LIFE = {
    "incident_id": "INC-7", "fingerprint": "fp-1", "visibility": "public", "state": "open", "fired": 3, "version": 2,
    "opened_at": START.isoformat(), "last_seen_at": START.isoformat(), "cleared_at": None, "resolved_at": None,
    "acknowledged_by": None, "severity": "high",
}  # fmt: skip


def test_the_names_of_the_steps_are_their_revisions() -> None:
    steps = ScriptDirectory(str(MIGRATIONS))
    assert list_revisions() == {step.revision for step in steps.walk_revisions()}
    assert steps.get_current_head() == HEAD


def only_the_first_step(connection: sa.Connection) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    command.upgrade(config, "0001")


async def test_lives_and_owed_work_of_the_first_version_go_on(tmp_path: Path) -> None:
    url = f"sqlite+aiosqlite:///{tmp_path / 'old.db'}"
    old = connect(read_url(url))
    at = START.replace(tzinfo=None).isoformat(" ")
    async with old.write() as connection:
        await connection.run_sync(only_the_first_step)
        insert = "INSERT INTO lives VALUES ('INC-7', 'fp-1', 'public', 'open', :at, 2, :body)"
        await connection.execute(sa.text(insert), {"at": f"{at}.000000", "body": json.dumps(OLD_LIFE)})
        owed = (
            "INSERT INTO outbox (destination, operation, key, delivery_id, payload, urgent, state, attempts, due_at,"
            " uncertain, replaced, owed_at) VALUES ('slack', 'post', 'k', 'd1', '{}', 0, 'pending', 0, :at, 0, 0, :at)"
        )
        await connection.execute(sa.text(owed), {"at": f"{at}.000000"})
    await old.close()
    store = await open_store(url, FakeClock(), FakeIds())
    life = await store.incidents.read_lifecycle("INC-7")
    assert (life.state, life.fired, life.severity, life.spells, life.base) == (IncidentState.OPEN, 3, "high", (), None)
    assert [row.entry.delivery_id for row in await store.outbox.claim(Destination.SLACK, 5)] == ["d1"]
    assert (await store.health.read_status()).schema == HEAD
    await store.close()
