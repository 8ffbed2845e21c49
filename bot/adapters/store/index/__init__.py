"""The search index over recallable records: full text and vectors, in SQLite. Must not hold code of its own."""
