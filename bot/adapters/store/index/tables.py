"""The tables of the index, in SQLite: in the store's own file, or in a file of its own beside a PostgreSQL store.

They have no migrations: the index can be rebuilt from the records, and is when its version differs. The vectors have a
version of their own: those of another model are dropped, and made again while words answer.
"""

from __future__ import annotations

import sqlalchemy as sa

from bot.domain.text.tokens import TOKENS_VERSION

INDEX_VERSION = f"2.{TOKENS_VERSION}"
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
    sa.Column("form", sa.Integer, nullable=False),
    sa.Column("vendor", sa.Text),
    sa.Column("service", sa.Text),
    sa.Column("region", sa.Text),
    # a number is never used twice: a reader that still holds a deleted one finds nothing, and not another record
    sqlite_autoincrement=True,
)
sa.Index("index_documents_form", documents.c.form)

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

names = sa.Table(
    "index_names",
    index_metadata,
    sa.Column("kind", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("documents", sa.Integer, nullable=False),
    sqlite_with_rowid=False,
)

vectors = sa.Table(
    "index_vectors",
    index_metadata,
    sa.Column("doc_id", sa.Integer, primary_key=True),
    sa.Column("vector", sa.LargeBinary, nullable=False),
)

# What is kept in memory for the scan; rows are read in the order of `seq`, which is never given twice.
signs = sa.Table(
    "index_signs",
    index_metadata,
    sa.Column("seq", sa.Integer, primary_key=True),
    sa.Column("doc_id", sa.Integer, nullable=False, unique=True),
    sa.Column("visibility", sa.Text, nullable=False),
    sa.Column("signs", sa.LargeBinary, nullable=False),
    sqlite_autoincrement=True,
)

# Documents that have no vector yet.
pending = sa.Table("index_pending", index_metadata, sa.Column("doc_id", sa.Integer, primary_key=True))

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
FTS_REBUILD = sa.text("INSERT INTO index_fts(index_fts) VALUES ('rebuild')")
fts = sa.table("index_fts", sa.column("rowid", sa.Integer), sa.column("index_fts", sa.Text))


def is_current(connection: sa.Connection) -> bool:
    """Return whether the index is there and was made by this version's tokens."""
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
        sa.insert(state),
        [
            {"name": "version", "value": INDEX_VERSION},
            {"name": "revision", "value": "0"},
            {"name": "model", "value": ""},
            {"name": "epoch", "value": ""},
        ],
    )
    begin_epoch(connection)


def begin_epoch(connection: sa.Connection) -> None:
    """Invalidate whatever processes hold of the index in memory."""
    fresh = sa.func.hex(sa.func.randomblob(8))
    connection.execute(sa.update(state).where(state.c.name == "epoch").values(value=fresh))


def has_model_vectors(connection: sa.Connection, model: str) -> bool:
    """Return whether the vectors are this model's."""
    asked = sa.select(state.c.value).where(state.c.name == "model")
    return bool(connection.execute(asked).scalar_one() == model)


def use_model(connection: sa.Connection, model: str) -> None:
    """Switch the vectors to this model: those of another one are dropped, and all documents wait for new ones."""
    if has_model_vectors(connection, model):
        return
    for table in (vectors, signs, pending):
        connection.execute(sa.delete(table))
    connection.execute(sa.insert(pending).from_select(["doc_id"], sa.select(documents.c.doc_id)))
    connection.execute(sa.update(state).where(state.c.name == "model").values(value=model))
    begin_epoch(connection)


def read_indexed_revision(connection: sa.Connection) -> int:
    """Return the revision of the records that an index in a file of its own has reached."""
    return int(connection.execute(sa.select(state.c.value).where(state.c.name == "revision")).scalar_one())
