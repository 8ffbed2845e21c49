"""Precedent: a Slack bot with incident memory. This package marker must not import or do anything."""

__version__ = "0.1.0"
