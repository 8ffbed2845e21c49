"""The brief: everything that it says and why. Must not hold code of its own."""
