"""Set an installation up, step by step. The bot itself is not run."""
