"""The Web API of the local Slack, a file per family of methods. Must not hold code of its own."""
