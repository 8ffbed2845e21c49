"""Vendors and services by name."""
