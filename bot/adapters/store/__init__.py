"""The store on SQLAlchemy: one file per table family, the index, the migrations. Must not decide anything."""

from bot.adapters.store.opening import Store, migrate, open_store

__all__ = ["Store", "migrate", "open_store"]
