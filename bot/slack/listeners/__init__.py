"""What the bot does when a person presses, types or submits something in Slack."""
