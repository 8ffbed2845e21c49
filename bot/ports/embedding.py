"""The embedding model, as the index sees it. Vectors of two models never fit each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]


class Embedder(Protocol):
    """Texts as vectors of their meaning.

    Promise: vectors have length 1; the same text gives the same vector; the event loop is never blocked; questions do
    not wait for documents. Nothing is ever downloaded. Raises EmbeddingUnavailable.
    """

    @property
    def name(self) -> str:
        """The model's name: vectors of different names must not be compared."""
        ...

    async def embed_question(self, text: str) -> Vectors:
        """Return the vector of a question, one dimension; long texts are cut early, because somebody waits."""
        ...

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of these texts, one a row."""
        ...
