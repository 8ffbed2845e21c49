"""Making a large store from a smaller one by copying its rows. Must not be used to judge quality.

Copies have ids and numbers of their own, the texts of the originals, and random vectors: every word is held by as many
times more documents, which is harder for the search than a store in which new words keep coming.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

STEPS = (
    """INSERT INTO records SELECT incident_id || '-c' || :copy, visibility, recallable, service, vendor, region,
       replace(body, '"incident_id":"' || incident_id || '"', '"incident_id":"' || incident_id || '-c' || :copy || '"'),
       revision, updated_at FROM records WHERE incident_id NOT LIKE '%-c%'""",
    """INSERT INTO record_fingerprints (fingerprint, incident_id)
       SELECT fingerprint || '-c' || :copy, incident_id || '-c' || :copy
       FROM record_fingerprints WHERE incident_id NOT LIKE '%-c%'""",
    """INSERT INTO index_documents SELECT doc_id + :copy * :count, incident_id || '-c' || :copy, visibility, terms, words,
       length, grams, form + :copy, vendor, service, region FROM index_documents WHERE doc_id <= :count""",
    """INSERT INTO index_fts(rowid, terms) SELECT doc_id, terms FROM index_documents
       WHERE doc_id > :copy * :count AND doc_id <= (:copy + 1) * :count""",
)
VECTORS = (
    """INSERT INTO index_vectors SELECT doc_id + :copy * :count, CAST(substr(vector, 1, 4) || randomblob(384) AS BLOB)
       FROM index_vectors WHERE doc_id <= :count""",
    """INSERT INTO index_signs (doc_id, visibility, signs) SELECT doc_id + :copy * :count, visibility, randomblob(48)
       FROM index_signs WHERE doc_id <= :count""",
)
COUNTS = (
    "UPDATE index_terms SET documents = documents * :copies",
    "UPDATE index_names SET documents = documents * :copies",
    "UPDATE index_totals SET documents = documents * :copies, length = length * :copies",
)


def multiply(place: Path, copies: int) -> None:
    """Make the store at this place `copies` times as large."""
    connection = sqlite3.connect(place, isolation_level=None)
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("BEGIN")
    (count,) = connection.execute("SELECT max(doc_id) FROM index_documents").fetchone()
    for copy in range(1, copies):
        for step in (*STEPS, *VECTORS):
            connection.execute(step, {"copy": copy, "count": count})
    for step in COUNTS:
        connection.execute(step, {"copies": copies})
    connection.execute("COMMIT")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
