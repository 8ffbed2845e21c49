"""Flatten a Slack message event into one frozen value of plain lines, fields and links.

Reads text, blocks, attachments and files, at most the first 64 kB. Of one text the first 6,000 characters, of a
title the first 1,000 and of all running text the first 10,000 are interpreted; fields and titles go on. Never fails
on any JSON: wrong types count as absent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.domain.alerts.alert import PostDelivery
from bot.domain.catalog.vendors import STANDARD, Directory
from bot.parsers.text.markup import Link, read_plain

LIMIT_BYTES = 64 * 1024
LONGEST_TEXT = 6_000  # characters of one text that are interpreted: the rest of a log dump repeats them
LONGEST_TITLE = 1_000
LONGEST_BODY = 10_000  # characters of all lines
_LINKS_CHARS = 64 * 1024
_MOST_ITEMS = 200
_DEEPEST = 8


@dataclass(frozen=True, slots=True)
class Poster:
    """Who posted: ids as Slack gives them, the shown name, and the kind of poster."""

    user: str = ""
    bot_id: str = ""
    app_id: str = ""
    name: str = ""
    is_bot: bool = False
    is_workflow: bool = False


@dataclass(frozen=True, slots=True)
class Card:
    """One attachment in plain text."""

    title: str = ""
    title_url: str = ""
    pretext: str = ""
    author: str = ""
    text: str = ""
    footer: str = ""
    fallback: str = ""
    color: str = ""  # bare lower-case hex
    unfurl: bool = False  # Slack added it for a link
    headings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Email:
    """A mail posted by Slack's mail integration."""

    subject: str = ""
    sender: str = ""
    body: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """A flat Slack message."""

    text: str = ""
    lines: tuple[str, ...] = ()  # everything readable, in reading order
    fields: tuple[tuple[str, str], ...] = ()  # label and value pairs
    links: tuple[Link, ...] = ()
    headings: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    cards: tuple[Card, ...] = ()
    alt_texts: tuple[str, ...] = ()
    email: Email | None = None
    poster: Poster = field(default_factory=Poster)
    subtype: str = ""
    delivery: PostDelivery = PostDelivery.POST
    shared: bool = False
    own_metadata: bool = False
    has_files: bool = False
    root: Message | None = None
    truncated: bool = False
    names: Directory = STANDARD  # the names of the organization's services and its vendors

    @property
    def body(self) -> str:
        """All lines as one text."""
        return "\n".join(self.lines)

    @property
    def colors(self) -> tuple[str, ...]:
        """The colors of the poster's own cards, in order."""
        return tuple(card.color for card in self.cards if card.color and not card.unfurl)


def _as_str(value: object) -> str:
    return value if isinstance(value, str) else ""


