"""A monitoring tool's Slack message → Alert. Must not do I/O, read a clock, draw random numbers or log."""
