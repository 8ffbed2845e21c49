"""Clean text for people: without characters that are invisible or reverse its direction."""

from __future__ import annotations

import unicodedata

# Letters and marks that show as nothing, although their category is that of visible ones.
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_SPACES = frozenset({"Zs", "Zl", "Zp"})
_DROPPED = frozenset({"Cc", "Cf", "Cs"})


def clean(text: str, *, lines: bool = False, exact: bool = False) -> str:
    """Return the text without control, bidirectional, zero-width and invisible characters.

    Spaces are collapsed unless `exact`. Line breaks become spaces unless `lines`.
    """
    rows = _drop_invisible(text.replace("\r\n", "\n").replace("\r", "\n")).split("\n")
    parts = (line.strip() for line in rows) if exact else (" ".join(line.split()) for line in rows)
    return ("\n" if lines else " ").join(p for p in parts if p)


def _drop_invisible(text: str) -> str:
    # Most text has nothing to drop; then one pass in C is all that it costs.
    if text.isprintable() and _INVISIBLE.isdisjoint(text):
        return text
    kept: list[str] = []
    for char in text:
        category = unicodedata.category(char)
        if char == "\n" or char == "\t" or category in _SPACES:
            kept.append("\n" if char in "\n\u2028\u2029" else " ")
        elif category not in _DROPPED and char not in _INVISIBLE:
            kept.append(char)
    return "".join(kept)
