"""Examine an installation and say what is wrong and how to mend it. Must not change anything."""
