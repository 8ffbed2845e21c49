"""Messages and modals as Block Kit. Pure."""
