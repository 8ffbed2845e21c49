"""What tools show now. Must not hold code of its own."""
