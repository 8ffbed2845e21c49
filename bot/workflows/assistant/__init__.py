"""Questions in a thread. Must not hold code of its own."""
