"""Inbox and outbox, and the operator's view of both. Must not hold code of its own."""
