"""Memory banks and the embedding model. Must not decide what is a precedent."""
