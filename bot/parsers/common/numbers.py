"""Find labels that a post states in passing: an incident's number, a status page's component.

They never enter the identity.
"""

from __future__ import annotations

import re

from bot.parsers.message import Message

_NUMBERED = re.compile(r"\b(incident|problem|issue|ticket|case) #(\d{1,12})\b", re.IGNORECASE)
_LEADING = re.compile(r"^#(\d{1,12})\s")
_IN_PATH = re.compile(r"/([a-z]{3,20})s/(\d{1,12})(?=[/?#]|$)")
_COMPONENT = re.compile(r"^incident with ([A-Z][\w &/-]{1,40})$", re.IGNORECASE)
_FEED_ANCHOR = re.compile(r"#([a-z0-9]{2,30})-(?:[a-z]{2,12}-)+\d_\d{8,12}$")


def find_numbered_labels(message: Message) -> dict[str, str]:
    """Return the number by which the tool names it: "Incident #40213", or "#912 ..." with a link to /items/912."""
    named = _NUMBERED.search(message.body[:4000])
    found = {f"{named[1].casefold()}_number": named[2]} if named else {}
    for card in message.cards:
        leading, path = _LEADING.match(card.title), _IN_PATH.search(card.title_url)
        if leading and path and leading[1] == path[2]:
            found.setdefault(path[1], path[2])
    return found


def find_status_labels(message: Message, title: str | None) -> dict[str, str]:
    """Return what a status page reports as affected: in its title, or in the anchor of a feed's entry."""
    component = _COMPONENT.match(title or "")
    anchors = (match for match in (_FEED_ANCHOR.search(link.url) for link in message.links) if match)
    anchor = next(anchors, None)
    return ({"component": component[1].strip()} if component else {}) | ({"service": anchor[1]} if anchor else {})
