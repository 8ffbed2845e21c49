"""The inbox and the outbox: what came from Slack, what goes out, and how an operator looks after both."""
