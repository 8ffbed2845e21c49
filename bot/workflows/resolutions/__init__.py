"""Recording and correcting what fixed an incident. Must not hold code of its own."""
