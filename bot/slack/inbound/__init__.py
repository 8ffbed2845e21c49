"""What Slack delivers: transports, signatures, events."""
