"""Incidents, the audit log, and the ledger of what was sent to models."""
