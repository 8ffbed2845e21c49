"""Block Kit as Slack checks it: elements, limits, validation. Must not hold code of its own."""
