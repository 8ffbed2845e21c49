"""What Bolt calls: decode, call a use case, render, send. Must not hold code of its own."""
