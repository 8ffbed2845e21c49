"""The steps that bring a database up to date. Must not be imported by anything but Alembic."""
