"""Answer questions in an incident's thread."""
