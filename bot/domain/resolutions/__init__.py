"""Recording what fixed an incident."""
