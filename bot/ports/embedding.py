"""The embedding model, as the index sees it. Must not promise vectors that fit those of another model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]


class Embedder(Protocol):
    """Texts as vectors of their meaning.

    Promise: vectors have length 1; the same text gives the same vector; the event loop is never held up; questions do
    not wait for documents. Raises EmbeddingUnavailable. Nothing is ever downloaded.
    """

    @property
    def name(self) -> str:
        """Which model this is: vectors of different names must not be compared."""
        ...

    async def embed_question(self, text: str) -> Vectors:
        """The vector of what is asked, one dimension; long texts are cut early, for somebody waits."""
        ...

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """The vectors of these texts, one a row."""
        ...
