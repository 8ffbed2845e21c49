"""Slack's way of writing text. Must not know any monitoring tool."""
