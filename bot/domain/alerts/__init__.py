"""Alerts, notifications, and whether one may be answered. Must not hold code of its own."""
