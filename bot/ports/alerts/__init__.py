"""What the store knows about alerts: storms, deploys, timings of briefs, how far the past was read."""
