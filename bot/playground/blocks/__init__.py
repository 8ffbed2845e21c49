"""Block Kit as Slack checks it: interactive elements, limits, and validation."""
