"""Alerts, notifications, and whether an alert is answered."""
