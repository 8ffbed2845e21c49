"""Slack in, Slack out: listeners, surfaces and the Web API. Must not decide anything about incidents."""
