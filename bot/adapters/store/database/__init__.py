"""The connection, the tables, the schema and its copies: what every table family stands on. Must not hold code of its own."""
