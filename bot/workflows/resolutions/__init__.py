"""Record what fixed an incident, and correct what was recorded."""
