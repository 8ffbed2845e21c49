"""Storms, load, shadow mode, and what setup decides. Must not hold code of its own."""
