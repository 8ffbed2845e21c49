"""Turn Slack markup into plain text and links; every pattern is linear in its input."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TOKEN = re.compile(r"<([^<>\n]{1,4000})>")
_BARE_URL = re.compile(r"https?://[^\s<>\"'`|\])}]{3,2000}")
_TAIL = ".,;:!?*_"
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u034f\u200b-\u200f\u2060\ufeff]")
_LABEL_STAR = re.compile(r":[ \t]?\*(?=\s|$)")
_STAR = re.compile(r"\*+(?=\S)|(?<=\S)\*+")
_ITALIC = re.compile(r"(?<![\w/])_([^_\n]{1,300})_(?![\w/])")


@dataclass(frozen=True, slots=True)
class Link:
    """A link of the post."""

    label: str
    url: str
    place: str = "text"  # "title", "text" or "button"


def unescape(text: str) -> str:
    """Undo Slack's three escapes."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def clean(text: str) -> str:
    """Return the text without control characters, joiners and broken surrogates; line ends become newlines."""
    whole = text.encode("utf-8", "replace").decode("utf-8")
    return _CONTROL.sub("", whole.replace("\r\n", "\n").replace("\r", "\n").replace("\xa0", " "))


def _render_token(body: str, place: str, links: list[Link]) -> str:
    """Return the text for one `<...>` token, and note its link."""
    target, _, label = body.partition("|")
    if target.startswith(("http://", "https://", "mailto:")):
        shown = label or target.removeprefix("mailto:")
        if not target.startswith("mailto:"):
            links.append(Link(strip_emphasis(unescape(label)), unescape(target), place))
        return shown
    if target.startswith("!date^"):
        return label
    if target.startswith("!"):
        return ""
    if target[:1] in "@#":
        return target[:1] + (label or target[1:])
    return f"<{body}>"


def strip_emphasis(text: str) -> str:
    """Return the text without bold, italic and code marks; a lone star (as in a cron line) stays."""
    text = _STAR.sub("", _LABEL_STAR.sub(":", text)).replace("`", "")
    return _ITALIC.sub(r"\1", text)


def read_plain(text: str, place: str = "text") -> tuple[str, tuple[Link, ...]]:
    """Return readable text and its links, with escapes decoded; bare addresses are links, too."""
    links: list[Link] = []
    shown = unescape(_TOKEN.sub(lambda m: _render_token(m[1], place, links), clean(text)))
    known = {address for link in links for address in (link.url, link.url.rstrip(_TAIL))}
    for match in _BARE_URL.finditer(shown):
        url = match[0].rstrip(_TAIL)
        if url not in known:
            known.add(url)
            links.append(Link("", url, place))
    return strip_emphasis(shown), tuple(links)
