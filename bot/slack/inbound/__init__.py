"""Receive what Slack delivers: transports, signatures, events."""
