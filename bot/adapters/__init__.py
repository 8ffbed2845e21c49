"""Adapters: each implements a port and knows one outside thing. They translate; they must not decide anything."""
