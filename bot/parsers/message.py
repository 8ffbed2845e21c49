"""Slack message event → one frozen value of plain lines, fields and links.

Reads text, blocks, attachments and files, at most the first 64 kB; of one text the first 6,000 characters, of a
title the first 1,000 and of all running text the first 10,000 are interpreted, fields and titles go on. Must not judge what the post means, and must not
fail on any JSON: wrong types read as absent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.domain.alerts.alert import Delivery
from bot.domain.catalog.vendors import STANDARD, Directory
from bot.parsers.text.markup import Link, plain

LIMIT_BYTES = 64 * 1024
LONGEST_TEXT = 6_000  # characters of one text that are interpreted: what follows in a log dump says the same
LONGEST_TITLE = 1_000
LONGEST_BODY = 10_000  # characters of all lines
_LINKS_CHARS = 64 * 1024
_MOST_ITEMS = 200
_DEEPEST = 8


@dataclass(frozen=True, slots=True)
class Poster:
    """Who posted: ids as Slack gives them, the shown name, and what kind of poster it is."""

    user: str = ""
    bot_id: str = ""
    app_id: str = ""
    name: str = ""
    is_bot: bool = False
    is_workflow: bool = False


@dataclass(frozen=True, slots=True)
class Card:
    """One attachment in plain text; `color` is bare lower-case hex, `unfurl` marks what Slack added for a link."""

    title: str = ""
    title_url: str = ""
    pretext: str = ""
    author: str = ""
    text: str = ""
    footer: str = ""
    fallback: str = ""
    color: str = ""
    unfurl: bool = False
    headings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Email:
    """A mail that Slack's mail integration posted."""

    subject: str = ""
    sender: str = ""
    body: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """A Slack message, flat. `lines` hold everything readable in reading order; `fields` are label and value pairs;
    `names` is what the organisation and its vendors are called."""

    text: str = ""
    lines: tuple[str, ...] = ()
    fields: tuple[tuple[str, str], ...] = ()
    links: tuple[Link, ...] = ()
    headings: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    cards: tuple[Card, ...] = ()
    alt_texts: tuple[str, ...] = ()
    email: Email | None = None
    poster: Poster = field(default_factory=Poster)
    subtype: str = ""
    delivery: Delivery = Delivery.POST
    shared: bool = False
    own_metadata: bool = False
    has_files: bool = False
    root: Message | None = None
    truncated: bool = False
    names: Directory = STANDARD

    @property
    def body(self) -> str:
        """All lines as one text."""
        return "\n".join(self.lines)

    @property
    def colors(self) -> tuple[str, ...]:
        """Colours of the cards that the poster made, in order."""
        return tuple(card.color for card in self.cards if card.color and not card.unfurl)


def _str(value: object) -> str:
    return value if isinstance(value, str) else ""


