"""SQLite files for tests, migrated once in each test process and copied from then on: migrating costs more than most tests.

Must not be used where opening or migrating a store is what is tested.
"""

from __future__ import annotations

import tempfile
from functools import lru_cache
from pathlib import Path

import sqlalchemy as sa

from bot.adapters.store.schema import upgrade


def fresh(path: Path) -> str:
    """The address of an empty store at `path`, with the schema of this version. What is there already stays."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_bytes(_migrated())
    return f"sqlite+aiosqlite:///{path}"


@lru_cache(maxsize=1)
def _migrated() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "migrated.db"
        engine = sa.create_engine(f"sqlite:///{path}")
        with engine.begin() as connection:
            upgrade(connection)
        engine.dispose()
        return path.read_bytes()
