"""Who may do and see what. Must not hold code of its own."""
