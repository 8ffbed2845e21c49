"""The state of the local Slack: pure values, without I/O."""
