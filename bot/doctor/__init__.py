"""Examine an installation: every finding says what is wrong and how to fix it. Nothing is changed."""
