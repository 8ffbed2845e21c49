"""Recall precedents, and let people correct what was recalled."""
