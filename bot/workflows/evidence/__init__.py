"""Gathering evidence under a deadline. Must not hold code of its own."""
