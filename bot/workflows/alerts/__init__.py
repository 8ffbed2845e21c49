"""From a post to a brief. Must not hold code of its own."""
