"""Read the first lines of a post and the state that they report."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.domain.alerts.alert import AlertState
from bot.parsers.common.labels import Labels
from bot.parsers.message import Message
from bot.parsers.vocabulary.severities import read_severity
from bot.parsers.vocabulary.states import (
    is_warning_emoji,
    read_color_state,
    read_emoji_state,
    read_phrase_state,
    read_token_state,
    strip_emoji,
    strip_trailing_emoji,
)

STATE_KEYS = (
    "status", "state", "current_state", "state_changed_to", "monitor_condition", "alert_state", "alert_status", "new_state", "notification_type",
    "event_state", "event_status", "problem_status", "monitor_status", "incident_state", "incident_status", "condition", "health_status", "stav",
)  # fmt: skip
_FILLERS_LISTED = (
    "rule health violation service host monitor alert is new system notification job test event task the this "
    "your critical high"
)
_FILLERS = frozenset(_FILLERS_LISTED.split())
_WEAK_LISTED = (
    "alert alerte alerta alarm alarma alarme warning warn critical crit error failure new major unknown incident "
    "アラート 警告 started"
)
_WEAK = frozenset(_WEAK_LISTED.split())
BRACKET = re.compile(r"[\[【［]([^\[\]【】［］\n]{1,80})[\]】］]")
PREFIX = re.compile(r"^([^:：\n]{1,60}?)\s*[:：](?=\s|\D)(?!//)\s*(?=\S)")
SUFFIX = re.compile(r"(?:[:：]|\s[-–—|])\s*([^:：|–—\n]{2,30})$")
_STATUS_LINE = re.compile(
    r"^\W{0,4}(investigating|identified|monitoring|resolved|update|postmortem|in progress|completed|verifying)\W{0,2}\s*[-–—:]\s",
    re.IGNORECASE,
)
_DASHED = re.compile(r"^([^:：\n]{1,50}?)\s+[-–—|]\s+(?=\S)")
_JOINED = re.compile(r"(?<=[a-z])(?=[A-Z])")  # "ResolvedCritical"
_MENTION = re.compile(r"(?:^|\s)@[\w-]{1,40}")


@dataclass(frozen=True, slots=True)
class Head:
    """One first line taken apart."""

    text: str  # without emoji
    emoji: tuple[str, ...]
    brackets: tuple[str, ...]  # short tokens that may state something, like prefixes and suffix
    prefixes: tuple[str, ...]
    suffix: str

    def list_tokens(self) -> Iterator[str]:
        """Yield the tokens that may state the state or the severity, most deliberate first."""
        yield from self.brackets
        yield from self.prefixes
        if self.suffix:
            yield self.suffix


def parse_head(line: str) -> Head:
    """Take one line apart."""
    text, emoji = strip_emoji(_MENTION.sub(" ", line[:600]).strip())
    text, trailing = strip_trailing_emoji(text)
    brackets = tuple(BRACKET.findall(text)[:4])
    rest = text
    while match := BRACKET.match(rest.lstrip(" -–:")):
        rest = rest.lstrip(" -–:")[match.end() :]
    rest, more = strip_emoji(rest)
    found = [match[1] for match in (PREFIX.match(rest), _DASHED.match(rest)) if match]
    suffix = SUFFIX.search(rest)
    return Head(text, emoji + more + trailing, brackets, tuple(dict.fromkeys(found)), suffix[1] if suffix else "")


def find_heads(message: Message) -> tuple[Head, ...]:
    """Return the first lines of everything the poster wrote, most title-like first."""
    own = [card for card in message.cards if not card.unfurl]
    lines: list[str] = [*message.headings, *(h for card in own for h in card.headings), *(c.title for c in own)]
    if message.email:
        lines.append(message.email.subject)
    lines += [line for line in message.lines[1:4] if any(read_token_state(b) for b in BRACKET.findall(line[:300]))]
    lines += [text.lstrip("\n").partition("\n")[0] for text in (message.text, *message.sections[:2])]
    lines += [text.lstrip("\n").partition("\n")[0] for card in own for text in (card.pretext, card.text)]
    lines += [label for label, _ in message.fields[:20] if read_phrase_state(label)]
    lines += [] if any(lines) else list(message.lines[:1])
    kept = dict.fromkeys(line.strip() for line in lines if line.strip())
    return tuple(parse_head(line) for line in list(kept)[:12])


def is_state_only(token: str) -> bool:
    """Return whether a short token is only state, severity and filler words ("Health Rule Violation Ended")."""
    token = _JOINED.sub(" ", token)
    if read_token_state(token) or (read_severity(token) and len(token.split()) <= 2):
        return True
    words = [w.casefold().strip(".!*,") for w in re.split(r"[\s\-–/,]+", token) if w]
    known = [w for w in words if read_token_state(w) or read_severity(w)]
    return bool(known) and all(w in _FILLERS or w in known for w in words)


def read_word_state(token: str) -> AlertState | None:
    """Return the state of a short token, as a whole or by its words; None if it is about something else."""
    whole = read_token_state(token)
    if whole or not is_state_only(token):
        return whole
    states = [s for s in map(read_token_state, re.split(r"[\s/,-]+", _JOINED.sub(" ", token))) if s]
    return next((s for s in states if s is not AlertState.FIRING), states[0] if states else None)


def _is_weak(token: str) -> bool:
    return all(word.strip(".!:*").casefold() in _WEAK or read_severity(word) for word in token.split())


def read_status_line(message: Message) -> AlertState | None:
    """Return the state of the first status-page line ("Investigating - ..."); pages list the newest first."""
    for line in message.lines[:15]:
        match = _STATUS_LINE.match(line)
        if match:
            word = match[1].casefold()
            return (
                AlertState.RESOLVED
                if word in {"completed", "postmortem"}
                else (read_token_state(word) or AlertState.UPDATE)
            )
    return None


def find_state(message: Message, heads: Sequence[Head], labels: Labels) -> tuple[AlertState | None, bool]:
    """Return the state, and whether something deliberate states it (a token, field, emoji), not only color or prose."""
    tokens = [(token, read_word_state(token)) for head in heads for token in head.list_tokens()]
    strong = [state for token, state in tokens if state and not _is_weak(token)]
    field = next((s for s in (read_token_state(labels.all[k]) for k in STATE_KEYS if k in labels.all) if s), None)
    listed = read_status_line(message)
    ended = next((s for s in strong if s is not AlertState.FIRING), None)
    emoji = next((s for s in (read_emoji_state(head.emoji) for head in heads) if s), None)
    for state in (ended, listed, field, *strong, emoji):
        if state:
            return state, True
    told = next((s for s in (read_phrase_state(head.text) for head in heads) if s), None)
    color = next((s for s in map(read_color_state, message.colors) if s), None)
    weak = any(state for _, state in tokens)
    if told in {AlertState.FIRING, AlertState.RESOLVED, None} and color:
        return color, weak
    if told or weak:
        return told or AlertState.FIRING, weak
    return None, False


def has_warning(heads: Sequence[Head]) -> bool:
    """Return whether a warning emoji leads a first line."""
    return any(is_warning_emoji(name) for head in heads for name in head.emoji)
