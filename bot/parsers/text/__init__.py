"""Slack's markup."""
