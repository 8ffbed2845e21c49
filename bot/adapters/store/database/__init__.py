"""The connection, the tables, the schema and its copies, which every table family uses."""
