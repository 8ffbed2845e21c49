"""Names of deliveries: what a delivery is, and the ids and keys under which the outbox keeps it."""
