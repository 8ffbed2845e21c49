"""Locate a value in a post, in terms that its author knows."""

from __future__ import annotations

from collections.abc import Iterator

from bot.parsers.message import Card, Message


def _list_lines(place: str, text: str) -> Iterator[tuple[str, str]]:
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        yield (f"{place}, line {number}" if len(lines) > 1 else place), line


def _list_card_parts(number: int, card: Card) -> Iterator[tuple[str, str]]:
    name = f"attachments[{number}]"
    for part in ("title", "pretext", "author", "text", "footer"):
        yield from _list_lines(f"{name}.{part}", getattr(card, part))
    for heading in card.headings:
        yield f"{name}.blocks, header", heading


def list_parts(message: Message) -> Iterator[tuple[str, str]]:
    """Yield the readable parts of a post with their names, in reading order; the whole comes last."""
    yield from _list_lines("text", message.text)
    for heading in message.headings:
        yield "blocks, header", heading
    for section in message.sections:
        yield from _list_lines("blocks, section", section)
    for label, value in message.fields:
        yield f"field “{label}”" if label else "field without a title", f"{label}: {value}"
    for number, card in enumerate(message.cards):
        yield from _list_card_parts(number, card)
    if message.email:
        yield "mail, subject", message.email.subject
        yield from _list_lines("mail", message.email.body)
    for number, line in enumerate(message.lines, start=1):
        yield f"line {number} of the post", line
    for link in message.links:
        yield f"link “{link.label}” ({link.place})", f"{link.label} {link.url}"
    yield "name of the poster", message.poster.name
    for number, card in enumerate(message.cards):
        yield f"attachments[{number}].fallback", card.fallback


def find_place(message: Message, value: str | None, key: str = "") -> str | None:
    """Return the first part that contains the value in any case, preferring one that contains the key as well; None if
    no part contains it verbatim."""
    wanted, name = (value or "").casefold(), key.casefold()
    if not wanted:
        return None
    holding = [(place, text.casefold()) for place, text in list_parts(message) if wanted in text.casefold()]
    named = (place for place, text in holding if name in text.replace(wanted, "", 1))
    return next(named, None) or next((place for place, _ in holding), None)
