"""The first lines of a post and what they state: state, severity word, title. Must not know any single tool."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.alerts.common.labels import Labels
from bot.alerts.message import Message
from bot.alerts.vocabulary.severities import severity_of
from bot.alerts.vocabulary.states import (
    color_state,
    emoji_state,
    is_warning_emoji,
    phrase_state,
    strip_emoji,
    token_state,
)
from bot.domain.alert import AlertState, Severity

STATE_KEYS = (
    "status", "state", "current_state", "state_changed_to", "monitor_condition", "alert_state", "alert_status", "new_state", "notification_type",
    "event_state", "event_status", "problem_status", "monitor_status", "incident_state", "incident_status", "condition", "health_status", "stav",
)  # fmt: skip
SEVERITY_KEYS = (
    "severity", "priority", "importance", "sev", "alert_severity", "event_severity", "severity_level", "problem_severity", "level", "urgency", "criticality",
)  # fmt: skip
NAME_KEYS = (
    "alertname", "alert_name", "rule", "rule_name", "alarm_name", "monitor_name", "monitor", "policy_name", "condition_name", "problem_name", "check_name",
    "trigger_name", "trigger", "alert_rule", "event_name", "problem",
)  # fmt: skip
_WEAK = frozenset(
    "alert alerte alarm alarma alarme warning warn critical crit error failure new major unknown incident アラート 警告 started".split()
)
_FILLERS = frozenset(
    "rule health violation service host monitor alert is new system notification job test event task the this your critical high".split()
)
_BRACKET = re.compile(r"[\[【［]([^\[\]【】［］\n]{1,80})[\]】］]")
_PREFIX = re.compile(r"^([^:：\n]{1,60}?)(?:\s*[:：](?=\s|\D)|\s+[-–—]\s+)(?!//)\s*(?=\S)")
_SUFFIX = re.compile(r"(?:[:：]|\s[-–—|])\s*([^:：|–—\n]{2,30})$")
_STATUS_LINE = re.compile(
    r"^\W{0,4}(investigating|identified|monitoring|resolved|update|postmortem|in progress|completed|verifying)\W{0,2}\s*[-–—:]\s",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“„«「『]([^\"”“»」』\n]{3,200})[\"”“»」』]")
_GENERIC = re.compile(
    r"^\W*(?:\[no preview available\]|additional info|(?:service|host) \w+ notification|\w+ job (?:failed|succeeded)|(?:new )?alert(?: \w+)?:? ?#?\d+"
    r"|alert|alarm|incident|notification|new (?:alert|incident|outage) ?(?:report)?|view .{0,30}|discover in \w+|@.*)\W*$",
    re.IGNORECASE,
)
_TAILS = (
    re.compile(r"\s+[A-Za-z_][\w.]{0,40}=\S.*$"),
    re.compile(r"\s+on (?:[a-z_]+:[\w./-]+,?)+$"),
    re.compile(r"\s*[:：]?\s+(?:is |at |now |ist |auf |a |to )*[-+]?\d[\d.,]*\s?(?:%|ms|s|x|°C|GB|MB)?\s*[(（].*$"),
    re.compile(r"\s+back to normal\b.*$", re.IGNORECASE),
    re.compile(r"\s+(?:is|are) (?:now )?(?:down|up|active|ok|back|unreachable|offline|online)\b.*$", re.IGNORECASE),
    re.compile(r"\s+has (?:recovered|been resolved)\b.*$", re.IGNORECASE),
    re.compile(r"\s+(?:https?://\S+|@(?:here|channel))\s*$"),
)
_NUMBERED = re.compile(r"^(.{2,100}?) - #\d+ ")
_MENTION = re.compile(r"(?:^|\s)@[\w-]{1,40}")


@dataclass(frozen=True, slots=True)
class Head:
    """One first line: the words with emoji removed, the emoji, and the short tokens (brackets, prefix, suffix)."""

    text: str
    emoji: tuple[str, ...]
    brackets: tuple[str, ...]
    prefix: str
    suffix: str

    def tokens(self) -> Iterator[str]:
        """Tokens that may state the state or the severity, the most deliberate first."""
        yield from self.brackets
        if self.prefix:
            yield self.prefix
        if self.suffix:
            yield self.suffix


def head_of(line: str) -> Head:
    """Take one line apart."""
    text, emoji = strip_emoji(_MENTION.sub(" ", line[:600]).strip())
    brackets = tuple(_BRACKET.findall(text)[:4])
    rest = text
    while match := _BRACKET.match(rest.lstrip(" -–:")):
        rest = rest.lstrip(" -–:")[match.end() :]
    rest, more = strip_emoji(rest)
    prefix = _PREFIX.match(rest)
    suffix = _SUFFIX.search(rest)
    return Head(text, emoji + more, brackets, prefix[1] if prefix else "", suffix[1] if suffix else "")


def heads_of(message: Message) -> tuple[Head, ...]:
    """The first lines of everything the poster wrote, most title-like first."""
    own = [card for card in message.cards if not card.unfurl]
    lines: list[str] = [*message.headings, *(h for card in own for h in card.headings), *(c.title for c in own)]
    if message.email:
        lines.append(message.email.subject)
    lines += [text.lstrip("\n").partition("\n")[0] for text in (message.text, *message.sections[:2])]
    lines += [text.lstrip("\n").partition("\n")[0] for card in own for text in (card.pretext, card.text)]
    lines += list(message.lines[:1])
    kept = dict.fromkeys(line.strip() for line in lines if line.strip())
    return tuple(head_of(line) for line in list(kept)[:12])


def _word_states(token: str) -> AlertState | None:
    """The state of a short token, as a whole or by its words."""
    whole = token_state(token)
    if whole or len(token.split()) > 4:
        return whole
    states = [s for s in map(token_state, re.split(r"[\s/,-]+", token)) if s]
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
    tokens = [(token, _word_states(token)) for head in heads for token in head.tokens()]
    strong = [state for token, state in tokens if state and not _is_weak(token)]
    field = next((s for s in (token_state(labels.all[k]) for k in STATE_KEYS if k in labels.all) if s), None)
    listed = status_line_state(message)
    ended = next((s for s in strong if s is not AlertState.FIRING), None)
    emoji = next((s for s in (emoji_state(head.emoji) for head in heads) if s), None)
    for state in (ended, listed, field, *strong, emoji):
        if state:
            return state, True
    told = next((s for s in (phrase_state(head.text) for head in heads) if s), None)
    if told:
        return told, any(state for _, state in tokens)
    if any(state for _, state in tokens):
        return AlertState.FIRING, True
    color = next((s for s in map(color_state, message.colors) if s), None)
    return color, False


def severity_in(
    message: Message, heads: Sequence[Head], labels: Labels, state: AlertState
) -> tuple[Severity | None, str | None]:
    """The severity that the post states and the word it uses; nothing stated is (None, None)."""
    for key in SEVERITY_KEYS:
        value = labels.all.get(key)
        if value and len(value) <= 40 and (level := severity_of(value)):
            return level, value
    for head in heads:
        for token in head.tokens():
            words = [token] if token in head.brackets and severity_of(token) else re.split(r"[\s\-–/]+", token)[:5]
            for word in words:
                level = severity_of(word)
                plain = word.casefold().strip(".:!*") in {
                    "error",
                    "err",
                    "high",
                    "low",
                    "info",
                    "none",
                    "medium",
                    "major",
                    "minor",
                    "average",
                    "attention",
                }
                if level and (token in head.brackets or not plain) and len(token) <= 40:
                    return level, word.strip(" .:!*")
    return _severity_by_looks(message, heads, labels, state)


def _severity_by_looks(
    message: Message, heads: Sequence[Head], labels: Labels, state: AlertState
) -> tuple[Severity | None, str | None]:
    """Severity from a state field ("CRITICAL"), an outage grade, a capital word, Slack's own warning colour."""
    for key in STATE_KEYS:
        level = severity_of(labels.all.get(key, "")[:20])
        if level in {Severity.CRITICAL, Severity.WARNING} and state is not AlertState.RESOLVED:
            return level, labels.all[key]
    shouted = re.search(
        r"\b(CRITICAL|WARNING|MAJOR|EMERGENCY|P[1-5]|SEV-?[0-5])\b", " ".join(h.text for h in heads[:3])
    )
    if shouted and (level := severity_of(shouted[1])):
        return level, shouted[1]
    if state is not AlertState.FIRING:
        return None, None
    outage = re.search(r"\((major outage|partial outage)\)", message.body[:4000], re.IGNORECASE)
    if outage:
        return severity_of(outage[1]), outage[1]
    warned = "daa038" in message.colors or "warning" in [alt.casefold() for alt in message.alt_texts]
    if warned or re.search(r"\bwill expire\b|\bexpires (?:in|soon)\b", message.body[:2000], re.IGNORECASE):
        return Severity.WARNING, None
    return None, None


