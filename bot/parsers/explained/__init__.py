"""Explain why a post was read as it was."""
