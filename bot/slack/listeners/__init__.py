"""Answer what a person presses, types or submits in Slack."""
