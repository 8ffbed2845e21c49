"""Calls to Slack. Must not decide what is said."""
