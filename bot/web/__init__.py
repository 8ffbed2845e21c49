"""HTTP routes that are not Slack's: health and metrics. Must not know Slack."""
