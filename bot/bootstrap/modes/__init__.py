"""Other ways to run than `serve`: playground, seeds, backfill, replay. Must not hold code of its own."""
