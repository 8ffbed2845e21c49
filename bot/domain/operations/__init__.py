"""Storms, load shedding, shadow mode, previews, and the decisions of setup."""
