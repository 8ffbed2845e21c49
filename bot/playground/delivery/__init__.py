"""How events and interactions reach the app: transports, retries, faults. Must not hold code of its own."""
