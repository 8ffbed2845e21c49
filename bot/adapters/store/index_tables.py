"""The tables of the index, in SQLite: in the store's own file, or in a file of its own beside a PostgreSQL store.

Must not be migrated: the index can be made anew from the records, and is when its version differs.
"""

from __future__ import annotations

import sqlalchemy as sa

from bot.domain.text import TOKENS_VERSION

INDEX_VERSION = f"1.{TOKENS_VERSION}"
index_metadata = sa.MetaData()

documents = sa.Table(
    "index_documents",
    index_metadata,
    sa.Column("doc_id", sa.Integer, primary_key=True),
    sa.Column("incident_id", sa.Text, nullable=False, unique=True),
    sa.Column("visibility", sa.Text, nullable=False),
    sa.Column("terms", sa.Text, nullable=False),
    sa.Column("words", sa.Text, nullable=False),
    sa.Column("length", sa.Integer, nullable=False),
    sa.Column("grams", sa.Integer, nullable=False),
)

terms = sa.Table(
    "index_terms",
    index_metadata,
    sa.Column("term", sa.Text, primary_key=True),
    sa.Column("visibility", sa.Text, primary_key=True),
    sa.Column("documents", sa.Integer, nullable=False),
    sqlite_with_rowid=False,
)

totals = sa.Table(
    "index_totals",
    index_metadata,
    sa.Column("visibility", sa.Text, primary_key=True),
    sa.Column("documents", sa.Integer, nullable=False),
    sa.Column("length", sa.Integer, nullable=False),
)

state = sa.Table(
    "index_state",
    index_metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)

# The tokens are ready made, so FTS5 splits at spaces only: marks and signs inside a token stay (Hindi vowels, "_").
CREATE_FTS = (
    "CREATE VIRTUAL TABLE index_fts USING fts5(terms, content='index_documents', content_rowid='doc_id',"
    " tokenize=\"unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co'\")"
)
DROP_FTS = "DROP TABLE IF EXISTS index_fts"
FTS_ADD = sa.text("INSERT INTO index_fts(rowid, terms) VALUES (:doc_id, :terms)")
FTS_REMOVE = sa.text("INSERT INTO index_fts(index_fts, rowid, terms) VALUES ('delete', :doc_id, :terms)")
fts = sa.table("index_fts", sa.column("rowid", sa.Integer), sa.column("index_fts", sa.Text))


def is_current(connection: sa.Connection) -> bool:
    """Whether the index is there and was made by this version's tokens."""
    if not sa.inspect(connection).has_table(state.name):
        return False
    version = sa.select(state.c.value).where(state.c.name == "version")
    return connection.execute(version).scalar_one_or_none() == INDEX_VERSION


def create_empty(connection: sa.Connection) -> None:
    """Drop what is there and make empty tables."""
    connection.exec_driver_sql(DROP_FTS)
    index_metadata.drop_all(connection)
    index_metadata.create_all(connection)
    connection.exec_driver_sql(CREATE_FTS)
    connection.execute(
        sa.insert(state), [{"name": "version", "value": INDEX_VERSION}, {"name": "revision", "value": "0"}]
    )


def indexed_revision(connection: sa.Connection) -> int:
    """Up to which revision of the records an index in a file of its own has come."""
    return int(connection.execute(sa.select(state.c.value).where(state.c.name == "revision")).scalar_one())
