"""Histories from other tools, read as records: one module for each form. Must not open files, store or print."""
