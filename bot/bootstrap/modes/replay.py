"""Wire the replay on a copy of the database: the one in use is neither changed nor migrated to a newer schema.

Asks no memory bank, no model, no Slack and no source of evidence.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

from bot.adapters import store as stores
from bot.bootstrap.config.file import build_directory, read_optional_configuration
from bot.bootstrap.modes.private_folder import open_private_folder, treat_signals_as_interrupt
from bot.bootstrap.system import RandomIds
from bot.bootstrap.wiring.memory import open_memory
from bot.domain.alerts.alert import Alert
from bot.domain.catalog.vendors import Directory, find_service, find_vendor, resolve_service, resolve_vendor
from bot.ports.clock import Clock
from bot.ports.errors import StoreUnavailable
from bot.settings import Settings
from bot.workflows.operations.replay import ReplayBriefs
from bot.workflows.recall.recall import RecallPrecedents
from bot.workflows.recall.with_feedback import RecallWithFeedback

ON_POSTGRES = (
    "The database has an older schema than this version, and a replay changes no database in use. Copy it (createdb replay; "
    "pg_dump … | psql replay); with DATABASE_URL naming the copy run `precedent migrate`, then this command."
)


@asynccontextmanager
async def open_replay(settings: Settings, clock: Clock) -> AsyncIterator[ReplayBriefs]:
    """Open the replay over a copy of the SQLite database that is gone afterwards; on PostgreSQL over the database
    itself, which is only read.

    Every vector that a model gives is computed first. Raises StoreUnavailable, ConfigurationRejected.
    """
    ours = settings.precedent_config is not None
    names, configuration = (
        build_directory(read_optional_configuration(settings.precedent_config)),
        read_optional_configuration(settings.precedent_config),
    )
    listed = frozenset(configuration.vendors)
    async with _copy_database(settings) as copy, open_memory(copy, clock, RandomIds()) as memory:
        while await memory.fill_vectors() == 0.0:
            pass
        recall = RecallWithFeedback(
            RecallPrecedents(index=memory.index, bank=None, store=memory.incidents), memory.store.feedback
        )
        rename = partial(rename_alert, names, listed) if ours else _keep_alert
        yield ReplayBriefs(
            store=memory.incidents, channels=memory.channels, recall=recall, index=memory.index, rename=rename
        )


@asynccontextmanager
async def _copy_database(settings: Settings) -> AsyncIterator[Settings]:
    alone = {"hindsight_url": None, "shadow_channel": None}
    if not settings.store_url.startswith("sqlite"):
        try:
            yield settings.model_copy(update=alone)
        except StoreUnavailable as problem:
            if "schema" in str(problem):
                raise StoreUnavailable(ON_POSTGRES) from problem
            raise
        return
    with treat_signals_as_interrupt(), open_private_folder() as folder:
        copy = folder / "copy.db"
        copying = asyncio.ensure_future(stores.backup(settings.store_url, copy))
        try:
            await asyncio.shield(copying)
        except asyncio.CancelledError:
            await asyncio.wait([copying])  # else it writes on in a folder that is being removed
            raise
        yield settings.model_copy(update={"database_url": f"sqlite+aiosqlite:///{copy}", **alone})


def _keep_alert(alert: Alert) -> Alert:
    return alert


def rename_alert(names: Directory, listed: frozenset[str], alert: Alert) -> Alert:
    """Return a stored alert with the service and vendor as the configuration file names them now.

    If the alert named none, they are looked up in its title and text; its message is not stored, so there is nothing
    else to read.
    """
    said = f"{alert.title or ''}\n{alert.text}"
    service = resolve_service(alert.service, names) if alert.service else find_service(said, names)
    vendor = resolve_vendor(alert.vendor, names) if alert.vendor else find_vendor(said, names=names)
    return replace(alert, service=service, vendor=vendor if alert.vendor or vendor in listed else None)
