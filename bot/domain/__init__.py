"""The decision core: values in, values out. Must not do I/O, read a clock, draw random numbers or log."""