def _dict(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _dicts(value: object) -> Iterable[Mapping[str, Any]]:
    items = value[:_MOST_ITEMS] if isinstance(value, list) else []
    return [item for item in items if isinstance(item, Mapping)]


def _at_a_gap(text: str, most: int) -> str:
    """At most so many characters, cut between words: half a secret is not recognised as one."""
    if len(text) <= most:
        return text
    gap = max(text.rfind(" ", 0, most), text.rfind("\n", 0, most))
    return text[: gap if gap > 0 else most]


class _Reader:
    """Collects while walking one message; counts the bytes it has taken."""

    def __init__(self) -> None:
        self.left = LIMIT_BYTES
        self.lines_left = LONGEST_BODY
        self.aside_left = _LINKS_CHARS
        self.truncated = False
        self.lines: list[str] = []
        self.seen: set[str] = set()
        self.fields: list[tuple[str, str]] = []
        self.links: list[Link] = []
        self.headings: list[str] = []
        self.sections: list[str] = []
        self.cards: list[Card] = []
        self.alt_texts: list[str] = []

    def take(self, value: object, place: str = "text", most: int = LONGEST_TEXT) -> str:
        """Plain text of one Slack string, within what is left of the limit; its links are noted."""
        raw = _str(value)
        if not raw or not self.left:
            self.truncated = self.truncated or bool(raw)
            return ""
        cut = raw[: self.left]
        size = len(cut.encode("utf-8", "replace"))
        if size > self.left:
            cut = cut.encode("utf-8", "replace")[: self.left].decode("utf-8", "ignore")
            size = self.left
        self.truncated = self.truncated or len(cut) < len(raw)
        self.left -= size
        shown, links = plain(_at_a_gap(cut, most), place)
        self.links.extend(links)
        return shown.strip("\n")

    def say(self, text: str) -> None:
        """Add lines in reading order; the same line is kept once, as text and blocks often repeat each other."""
        for line in text.split("\n"):
            key = line.strip()
            if key and key not in self.seen and self.lines_left > 0:
                kept = _at_a_gap(line.rstrip(), self.lines_left)
                self.lines_left -= len(kept) + 1 if len(kept) == len(line.rstrip()) else self.lines_left
                self.seen.add(key)
                self.lines.append(kept)

    def aside(self, value: object, most: int) -> str:
        """A string that is no running text (an address, an alternative text), cut; all of them have a limit of their own."""
        cut = _str(value)[: min(most, self.aside_left)]
        self.aside_left -= len(cut)
        return cut

    def pair(self, label: str, value: str) -> None:
        """Add a field; both halves also become a line."""
        if label or value:
            self.fields.append((label.strip().rstrip(":："), value.strip()))
            self.say(f"{label.strip().rstrip(':：')}: {value}" if label and value else label or value)

    def link(self, label: object, url: object, place: str) -> None:
        """Note a link that is not in any text."""
        address = self.aside(url, 4000)
        if address.startswith(("http://", "https://")):
            name, _ = plain(self.aside(label, 200))
            self.links.append(Link(name.strip(), plain(address)[0].strip(), place))


def _text_of(block_text: object) -> object:
    """The string of a text object (or a bare string)."""
    return _dict(block_text).get("text") if isinstance(block_text, Mapping) else block_text


def _field_text(reader: _Reader, raw: object) -> None:
    """A section field: its first line or what stands before the colon is the label."""
    shown = reader.take(_text_of(raw))
    first, newline, rest = shown.partition("\n")
    if newline and len(first) <= 60:
        reader.pair(first, rest.strip())
        return
    label, colon, value = shown.partition(":")
    if colon and len(label) <= 40 and not value.startswith("//"):
        reader.pair(label, value)
    else:
        reader.say(shown)


def _rich_text(node: Mapping[str, Any], left: int, depth: int = 0) -> str:
    """The mrkdwn-like text of a rich_text element, links and emoji included; stops once `left` characters are there."""
    if depth > _DEEPEST or left <= 0:
        return ""
    kind = _str(node.get("type"))
    if kind == "link":
        label = f"|{_str(node.get('text'))}" if node.get("text") else ""
        return f"<{_str(node.get('url'))}{label}>"
    if kind == "emoji":
        return f":{_str(node.get('name'))}:"
    if kind in {"user", "usergroup", "channel", "broadcast"}:
        return f"@{_str(node.get(kind + '_id'))}" if kind == "user" else ""
    if kind == "text":
        return _str(node.get("text"))
    inner: list[str] = []
    for child in _dicts(node.get("elements")):
        inner.append(_rich_text(child, left, depth + 1))
        left -= len(inner[-1]) + 1
    joined = ("\n" if kind in {"rich_text", "rich_text_list"} else "").join(inner)
    return f"{joined}\n" if kind in {"rich_text_preformatted", "rich_text_quote"} else joined


def _elements(block: Mapping[str, Any], reader: _Reader) -> None:
    """Context texts, images' alternative texts, buttons with addresses."""
    for element in _dicts(block.get("elements")):
        if element.get("url"):
            reader.link(_text_of(element.get("text")), element.get("url"), "button")
        elif element.get("alt_text"):
            reader.alt_texts.append(reader.aside(element.get("alt_text"), 200))
        elif element.get("type") != "button":
            reader.say(reader.take(_text_of(element.get("text"))))


def _block(block: Mapping[str, Any], reader: _Reader, headings: list[str]) -> None:
    kind = _str(block.get("type"))
    if kind == "rich_text":
        reader.say(reader.take(_rich_text(block, reader.left + 1)))
        return
    if kind == "image":
        reader.alt_texts.append(reader.aside(block.get("alt_text"), 200))
        return
    shown = reader.take(_text_of(block.get("text")))
    if shown and kind == "header":
        headings.append(shown)
    elif shown:
        reader.sections.append(shown)
    reader.say(shown)
    fields = block.get("fields")
    for item in fields[:_MOST_ITEMS] if isinstance(fields, list) else []:
        _field_text(reader, item)
    accessory = _dict(block.get("accessory"))
    reader.link(_text_of(accessory.get("text")), accessory.get("url"), "button")
    _elements(block, reader)


def _is_unfurl(raw: Mapping[str, Any]) -> bool:
    return bool(raw.get("is_app_unfurl") or raw.get("is_msg_unfurl") or raw.get("is_share") or raw.get("from_url"))


def _card(raw: Mapping[str, Any], reader: _Reader) -> None:
    """One attachment. What Slack unfurled for a link is kept as a card, its words do not count as the post's."""
    if _is_unfurl(raw):
        reader.cards.append(Card(title=plain(reader.aside(raw.get("title"), 300))[0], unfurl=True))
        return
    pretext, author = reader.take(raw.get("pretext")), reader.take(raw.get("author_name"), most=LONGEST_TITLE)
    title = reader.take(raw.get("title"), most=LONGEST_TITLE)
    title_url = plain(reader.aside(raw.get("title_link"), 4000))[0].strip()
    reader.link(title, raw.get("title_link"), "title")
    for shown in (pretext, author, title):
        reader.say(shown)
    text = reader.take(raw.get("text"))
    reader.say(text)
    headings: list[str] = []
    for block in _dicts(raw.get("blocks")):
        _block(block, reader, headings)
    for item in _dicts(raw.get("fields")):
        reader.pair(reader.take(item.get("title")), reader.take(item.get("value"), "field"))
    for action in _dicts(raw.get("actions")):
        reader.link(action.get("text"), action.get("url"), "button")
    footer = reader.take(raw.get("footer"), "footer")
    reader.say(footer)
    fallback = plain(reader.aside(raw.get("fallback"), 2000))[0]
    color = _str(raw.get("color")).lower().lstrip("#")[:7]
    named = {"good": "2eb886", "danger": "a30200", "warning": "daa038"}.get(color, color)
    reader.cards.append(
        Card(title, title_url, pretext, author, text, footer, fallback, named, headings=tuple(headings))
    )


def _email(raw: Mapping[str, Any], reader: _Reader) -> Email | None:
    """The mail of a posted file, if it is one."""
    files = [f for f in _dicts(raw.get("files")) if "email" in (f.get("filetype"), f.get("mode"))]
    if not files:
        return None
    first = files[0]
    senders = [_str(sender.get("address")) for sender in _dicts(first.get("from"))]
    subject = reader.take(first.get("subject") or first.get("title"))
    reader.say(subject)
    body = reader.take(first.get("plain_text") or first.get("preview_plain_text"))
    reader.say(body)
    return Email(subject, senders[0][:200] if senders else "", body)


def _poster(raw: Mapping[str, Any]) -> Poster:
    profile = _dict(raw.get("bot_profile"))
    name = _str(raw.get("username")) or _str(profile.get("name"))
    is_bot = bool(raw.get("bot_id") or profile or raw.get("subtype") == "bot_message")
    app_id = _str(raw.get("app_id")) or _str(profile.get("app_id"))
    workflow = bool(profile.get("is_workflow_bot"))
    return Poster(_str(raw.get("user")), _str(raw.get("bot_id")), app_id, name[:200], is_bot, workflow)


def _delivery(event: Mapping[str, Any], raw: Mapping[str, Any]) -> Delivery:
    """How it arrived. A post whose thread is itself is top level (PagerDuty does that)."""
    if event is not raw:
        return Delivery.EDIT
    if raw.get("subtype") == "thread_broadcast":
        return Delivery.THREAD_BROADCAST
    thread = _str(raw.get("thread_ts"))
    return Delivery.THREAD_REPLY if thread and thread != raw.get("ts") else Delivery.POST


def parse_message(event: Mapping[str, Any], *, with_root: bool = True, names: Directory = STANDARD) -> Message:
    """Flatten one event; an edit is read as its new content, a broadcast reply keeps the message it answers."""
    edited = event.get("subtype") == "message_changed"
    raw = _dict(event.get("message")) if edited else event
    reader = _Reader()
    text = reader.take(raw.get("text"))
    reader.say(text)
    headings: list[str] = []
    for block in _dicts(raw.get("blocks")):
        _block(block, reader, headings)
    for card in _dicts(raw.get("attachments")):
        _card(card, reader)
    email = _email(raw, reader)
    root = _dict(raw.get("root"))
    return Message(
        text=text,
        lines=tuple(reader.lines),
        fields=tuple(reader.fields),
        links=tuple(reader.links),
        headings=tuple(headings),
        sections=tuple(reader.sections),
        cards=tuple(reader.cards),
        alt_texts=tuple(reader.alt_texts),
        email=email,
        poster=_poster(raw),
        subtype=_str(raw.get("subtype")),
        delivery=_delivery(event, raw),
        shared=any(card.get("is_share") or card.get("is_msg_unfurl") for card in _dicts(raw.get("attachments"))),
        own_metadata=_str(_dict(raw.get("metadata")).get("event_type")).startswith("precedent"),
        has_files=bool(raw.get("files")),
        root=parse_message(root, with_root=False, names=names) if root and with_root else None,
        truncated=reader.truncated,
        names=names,
    )
