"""What people say and choose per channel: settings, feedback, nudges, claims. Must not hold code of its own."""
