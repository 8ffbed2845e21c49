"""Routes of the bot's own HTTP server that are not Slack's."""
