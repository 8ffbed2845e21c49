"""The store on SQLAlchemy: one file per table family, the index, the migrations. Must not decide anything."""

from bot.adapters.store.assembly import Store, migrate, open_store
from bot.adapters.store.database.backup import Restored, backup, restore
from bot.adapters.store.database.copies import DatabaseCopy

__all__ = ["DatabaseCopy", "Restored", "Store", "backup", "migrate", "open_store", "restore"]
