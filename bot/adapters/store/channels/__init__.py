"""What people choose and judge per channel: settings, feedback, nudges, claims."""
