"""Find the severity that a post states, and its word for it. Values never imply one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bot.domain.alerts.alert import AlertState, Severity
from bot.parsers.common.heads import STATE_KEYS, Head
from bot.parsers.common.labels import Labels
from bot.parsers.message import Message
from bot.parsers.vocabulary.severities import read_azure_severity, read_severity
from bot.parsers.vocabulary.states import strip_emoji

Stated = tuple[Severity | None, str | None]

SEVERITY_KEYS = (
    "severity", "priority", "importance", "sev", "alert_severity", "event_severity", "severity_level", "problem_severity", "level", "urgency", "criticality",
)  # fmt: skip
# Words that are severities only by themselves, as a whole bracket or label.
_PLAIN_LISTED = (
    "error err high low info information none medium moderate major minor average attention page notice "
    "hinweis grave alta alto baja media médio severe urgent panic fatal page blocker elevado haute hoch 中 高 低"
)
_PLAIN = frozenset(_PLAIN_LISTED.split())
_SHOUTED = re.compile(r"\b(?:CRITICAL|WARNING|MAJOR|EMERGENCY|DISASTER|P[1-5]|SEV-?[0-5])\b")
_OUTAGE = re.compile(r"\((major outage|partial outage)\)", re.IGNORECASE)
_GRADED = re.compile(r"^(critical|high|medium|low|major|minor|warning)[ -](?:priority|severity)\b", re.IGNORECASE)
_EXPIRES = re.compile(r"\bwill expire\b|\bexpires (?:in|soon)\b", re.IGNORECASE)
_WARNING_COLOR = "daa038"  # what Slack delivers for the named colour "warning"


def _list_token_words(head: Head) -> Iterator[str]:
    """Yield words of brackets, prefixes and suffixes that may name a severity."""
    for token in head.list_tokens():
        if token in head.brackets and read_severity(token) and len(token.split()) == 1:
            yield token
        elif len(token) <= 40:
            yield from (w for w in re.split(r"[\s\-–/]+", token)[:5] if w.casefold().strip(".:!*") not in _PLAIN)


def _list_lone_words(message: Message) -> Iterator[str]:
    """Yield words behind an emoji that form a line of their own among the first."""
    for line in message.lines[:8]:
        text, emoji = strip_emoji(line)
        if emoji and len(text.split()) == 1:
            yield text


def _read_looks(message: Message, heads: Sequence[Head], labels: Labels) -> Stated:
    """Read the severity of a firing alert by looks: a severe state, a shouted word, an outage grade, Slack's warning
    color."""
    states = [labels.all[key] for key in STATE_KEYS if key in labels.all]
    shouted = [m[0] for m in [_SHOUTED.search(" ".join(head.text for head in heads[:3]))] if m]
    outage = [m[1] for m in [_OUTAGE.search(message.body[:4000])] if m]
    for word in (*states, *shouted, *outage):
        level = read_severity(word[:20])
        if level and (word not in states or level in {Severity.CRITICAL, Severity.WARNING}):
            return level, word
    icon = "warning" in {alt.casefold() for alt in message.alt_texts}
    warned = icon or _WARNING_COLOR in message.colors or _EXPIRES.search(message.body[:2000])
    return (Severity.WARNING, None) if warned else (None, None)


def find_severity(message: Message, heads: Sequence[Head], labels: Labels, state: AlertState) -> Stated:
    """Return the severity and its word, (None, None) if none is stated. Azure's scale is one step milder."""
    for key in SEVERITY_KEYS:
        value = labels.all.get(key, "")
        level = read_severity(value) if 0 < len(value) <= 40 else None
        if level:
            return ("monitor_condition" in labels.all and read_azure_severity(value)) or level, value
    graded = [m[1] for m in (_GRADED.match(head.text) for head in heads) if m]
    for word in (*graded, *(word for head in heads for word in _list_token_words(head))):
        if level := read_severity(word):
            return level, word.strip(" .:!*")
    for word in _list_lone_words(message):
        if level := read_severity(word):
            return level, word
    if state in {AlertState.FIRING, AlertState.ACKNOWLEDGED, AlertState.ESCALATED}:
        return _read_looks(message, heads, labels)
    return None, None
