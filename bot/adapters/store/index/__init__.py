"""The search index over recallable records: full text and vectors, in SQLite."""
