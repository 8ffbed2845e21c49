"""Looking after the store: its health, deleting by age, and purging an incident for good."""
