"""One file for each step. Must not be imported by anything but Alembic."""
