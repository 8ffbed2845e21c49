"""What Slack delivers: transports, signatures, events. Must not hold code of its own."""
