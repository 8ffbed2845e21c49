"""Words of a text: tokens, normalising, what makes two texts the same. Must not score or search.

Filled by the index work: see `normalise` for the one that grouping uses.
"""

from __future__ import annotations

import re
import unicodedata

_NUMBERING = re.compile(r"^\s*(?:\d+[.)]|[-*•])\s+")


def normalise(text: str) -> str:
    """The form under which two fixes or checks are the same: NFKC, case folded, spaces collapsed, numbering and final
    punctuation removed (design 6)."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(_NUMBERING.sub("", folded).split()).rstrip(".;,:! ")
