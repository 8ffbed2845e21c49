"""Messages and modals as Block Kit. Pure. Must not hold code of its own."""
