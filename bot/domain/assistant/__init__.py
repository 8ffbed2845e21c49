"""Answers in an incident's thread, and what a model may say there."""
