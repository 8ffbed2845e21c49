"""Set an installation up, step by step. Must not run the bot."""
