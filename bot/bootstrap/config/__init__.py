"""The configuration file, read into the values that wiring needs. Must not hold code of its own."""
