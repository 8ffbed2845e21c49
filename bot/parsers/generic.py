"""Parse every tool without a parser of its own, and people's scripts. Comes last; keyed on no company, host or id."""

from __future__ import annotations

import re

from bot.parsers.common.draft import Draft, Refusal
from bot.parsers.common.heads import Head, find_heads, find_state, has_warning, read_status_line
from bot.parsers.common.labels import find_labels
from bot.parsers.message import Message
from bot.parsers.vocabulary.noise import HEARTBEAT, find_noise
from bot.parsers.vocabulary.states import read_color_state, read_phrase_state

TOOL = "generic"
_STATUS_PAGE = re.compile(
    r"https?://(?:[\w.-]+\.)?(?:status\.[\w.-]+|[\w-]*status\.(?:com|io|net|org)|[\w-]+\.statuspage\.io)", re.IGNORECASE
)
_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("vendor_status", re.compile(r"^\W*(?:investigating|identified|monitoring)\W{0,2}\s*[-–:]|\bservice impact\b|\baffected components?\b|\breports reduced\b|\bpayment downtime\b", re.IGNORECASE | re.MULTILINE)),
    ("human_report", re.compile(r"\breported by\b|\bwhat is broken\b|\boutage report\b|\bgemeldet von\b|\bsignalé par\b", re.IGNORECASE)),
    ("ci", re.compile(r"\bgithub actions?\b|\b(?:job|build|pipeline|workflow|deploy) (?:failed|succeeded|failure|passed|is broken)\b|\bstill failing\b|#\d+ (?:failure|success|unstable|back to normal)|\bbranch:", re.IGNORECASE)),
    ("job", re.compile(r"\btask failed\b|\bdag:|\bcron ?job\b", re.IGNORECASE)),
    ("security", re.compile(r"\bsyscall\b|\bintrusion\b|\bmitre\b|\bcve-\d{4}|\bmalware\b|\bshell was spawned\b", re.IGNORECASE)),
    ("deploy", re.compile(r"\brollout\b|\bsync operation\b|\bcanary\b", re.IGNORECASE)),
)  # fmt: skip
_ARTICLE = re.compile(
    r"^\s*(?:how (?:we|to)|why|what|introducing|announcing|lessons|a guide|the state of|this week)\b", re.IGNORECASE
)
_TALK = re.compile(r"\b(?:i|we|you|i'm|we're|anyone|someone|please|thanks|let's|lol)\b", re.IGNORECASE)
_WHAT_IS_BROKEN = re.compile(r"^what is (?:broken|wrong|happening)\??:?\s+(.{3,200})$", re.IGNORECASE | re.MULTILINE)


def matches(message: Message) -> bool:
    """Everything that is left."""
    return True


def classify_kind(message: Message) -> str:
    """Return the kind of alert by its words: a status page, a pipeline, a report by a person, or plain "alert"."""
    if any(_STATUS_PAGE.match(link.url) for link in message.links) and read_status_line(message):
        return "vendor_status"
    names = " ".join(link.url for link in message.links if _STATUS_PAGE.match(link.url))
    if names and message.poster.name.casefold().find("status") >= 0:
        return "vendor_status"
    return next((kind for kind, pattern in _KINDS if pattern.search(message.body[:3000])), "alert")


def _is_alert(message: Message, heads: tuple[Head, ...], *, deliberate: bool) -> bool:
    """Return whether the post is an alert at all, given that something in it looks like a state."""
    if deliberate:
        return True
    colored = any(read_color_state(color) for color in message.colors) or has_warning(heads)
    told = any(read_phrase_state(head.text) for head in heads)
    talk = any(_ARTICLE.match(head.text) for head in heads) or (_TALK.search(message.body[:400]) and not message.email)
    return (told and (colored or not talk)) or (colored and bool(message.fields or message.cards))


def parse(message: Message) -> Draft | Refusal:
    """Draft state and kind; the shared readings do the rest."""
    noise = find_noise(message.body)
    heads = find_heads(message)
    if noise:
        return Refusal(*noise)
    if HEARTBEAT.search(" ".join(head.text for head in heads)[:600]):
        return Refusal("heartbeat", "a sign of life")
    labels = find_labels(message)
    state, deliberate = find_state(message, heads, labels)
    if state is None:
        return Refusal("bot_noise", "nothing in it states a problem or its end")
    if not _is_alert(message, heads, deliberate=deliberate):
        return Refusal("chatter", "words of trouble, but no alert")
    asked = _WHAT_IS_BROKEN.search(message.body)
    return Draft(TOOL, state, kind=classify_kind(message), title=asked[1].strip() if asked else None)
