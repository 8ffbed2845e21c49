"""Delivering what the outbox holds. Must not hold code of its own."""
