"""Purging, retention, health, and looking at a store that is not in use. Must not hold code of its own."""
