"""A local Slack for trying the bot out and for tests. Must not import anything of the bot but pure values."""
