"""Incident records, lifecycles, reconstruction and outages."""
