"""The store on SQLAlchemy: the system of record. A sub-package per table family, the index, the schema's migrations.

Every change goes through `commit.ChangesWriter` in one transaction. `assembly` opens a store and puts its parts
together.
"""

from bot.adapters.store.assembly import Store, migrate, open_store
from bot.adapters.store.database.backup import Restored, backup, restore
from bot.adapters.store.database.copies import DatabaseCopy

__all__ = ["DatabaseCopy", "Restored", "Store", "backup", "migrate", "open_store", "restore"]
