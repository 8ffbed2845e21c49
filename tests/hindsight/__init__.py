"""A real Hindsight server for the integration tests. `python -m tests.hindsight` starts it around a command."""
