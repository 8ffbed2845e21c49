"""The state of the local Slack and what people do in it. Must not do I/O."""
