"""The store on SQLAlchemy: one file per table family, the index, the migrations. Must not decide anything."""

from bot.adapters.store.backup import Restored, backup, restore
from bot.adapters.store.copies import Copied
from bot.adapters.store.opening import Store, migrate, open_store

__all__ = ["Copied", "Restored", "Store", "backup", "migrate", "open_store", "restore"]
