"""Tokens, names, formats, masking and error codes."""
