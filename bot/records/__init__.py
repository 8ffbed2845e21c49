"""The JSON of incident records and alerts, and the readers of other tools' exports."""
