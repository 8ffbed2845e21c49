"""An embedder that makes vectors without a model, for stores too large to embed. Must not be used to judge quality."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from bot.ports.embedding import Vectors

DIMENSIONS = 384
CENTRES = 400


class SyntheticEmbedder:
    """The same text gives the same vector; texts fall into some hundred clusters, as those of one company do."""

    name = "synthetic"

    def __init__(self) -> None:
        made = np.random.default_rng(3).standard_normal((CENTRES, DIMENSIONS))
        self._centres = made.astype(np.float32)

    async def embed_question(self, text: str) -> Vectors:
        return self._vector(text)

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._vector(text) for text in texts])

    def _vector(self, text: str) -> Vectors:
        number = zlib.crc32(text.encode())
        own = np.random.Generator(np.random.SFC64(number)).standard_normal(DIMENSIONS, dtype=np.float32)
        vector = self._centres[number % CENTRES] + own
        unit: Vectors = vector / np.float32(np.linalg.norm(vector))
        return unit
