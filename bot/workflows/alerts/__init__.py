"""Handle alert posts: open, update and group incidents."""
