"""Vendors by name. Must not hold code of its own."""
