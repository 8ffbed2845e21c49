"""The decision core: values in, values out, without I/O, a clock, randomness or logging."""
