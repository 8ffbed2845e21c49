"""Incidents, the audit log, and the ledger of what was sent to models. Must not hold code of its own."""
