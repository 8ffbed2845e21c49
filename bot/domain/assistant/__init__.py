"""Answers in the thread: what is asked, what may be said. Must not hold code of its own."""
