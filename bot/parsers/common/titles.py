"""Find the bare name of an alert: without state, priority, values, scope or quotes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.parsers.common.heads import BRACKET, PREFIX, SUFFIX, Head, is_state_only, parse_head, read_word_state
from bot.parsers.common.labels import Labels
from bot.parsers.message import Message
from bot.parsers.vocabulary.severities import read_severity
from bot.parsers.vocabulary.states import read_phrase_state, read_token_state, strip_emoji

NAME_KEYS = (
    "alertname", "alert_name", "rule", "rule_name", "alarm_name", "monitor_name", "monitor", "policy_name", "condition_name", "problem_name", "check_name",
    "trigger_name", "alert", "alert_rule", "event_name", "problem", "error_type", "error_class", "check", "sensor",
)  # fmt: skip
_DASH = re.compile(r"^([^\n]{1,50}?)\s+[-–—]\s+(?=\S)")
_QUOTED = re.compile(r"[\"“„«「『]\s?([^\"”“»」』\n]{3,200}?)\s?[\"”“»」』]")
_RULE_WORD = re.compile(r"\b(?:rule|alert|alarm|monitor|check|regel|alerta|règle|incident)\b", re.IGNORECASE)
_GENERIC = re.compile(
    r"^\W*(?:\[no preview available\]|(?:@?[\w.]+ )?(?:acknowledged|resolved|escalated|reopened|closed) (?:the|this) (?:incident|alert|issue|problem)|additional info|(?:service|host) \w+ notification|\w+ job (?:failed|succeeded)|(?:new )?alert(?: \w+)?:? ?#?\d+"
    r"|(?:prometheus|grafana|kubernetes|cluster|monitoring|system) alert(?: (?:firing|fired|triggered|resolved|recovered|closed))?|incident #?[\w.-]{1,40} is (?:ongoing|open|closed|resolved|acknowledged)"
    r"|alert|alarm|incident|notification|description|details|summary|message|new (?:alert|incident|outage) ?(?:report)?|view .{0,30}|discover in \w+|@.*|(?:host|service): .*|[\w.]+=\S.*|\{\W*\w+\W{1,4}:.*"
    r"|(?:\w+ priority )?(?:an? )?(?:issue|incident|alert|problem)(?: is| has been| was)? (?:now )?(?:open(?:ed)?|closed|active|activated|acknowledged|resolved|created|triggered))\W*$",
    re.IGNORECASE,
)
# of a line whose spaces are single
_TAILS = (
    re.compile(r" [A-Za-z_][\w.]{0,40}=\S.*$"),
    re.compile(r" on (?:[a-z_]+:[\w./-]+,?)+$"),
    re.compile(
        r" ?[:：]? (?:is |at |now |ist |liegt bei |beträgt |auf |a |to |est à |está en )*[-+]?\d[\d.,]*\s?(?:%|ms|s|x|°C|GB|MB)? ?[(（].*$"
    ),
    re.compile(r" ?[(（](?:HTTP|threshold|limit|warn)\b.*$", re.IGNORECASE),
    re.compile(r" (?:is|=) (?:CRITICAL|WARNING|OK|UNKNOWN|[-+]?\d[\d.,]*\s?\S{0,4})$"),
    re.compile(r" ?\(alarm was raised .*$"),
    re.compile(r" ?\|? ?went (?:down|up|offline|online)\b.*$", re.IGNORECASE),
    re.compile(r" back to normal\b.*$", re.IGNORECASE),
    re.compile(r" (?:is|are) (?:now )?(?:down|up|active|ok|back|unreachable|offline|online)\b.*$", re.IGNORECASE),
    re.compile(r" (?:has (?:recovered|been resolved)|(?:transitioned from|is still in) state)\b.*$", re.IGNORECASE),
    re.compile(r" at \d{4}-\d\d-\d\d.*$"),
    re.compile(r" (?:started|resolved|ended|detected)$", re.IGNORECASE),
    re.compile(r" @(?:here|channel) ?$"),
)
_URL = re.compile(r"\s*https?://\S+")
_NUMBERED = re.compile(r"^(.{2,100}?) - #\d+ ")
_SHOUT = re.compile(
    r"^(?:ALERTE?|ALARM|ALARMA|ALERTA|WARNING|CRITICAL|PROBLEM|RECOVERY|RESOLVED|OK|DOWN|UP|FIRING|INFO|OPEN|CLOSED|TRIGGERED|ACKNOWLEDGED)\b[:\s!]+(?=\S)"
)
_NUMBER = re.compile(r"^(?:(?:Problem|Incident|Alert|Issue|Ticket) )?(?:#\d{1,12}|[A-Z]{1,5}-\d{2,12}):?\s+(?=\S)")
_NUMBER_ON = re.compile(
    r"^(?:\w{1,20} )?(?:incident|alert|problem) #[\w.-]{1,40} on ([\w.-]{2,60}) ?: (\S.*)$", re.IGNORECASE
)
_BRACKET_PAIR = re.compile(r"^\[[^\[\]]{1,80}\]\[(?:https?://[^\s\]]*)?\]? ?(?=\S.{3})")  # a name and its address
_SUBJECT = re.compile(r"^(?:Service|Host|Monitor|Check|Rule|Alert)\s+(?=\S)")
_NUMBER_LINE = re.compile(r"^(?:incident|alert|problem|ticket)\s+#\d+$", re.IGNORECASE)


def _is_stating(word: str) -> bool:
    return bool(read_word_state(word) or read_severity(word) or re.match(r"#?\d+$", word))


def _strip_sender(text: str, bracket: re.Match[str]) -> str:
    """Return the line without a bracketed sender before a state ("[NMS] Alert triggered: disk usage")."""
    rest = text[bracket.end() :].lstrip(" -–:") if bracket.start() == 0 else ""
    stated = PREFIX.match(rest)
    return rest if stated and is_state_only(stated[1]) else text


def strip_tokens(text: str) -> str:
    """Return the line without leading brackets, prefixes and suffixes that state something."""
    subject = BRACKET.match(text)
    if subject and not _is_stating(subject[1]):
        second = BRACKET.match(text[subject.end() :].lstrip())
        if second and read_token_state(second[1]):
            return subject[1]
        text = _strip_sender(text, subject)
    before = ""
    while text != before:
        before = text
        bracket = BRACKET.match(text)
        if bracket and _is_stating(bracket[1]):
            text = strip_emoji(text[bracket.end() :].lstrip(" -–:"))[0]
        for pattern in (PREFIX, _DASH):
            prefix = pattern.match(text)
            if prefix and len(prefix[1].split()) <= 6 and is_state_only(prefix[1]):
                text = strip_emoji(text[prefix.end() :])[0]
    suffix = SUFFIX.search(text)
    return text[: suffix.start()] if suffix and read_token_state(suffix[1]) else text


def clean_title(line: str) -> str:
    """Return the bare name in a first line."""
    head = _BRACKET_PAIR.sub("", parse_head(" ".join(line[:600].split())).text)
    placed = _NUMBER_ON.match(head)
    text = f"{placed[2]} on {placed[1]}" if placed else strip_tokens(head)
    numbered = _NUMBERED.match(text)
    text = numbered[1] if numbered else text
    text = _NUMBER.sub("", _SHOUT.sub("", _NUMBER.sub("", text)))
    for tail in (_URL, *_TAILS):
        shorter = tail.sub("", text).rstrip(" :：,;-–")
        text = shorter if len(shorter) >= 3 else text
    return text.strip(" \t.:!-–—*\"'“”„«»「」|")[:300]


def _compose_title(labels: Labels) -> str | None:
    """Return a name that two labels make up: a task of a pipeline, a service on a host."""
    task, dag = labels.find_first("task", "task_id"), labels.find_first("dag", "dag_id")
    if task and dag:
        return f"{task} ({dag})"
    host, service = labels.find_first("host", "hostname"), labels.find_first("service", "check", "service_name")
    return f"{service} on {host}" if host and service else None


def _read_head(head: Head, labelled: Sequence[str]) -> str | None:
    """Return the title in one first line: a quoted name, a link that leads it, or the line itself."""
    quoted = _QUOTED.search(head.text)
    if quoted and (quoted.start() == 0 or _RULE_WORD.search(head.text[: quoted.start()])):
        return clean_title(quoted[1]) or quoted[1]
    if _GENERIC.match(head.text):
        return None
    text = _SUBJECT.sub("", strip_tokens(head.text)) if head.prefixes else strip_tokens(head.text)
    lead = next((w for w in labelled if text.startswith(strip_emoji(w)[0]) and not _GENERIC.match(w)), None)
    title = clean_title(lead) if lead else clean_title(head.text)
    return title if len(title) >= 3 and not _GENERIC.match(title) else None


def find_title(message: Message, heads: Sequence[Head], labels: Labels) -> str | None:
    """Return the bare name, by: name label, quoted name, leading link, best first line, two labels."""
    named = labels.find_first(*NAME_KEYS)
    if named and 3 <= len(named) <= 160 and "://" not in named:
        return clean_title(named) or named
    numbered = next((i for i, line in enumerate(message.lines) if _NUMBER_LINE.match(line.strip())), None)
    if numbered is not None and numbered + 1 < len(message.lines):
        return clean_title(message.lines[numbered + 1])
    labelled = [link.label for link in message.links if len(link.label) >= 3 and "://" not in link.label]
    titles = [title for title in (_read_head(head, labelled) for head in heads) if title]
    composed = _compose_title(labels)
    if composed and (not titles or "task" in labels.all or _GENERIC.match(heads[0].text)):
        return composed
    first = titles[0] if titles else None
    leading = {strip_emoji(link.label)[0] for link in message.links if link.place != "title"}
    if first and " " not in first and first not in leading:
        fuller = (clean_title(head.text) for head in heads if first in head.text and read_phrase_state(head.text))
        return next((title for title in fuller if " " in title and len(title) <= 160), first)
    return first
