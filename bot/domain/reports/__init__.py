"""Digest, trends, vendor profile, usefulness, post-mortem. Must not hold code of its own."""
