"""The first lines of a post and the state that they tell. Must not know any single tool."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.domain.alerts.alert import AlertState
from bot.parsers.common.labels import Labels
from bot.parsers.message import Message
from bot.parsers.vocabulary.severities import severity_of
from bot.parsers.vocabulary.states import (
    color_state,
    emoji_state,
    is_warning_emoji,
    phrase_state,
    strip_emoji,
    strip_trailing_emoji,
    token_state,
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
    """One first line: the words with emoji removed, the emoji, and the short tokens (brackets, prefix, suffix)."""

    text: str
    emoji: tuple[str, ...]
    brackets: tuple[str, ...]
    prefixes: tuple[str, ...]
    suffix: str

    def tokens(self) -> Iterator[str]:
        """Tokens that may state the state or the severity, the most deliberate first."""
        yield from self.brackets
        yield from self.prefixes
        if self.suffix:
            yield self.suffix


def head_of(line: str) -> Head:
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


def heads_of(message: Message) -> tuple[Head, ...]:
    """The first lines of everything the poster wrote, most title-like first."""
    own = [card for card in message.cards if not card.unfurl]
    lines: list[str] = [*message.headings, *(h for card in own for h in card.headings), *(c.title for c in own)]
    if message.email:
        lines.append(message.email.subject)
    lines += [line for line in message.lines[1:4] if any(token_state(b) for b in BRACKET.findall(line[:300]))]
    lines += [text.lstrip("\n").partition("\n")[0] for text in (message.text, *message.sections[:2])]
    lines += [text.lstrip("\n").partition("\n")[0] for card in own for text in (card.pretext, card.text)]
    lines += [label for label, _ in message.fields[:20] if phrase_state(label)]
    lines += [] if any(lines) else list(message.lines[:1])
    kept = dict.fromkeys(line.strip() for line in lines if line.strip())
    return tuple(head_of(line) for line in list(kept)[:12])


def states_only(token: str) -> bool:
    """Whether a short token says nothing but state, severity and filler words ("Health Rule Violation Ended")."""
    token = _JOINED.sub(" ", token)
    if token_state(token) or (severity_of(token) and len(token.split()) <= 2):
        return True
    words = [w.casefold().strip(".!*,") for w in re.split(r"[\s\-–/,]+", token) if w]
    known = [w for w in words if token_state(w) or severity_of(w)]
    return bool(known) and all(w in _FILLERS or w in known for w in words)


def word_state(token: str) -> AlertState | None:
    """The state of a short token, as a whole or by its words; None where it is about something else."""
    whole = token_state(token)
    if whole or not states_only(token):
        return whole
    states = [s for s in map(token_state, re.split(r"[\s/,-]+", _JOINED.sub(" ", token))) if s]
    return next((s for s in states if s is not AlertState.FIRING), states[0] if states else None)


def _is_weak(token: str) -> bool:
    return all(word.strip(".!:*").casefold() in _WEAK or severity_of(word) for word in token.split())


def status_line_state(message: Message) -> AlertState | None:
    """The state of the first status-page line ("Investigating - ..."); pages list the newest first."""
    for line in message.lines[:15]:
        match = _STATUS_LINE.match(line)
        if match:
            word = match[1].casefold()
            return (
                AlertState.RESOLVED if word in {"completed", "postmortem"} else (token_state(word) or AlertState.UPDATE)
            )
    return None


def state_of(message: Message, heads: Sequence[Head], labels: Labels) -> tuple[AlertState | None, bool]:
    """The state and whether something deliberate says so (a token, field, emoji), not just colour or prose."""
    tokens = [(token, word_state(token)) for head in heads for token in head.tokens()]
    strong = [state for token, state in tokens if state and not _is_weak(token)]
    field = next((s for s in (token_state(labels.all[k]) for k in STATE_KEYS if k in labels.all) if s), None)
    listed = status_line_state(message)
    ended = next((s for s in strong if s is not AlertState.FIRING), None)
    emoji = next((s for s in (emoji_state(head.emoji) for head in heads) if s), None)
    for state in (ended, listed, field, *strong, emoji):
        if state:
            return state, True
    told = next((s for s in (phrase_state(head.text) for head in heads) if s), None)
    color = next((s for s in map(color_state, message.colors) if s), None)
    weak = any(state for _, state in tokens)
    if told in {AlertState.FIRING, AlertState.RESOLVED, None} and color:
        return color, weak
    if told or weak:
        return told or AlertState.FIRING, weak
    return None, False


def warns(heads: Sequence[Head]) -> bool:
    """Whether a warning emoji leads a first line."""
    return any(is_warning_emoji(name) for head in heads for name in head.emoji)