def _without_tokens(text: str) -> str:
    """The line without leading brackets that state something, and without a prefix or suffix that does."""
    subject = _BRACKET.match(text)
    if subject and not token_state(subject[1]) and not severity_of(subject[1]) and not re.match(r"#?\d+$", subject[1]):
        second = _BRACKET.match(text[subject.end() :].lstrip())
        if second and token_state(second[1]):
            return subject[1]
    while (match := _BRACKET.match(text)) and (
        _word_states(match[1]) or severity_of(match[1]) or re.match(r"#?\d+$", match[1])
    ):
        text = strip_emoji(text[match.end() :].lstrip(" -–:"))[0]
    for _ in range(2):
        prefix = _PREFIX.match(text)
        if prefix and len(prefix[1].split()) <= 6 and (_word_states(prefix[1]) or severity_of(prefix[1])):
            words = [w.casefold().strip(".!*") for w in re.split(r"[\s\-–]+", prefix[1]) if w]
            if token_state(prefix[1]) or all(w in _FILLERS or token_state(w) or severity_of(w) for w in words):
                text = strip_emoji(text[prefix.end() :])[0]
    suffix = _SUFFIX.search(text)
    return text[: suffix.start()] if suffix and token_state(suffix[1]) else text


def clean_title(line: str) -> str:
    """A bare name from a first line: no emoji, state, priority, values, scope or quotes."""
    text = _without_tokens(head_of(line).text)
    numbered = _NUMBERED.match(text)
    text = numbered[1] if numbered else text
    text = re.sub(r"^#\d{1,9}:?\s+", "", text)
    first = re.match(
        r"^(ALERT|ALARM|ALARMA|ALERTA|WARNING|CRITICAL|PROBLEM|RECOVERY|RESOLVED|OK|DOWN|UP|FIRING|INFO)\b[:\s!]+(?=\S)",
        text,
    )
    text = text[first.end() :] if first else text
    for tail in _TAILS:
        shorter = tail.sub("", text)
        text = shorter if len(shorter.strip()) >= 3 else text
    return text.strip(" \t.:!-–—*\"'“”„«»「」|")[:300]


