"""Storms, deploys, timings of briefs, and how far the past was read."""
