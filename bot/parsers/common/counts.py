"""How many alerts of a group fire and how many have cleared, where a bracket in the post counts them: "[FIRING:2, RESOLVED:1]".

Must not count what a post lists: lists are cut.
"""

from __future__ import annotations

import re

from bot.parsers.message import Message

_BRACKET = re.compile(r"\[FIRING:(\d{1,5})(?:,\s?RESOLVED:(\d{1,5}))?\]", re.IGNORECASE)


def read_counts(message: Message) -> tuple[int | None, int | None]:
    """Firing and cleared; None where the post does not count."""
    texts = (text for card in message.cards if not card.unfurl for text in (card.title, card.fallback))
    found = next((match for text in (*texts, message.text) if (match := _BRACKET.search(text[:2000]))), None)
    if found is None:
        return None, None
    return int(found[1]), int(found[2]) if found[2] else None
