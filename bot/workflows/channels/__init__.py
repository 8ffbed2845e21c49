"""Read and change channel settings and silences."""