def title_of(message: Message, heads: Sequence[Head], labels: Labels) -> str | None:
    """The alert's bare name: a name label, else a quoted name, else a link that leads a line, else the best first line."""
    named = labels.first(*NAME_KEYS)
    if named and 3 <= len(named) <= 160 and "://" not in named:
        return clean_title(named) or named
    labelled = [link.label for link in message.links if len(link.label) >= 3 and "://" not in link.label]
    for head in heads:
        quoted = _QUOTED.search(head.text)
        if quoted and (
            re.search(r"\b(?:rule|alert|alarm|monitor|check|regel|regla|règle)\b", head.text, re.IGNORECASE)
            or quoted.start() == 0
        ):
            return clean_title(quoted[1]) or quoted[1]
        text = _without_tokens(head.text)
        lead = next(
            (label for label in labelled if text.startswith(strip_emoji(label)[0]) and not _GENERIC.match(label)), None
        )
        if lead:
            return clean_title(lead) or None
    cleaned = [clean_title(head.text) for head in heads if not _GENERIC.match(head.text)]
    return next((title for title in cleaned if len(title) >= 3 and not _GENERIC.match(title)), None)


def warns(heads: Sequence[Head]) -> bool:
    """Whether a warning emoji leads a first line."""
    return any(is_warning_emoji(name) for head in heads for name in head.emoji)
