"""Slack: requests come in, listeners ask use cases, views show what they answer, the client sends it."""
