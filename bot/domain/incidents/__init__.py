"""Incident records, lifecycle, and outages. Must not hold code of its own."""
