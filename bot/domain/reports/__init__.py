"""Digest, trends, vendor profile, usefulness, post-mortem."""
