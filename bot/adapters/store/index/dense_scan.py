"""The scan over the signs of all vectors: which documents mean nearly the same. Must not read records or score words.

The signs are held in memory (48 bytes a document) and caught up from the table before each scan. Rows of deleted
documents stay until there are many: their numbers are never used again, so loading them finds nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa

from bot.domain.access.visibility import Viewer
from bot.ports.embedding import Vectors

# Rows scanned at a time: the counts of so many stay in the processor's cache.
STRIDE = 16_384
AT_ONCE = 20_000
_EPOCH = "SELECT value FROM index_state WHERE name = 'epoch'"
_FRESH = "SELECT seq, doc_id, visibility, signs FROM index_signs WHERE seq > ? ORDER BY seq"
GONE_SHARE, GONE_AT_LEAST = 0.25, 1_000
FAR = np.uint16(60_000)
SignWords = npt.NDArray[np.uint64]
SignRow = sa.Row[int, int, str, bytes]
DocumentNumbers = npt.NDArray[np.int64]


@dataclass(slots=True)
class SignMatrix:
    """Rows in memory."""

    words: SignWords  # words[i] is the i-th 64 signs of every row
    numbers: DocumentNumbers
    scopes: npt.NDArray[np.uint16]  # the number of each row's visibility
    count: int = 0
    last: int = 0
    epoch: str = ""
    named: dict[str, int] = field(default_factory=dict)


def _create_empty() -> SignMatrix:
    return SignMatrix(np.zeros((0, 0), np.uint64), np.zeros(0, np.int64), np.zeros(0, np.uint16))


class SignScan:
    """All signs in memory, and the search through them; for use in threads."""

    def __init__(self) -> None:
        self._held = _create_empty()
        self._turn = threading.Lock()

    @property
    def count(self) -> int:
        """Number of rows held, those of deleted documents included."""
        return self._held.count

    def catch_up(self, connection: sa.Connection, live: int) -> None:
        """Read the rows written since the last time; `live` is how many there are in the table."""
        with self._turn:
            epoch = connection.exec_driver_sql(_EPOCH).scalar_one()
            crowded = self._held.count > live * (1 + GONE_SHARE) + GONE_AT_LEAST
            if epoch != self._held.epoch or crowded:
                self._held = _create_empty()
                self._held.epoch = epoch
            fresh = connection.exec_driver_sql(_FRESH, (self._held.last,))
            while rows := fresh.fetchmany(AT_ONCE):
                _add_rows(self._held, rows)

    def find_nearest(self, question: Vectors, viewer: Viewer, limit: int) -> list[int]:
        """Return the numbers of the documents whose signs differ least, of those that the viewer may see."""
        held = self._held
        seen = None if viewer.sees_all else {number for name, number in held.named.items() if name in viewer.scopes}
        return _find_nearest(held, held.count, question, seen, limit)


def _add_rows(held: SignMatrix, rows: Sequence[SignRow]) -> None:
    fresh = np.frombuffer(b"".join(row[3] for row in rows), dtype=np.uint64).reshape(len(rows), -1).T
    end = held.count + len(rows)
    if end > held.numbers.size:
        _grow(held, end, fresh.shape[0])
    held.words[:, held.count : end] = fresh
    held.numbers[held.count : end] = [row[1] for row in rows]
    held.scopes[held.count : end] = [held.named.setdefault(row[2], len(held.named)) for row in rows]
    held.count, held.last = end, rows[-1][0]


def _grow(held: SignMatrix, needed: int, width: int) -> None:
    """Return arrays with room to spare; a running scan keeps the old ones."""
    room = needed + max(needed // 8, 64)
    words, numbers, scopes = np.zeros((width, room), np.uint64), np.zeros(room, np.int64), np.zeros(room, np.uint16)
    if held.count:
        words[:, : held.count] = held.words[:, : held.count]
    numbers[: held.count] = held.numbers[: held.count]
    scopes[: held.count] = held.scopes[: held.count]
    held.words, held.numbers, held.scopes = words, numbers, scopes


def _find_nearest(held: SignMatrix, count: int, question: Vectors, seen: set[int] | None, limit: int) -> list[int]:
    if not count:
        return []
    words, numbers, scopes = held.words, held.numbers, held.scopes
    asked = np.packbits(question > 0).view(np.uint64)
    far = np.empty(count, np.uint16)
    for start in range(0, count, STRIDE):
        end = min(start + STRIDE, count)
        differ = np.bitwise_count(words[0, start:end] ^ asked[0]).astype(np.uint16)
        for row in range(1, len(asked)):
            differ += np.bitwise_count(words[row, start:end] ^ asked[row])
        far[start:end] = differ
    if seen is not None and len(seen) < len(held.named):
        hidden = np.array([number not in seen for number in range(len(held.named))])
        far[hidden[scopes[:count]]] = FAR
    # all within the distance of the limit-th; those exactly at it by their place, so that equal ones are stable
    per_distance = np.bincount(np.minimum(far, 64 * len(asked) + 1), minlength=64 * len(asked) + 2)[:-1]
    within = int(np.searchsorted(np.cumsum(per_distance), min(limit, int(per_distance.sum()))))
    near = np.flatnonzero(far <= min(within, 64 * len(asked)))
    best = near[np.argsort(far[near], kind="stable")][:limit]
    return [int(number) for number in numbers[best]]
