"""Purging, retention, health, and inspecting a store that is not in use."""
