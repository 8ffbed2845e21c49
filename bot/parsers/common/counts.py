"""Read a post's own count of firing and cleared alerts: "[FIRING:2, RESOLVED:1]".

What a post lists is not counted, because lists are cut.
"""

from __future__ import annotations

import re

from bot.parsers.message import Message

_BRACKET = re.compile(r"\[FIRING:(\d{1,5})(?:,\s?RESOLVED:(\d{1,5}))?\]", re.IGNORECASE)


def read_counts(message: Message) -> tuple[int | None, int | None]:
    """Return (firing, cleared); None where the post does not count."""
    texts = (text for card in message.cards if not card.unfurl for text in (card.title, card.fallback))
    found = next((match for text in (*texts, message.text) if (match := _BRACKET.search(text[:2000]))), None)
    if found is None:
        return None, None
    return int(found[1]), int(found[2]) if found[2] else None