def _as_dict(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list_dicts(value: object) -> Iterable[Mapping[str, Any]]:
    items = value[:_MOST_ITEMS] if isinstance(value, list) else []
    return [item for item in items if isinstance(item, Mapping)]


def _cut_at_gap(text: str, most: int) -> str:
    """Return at most so many characters, cut between words: half a secret is not recognized."""
    if len(text) <= most:
        return text
    gap = max(text.rfind(" ", 0, most), text.rfind("\n", 0, most))
    return text[: gap if gap > 0 else most]


class _Reader:
    """Collector of one message's parts, which counts the bytes it has taken."""

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
        """Return one Slack string as plain text, within what is left of the limit, and note its links."""
        raw = _as_str(value)
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
        shown, links = read_plain(_cut_at_gap(cut, most), place)
        self.links.extend(links)
        return shown.strip("\n")

    def add_lines(self, text: str) -> None:
        """Add lines in reading order, each once: text and blocks often repeat each other."""
        for line in text.split("\n"):
            key = line.strip()
            if key and key not in self.seen and self.lines_left > 0:
                kept = _cut_at_gap(line.rstrip(), self.lines_left)
                self.lines_left -= len(kept) + 1 if len(kept) == len(line.rstrip()) else self.lines_left
                self.seen.add(key)
                self.lines.append(kept)

    def take_short(self, value: object, most: int) -> str:
        """Return a string that is no running text (an address, an alternative text), cut; these have their own limit."""
        cut = _as_str(value)[: min(most, self.aside_left)]
        self.aside_left -= len(cut)
        return cut

    def add_field(self, label: str, value: str) -> None:
        """Add a field; both halves also become a line."""
        if label or value:
            self.fields.append((label.strip().rstrip(":："), value.strip()))
            self.add_lines(f"{label.strip().rstrip(':：')}: {value}" if label and value else label or value)

    def add_link(self, label: object, url: object, place: str) -> None:
        """Add a link that occurs in no text."""
        address = self.take_short(url, 4000)
        if address.startswith(("http://", "https://")):
            name, _ = read_plain(self.take_short(label, 200))
            self.links.append(Link(name.strip(), read_plain(address)[0].strip(), place))


def _read_text(block_text: object) -> object:
    """Return the string of a text object (or a bare string)."""
    return _as_dict(block_text).get("text") if isinstance(block_text, Mapping) else block_text


def _read_field(reader: _Reader, raw: object) -> None:
    """Read a section field: its first line, or what precedes the colon, is the label."""
    shown = reader.take(_read_text(raw))
    first, newline, rest = shown.partition("\n")
    if newline and len(first) <= 60:
        reader.add_field(first, rest.strip())
        return
    label, colon, value = shown.partition(":")
    if colon and len(label) <= 40 and not value.startswith("//"):
        reader.add_field(label, value)
    else:
        reader.add_lines(shown)


def _flatten_rich_text(node: Mapping[str, Any], left: int, depth: int = 0) -> str:
    """Return a rich_text element as mrkdwn-like text with links and emoji; stop after `left` characters."""
    if depth > _DEEPEST or left <= 0:
        return ""
    kind = _as_str(node.get("type"))
    if kind == "link":
        label = f"|{_as_str(node.get('text'))}" if node.get("text") else ""
        return f"<{_as_str(node.get('url'))}{label}>"
    if kind == "emoji":
        return f":{_as_str(node.get('name'))}:"
    if kind in {"user", "usergroup", "channel", "broadcast"}:
        return f"@{_as_str(node.get(kind + '_id'))}" if kind == "user" else ""
    if kind == "text":
        return _as_str(node.get("text"))
    inner: list[str] = []
    for child in _list_dicts(node.get("elements")):
        inner.append(_flatten_rich_text(child, left, depth + 1))
        left -= len(inner[-1]) + 1
    joined = ("\n" if kind in {"rich_text", "rich_text_list"} else "").join(inner)
    return f"{joined}\n" if kind in {"rich_text_preformatted", "rich_text_quote"} else joined


def _read_elements(block: Mapping[str, Any], reader: _Reader) -> None:
    """Read context texts, images' alternative texts, and buttons with addresses."""
    for element in _list_dicts(block.get("elements")):
        if element.get("url"):
            reader.add_link(_read_text(element.get("text")), element.get("url"), "button")
        elif element.get("alt_text"):
            reader.alt_texts.append(reader.take_short(element.get("alt_text"), 200))
        elif element.get("type") != "button":
            reader.add_lines(reader.take(_read_text(element.get("text"))))


def _read_block(block: Mapping[str, Any], reader: _Reader, headings: list[str]) -> None:
    kind = _as_str(block.get("type"))
    if kind == "rich_text":
        reader.add_lines(reader.take(_flatten_rich_text(block, reader.left + 1)))
        return
    if kind == "image":
        reader.alt_texts.append(reader.take_short(block.get("alt_text"), 200))
        return
    shown = reader.take(_read_text(block.get("text")))
    if shown and kind == "header":
        headings.append(shown)
    elif shown:
        reader.sections.append(shown)
    reader.add_lines(shown)
    fields = block.get("fields")
    for item in fields[:_MOST_ITEMS] if isinstance(fields, list) else []:
        _read_field(reader, item)
    accessory = _as_dict(block.get("accessory"))
    reader.add_link(_read_text(accessory.get("text")), accessory.get("url"), "button")
    _read_elements(block, reader)


def _is_unfurl(raw: Mapping[str, Any]) -> bool:
    return bool(raw.get("is_app_unfurl") or raw.get("is_msg_unfurl") or raw.get("is_share") or raw.get("from_url"))


def _read_card(raw: Mapping[str, Any], reader: _Reader) -> None:
    """Read one attachment. A link's unfurl is kept as a card, but its words do not count as the post's."""
    if _is_unfurl(raw):
        reader.cards.append(Card(title=read_plain(reader.take_short(raw.get("title"), 300))[0], unfurl=True))
        return
    pretext, author = reader.take(raw.get("pretext")), reader.take(raw.get("author_name"), most=LONGEST_TITLE)
    title = reader.take(raw.get("title"), most=LONGEST_TITLE)
    title_url = read_plain(reader.take_short(raw.get("title_link"), 4000))[0].strip()
    reader.add_link(title, raw.get("title_link"), "title")
    for shown in (pretext, author, title):
        reader.add_lines(shown)
    text = reader.take(raw.get("text"))
    reader.add_lines(text)
    headings: list[str] = []
    for block in _list_dicts(raw.get("blocks")):
        _read_block(block, reader, headings)
    for item in _list_dicts(raw.get("fields")):
        reader.add_field(reader.take(item.get("title")), reader.take(item.get("value"), "field"))
    for action in _list_dicts(raw.get("actions")):
        reader.add_link(action.get("text"), action.get("url"), "button")
    footer = reader.take(raw.get("footer"), "footer")
    reader.add_lines(footer)
    fallback = read_plain(reader.take_short(raw.get("fallback"), 2000))[0]
    color = _as_str(raw.get("color")).lower().lstrip("#")[:7]
    named = {"good": "2eb886", "danger": "a30200", "warning": "daa038"}.get(color, color)
    reader.cards.append(
        Card(title, title_url, pretext, author, text, footer, fallback, named, headings=tuple(headings))
    )


def _read_email(raw: Mapping[str, Any], reader: _Reader) -> Email | None:
    """Return the mail of a posted file, if it is one."""
    files = [f for f in _list_dicts(raw.get("files")) if "email" in (f.get("filetype"), f.get("mode"))]
    if not files:
        return None
    first = files[0]
    senders = [_as_str(sender.get("address")) for sender in _list_dicts(first.get("from"))]
    subject = reader.take(first.get("subject") or first.get("title"))
    reader.add_lines(subject)
    body = reader.take(first.get("plain_text") or first.get("preview_plain_text"))
    reader.add_lines(body)
    return Email(subject, senders[0][:200] if senders else "", body)


def _read_poster(raw: Mapping[str, Any]) -> Poster:
    profile = _as_dict(raw.get("bot_profile"))
    name = _as_str(raw.get("username")) or _as_str(profile.get("name"))
    is_bot = bool(raw.get("bot_id") or profile or raw.get("subtype") == "bot_message")
    app_id = _as_str(raw.get("app_id")) or _as_str(profile.get("app_id"))
    workflow = bool(profile.get("is_workflow_bot"))
    return Poster(_as_str(raw.get("user")), _as_str(raw.get("bot_id")), app_id, name[:200], is_bot, workflow)


def _classify_delivery(event: Mapping[str, Any], raw: Mapping[str, Any]) -> PostDelivery:
    """Return how the post arrived. One whose thread is itself is top level (PagerDuty posts like that)."""
    if event is not raw:
        return PostDelivery.EDIT
    if raw.get("subtype") == "thread_broadcast":
        return PostDelivery.THREAD_BROADCAST
    thread = _as_str(raw.get("thread_ts"))
    return PostDelivery.THREAD_REPLY if thread and thread != raw.get("ts") else PostDelivery.POST


def parse_message(event: Mapping[str, Any], *, with_root: bool = True, names: Directory = STANDARD) -> Message:
    """Flatten one event; an edit is read as its new content, and a broadcast reply keeps the message it answers."""
    edited = event.get("subtype") == "message_changed"
    raw = _as_dict(event.get("message")) if edited else event
    reader = _Reader()
    text = reader.take(raw.get("text"))
    reader.add_lines(text)
    headings: list[str] = []
    for block in _list_dicts(raw.get("blocks")):
        _read_block(block, reader, headings)
    for card in _list_dicts(raw.get("attachments")):
        _read_card(card, reader)
    email = _read_email(raw, reader)
    root = _as_dict(raw.get("root"))
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
        poster=_read_poster(raw),
        subtype=_as_str(raw.get("subtype")),
        delivery=_classify_delivery(event, raw),
        shared=any(card.get("is_share") or card.get("is_msg_unfurl") for card in _list_dicts(raw.get("attachments"))),
        own_metadata=_as_str(_as_dict(raw.get("metadata")).get("event_type")).startswith("precedent"),
        has_files=bool(raw.get("files")),
        root=parse_message(root, with_root=False, names=names) if root and with_root else None,
        truncated=reader.truncated,
        names=names,
    )
