"""Split texts into tokens and character n-grams, and normalize what makes two texts the same.

Tokens are what the index stores: stemmed words, whole names beside their parts (`KubePodCrashLooping`,
`http_5xx_rate`), and pairs of characters in scripts without spaces (Chinese, Japanese, Thai, ...).
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from functools import lru_cache

import Stemmer

_NUMBERING = re.compile(r"^\s*(?:\d+[.)]|[-*•])\s+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_+")
# scripts written without spaces: Thai to Myanmar, Khmer, kana, CJK ideographs
_SPACELESS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff]+"
)
_DIGITS = re.compile(r"\d+")
_WORD_CATEGORIES = frozenset("LMN")
_STEMMER = Stemmer.Stemmer("english")
# The version of the tokens: an index built with another one is rebuilt.
TOKENS_VERSION = 1
GRAM_SIZES = (3, 4, 5)
LONGEST_TOKEN = 64
# words that say nothing about what happened; in a small store their rarity would be taken for meaning
FUNCTION_WORDS = frozenset(
    [
        "a",
        "an",
        "the",
        "this",
        "that",
        "these",
        "those",
        "it",
        "its",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "being",
        "am",
        "do",
        "does",
        "did",
        "has",
        "have",
        "had",
        "of",
        "in",
        "on",
        "at",
        "by",
        "for",
        "from",
        "to",
        "with",
        "into",
        "over",
        "under",
        "than",
        "then",
        "as",
        "and",
        "or",
        "but",
        "not",
        "no",
        "if",
        "so",
        "such",
        "there",
        "here",
        "which",
        "who",
        "what",
        "when",
        "where",
        "while",
        "will",
        "would",
        "can",
        "could",
        "should",
        "may",
        "might",
        "must",
        "more",
        "most",
        "very",
        "also",
        "only",
        "just",
        "per",
        "via",
        "about",
        "after",
        "before",
    ]
)


@lru_cache(maxsize=8192)
def normalize(text: str) -> str:
    """Return the form under which two fixes or checks are the same: NFKC, case folded, spaces collapsed, without
    numbering and final punctuation."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(_NUMBERING.sub("", folded).split()).rstrip(".;,:! ")


def normalize_numbers(text: str) -> str:
    """Return the form under which two texts are near-duplicates: normalized, with all numbers alike."""
    return " ".join(_DIGITS.sub("0", unicodedata.normalize("NFKC", text).casefold()).split())


def hash_form(text: str) -> int:
    """Return `normalize_numbers` of a text as a signed 64-bit number, which an index can store."""
    digest = hashlib.blake2b(normalize_numbers(text).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def hash_wording(text: str) -> str:
    """Return 12 hex digits that are equal for fixes, checks and names that count as the same."""
    return hashlib.sha256(normalize(text).encode("utf-8", "replace")).hexdigest()[:12]


def tokenize(text: str) -> list[str]:
    """Return the index's words of a text, in order and with repetitions."""
    found: list[str] = []
    for word in _split_script(unicodedata.normalize("NFKC", text)):
        if word.casefold() not in FUNCTION_WORDS:
            found.extend(_tokenize_word(word))
    return found


def split_words(text: str) -> list[str]:
    """Return the words of a text as written, case folded, in order: the input of `build_grams`."""
    return [word.casefold() for word in _split_script(unicodedata.normalize("NFKC", text))]


@lru_cache(maxsize=16_384)
def build_grams(word: str) -> tuple[str, ...]:
    """Return all character n-grams (n = 3, 4, 5) of a word with a space at either end."""
    padded = f" {word} "
    return tuple(padded[i : i + n] for n in GRAM_SIZES for i in range(len(padded) - n + 1))


def count_grams(word: str) -> int:
    """Return how many n-grams `build_grams` returns for the word."""
    return sum(max(0, len(word) + 2 - n + 1) for n in GRAM_SIZES)


def _split_script(text: str) -> list[str]:
    return "".join(c if c == "_" or _is_word(c) else " " for c in text).split()


@lru_cache(maxsize=4096)
def _is_word(character: str) -> bool:
    return unicodedata.category(character)[0] in _WORD_CATEGORIES


@lru_cache(maxsize=65_536)
def _tokenize_word(word: str) -> tuple[str, ...]:
    parts = [part for part in _CAMEL.split(word) if part]
    whole = [word.strip("_").casefold()] if len(parts) > 1 else []
    found = [token[:LONGEST_TOKEN] for token in whole if token]
    for part in parts:
        found.extend(_tokenize_part(part.casefold()))
    return tuple(found)


def _tokenize_part(part: str) -> list[str]:
    found: list[str] = []
    end = 0
    for run in _SPACELESS.finditer(part):
        found.extend(_stem(part[end : run.start()]))
        characters = run.group()
        found.extend(characters[i : i + 2] for i in range(max(1, len(characters) - 1)))
        end = run.end()
    return [*found, *_stem(part[end:])]


def _stem(word: str) -> list[str]:
    return [_STEMMER.stemWord(word)[:LONGEST_TOKEN]] if word else []
