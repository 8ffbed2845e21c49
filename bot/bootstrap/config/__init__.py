"""The configuration file, read into the values that the wiring needs."""
