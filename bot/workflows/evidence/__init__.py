"""Gather evidence for a brief."""
