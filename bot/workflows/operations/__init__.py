"""Status, load, shadow mode, preview, backfill, replay. Must not hold code of its own."""
