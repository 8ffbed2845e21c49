"""Channel settings and silences. Must not hold code of its own."""
