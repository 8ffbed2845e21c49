"""Compose the digest and the report on the bot's usefulness."""
