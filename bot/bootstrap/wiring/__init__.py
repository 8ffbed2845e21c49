"""One file per room: the use cases with their ports. Must not decide anything."""
