"""Deliver what the outbox holds."""
