"""Fixes: which wordings are the same, their steps. Must not hold code of its own."""
