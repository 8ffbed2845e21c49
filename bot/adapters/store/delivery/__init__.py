"""The inbox and the outbox, and the operator's view of both."""
