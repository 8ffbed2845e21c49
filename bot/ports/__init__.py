"""What the workflows need from outside, as Protocols, and the errors they may meet (`bot.ports.errors`)."""
