"""Tokens, names, redaction, error codes. Must not hold code of its own."""
