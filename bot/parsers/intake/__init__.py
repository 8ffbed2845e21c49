"""Alerts that arrive as values, not as posts."""
