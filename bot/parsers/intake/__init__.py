"""Alerts that come as values and not as posts. Must not read Slack messages."""
