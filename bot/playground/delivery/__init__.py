"""How events and interactions reach the app: transports, retries, and faults."""
