"""What is stored about alerts: storms, deploys, timings of briefs, how far the past was read. Must not hold code of its own."""
