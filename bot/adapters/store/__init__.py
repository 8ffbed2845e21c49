"""The store on SQLAlchemy: one file per table family, the index, the migrations. Must not decide anything."""

from bot.adapters.store.database.backup import Restored, backup, restore
from bot.adapters.store.database.copies import Copied
from bot.adapters.store.opening import Store, migrate, open_store

__all__ = ["Copied", "Restored", "Store", "backup", "migrate", "open_store", "restore"]
