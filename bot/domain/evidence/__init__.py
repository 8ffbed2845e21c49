"""What tools show now."""
