"""When two wordings are one fix: what they do, to what, in which order, with which numbers and names.

A wording is read into clauses, one for each action, and two wordings are one fix exactly if all that carries meaning
agrees. So it is an equivalence: no third wording can pull two fixes together, and none can part them. What is dropped
(articles, "please", who did it, looking at the result) is listed here, and so is what counts as one word. Anything else
tells fixes apart. Must not guess: a person can say that two wordings are one, or that they are not.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache

import Stemmer

from bot.domain.fixes.steps import normalize_fix, split_steps

# What a person filed: a wording's `fix_form`, or the `computed_name` of all wordings that read the same → the name of its
# group; those of one name are one fix.
FixGroups = Mapping[str, str]
FixKey = tuple[str, ...]
FILED = "filed"

_STEM = Stemmer.Stemmer("english")
_GAP = r"((?:\S+\s+){1,4}?)"
_END = r"(?=\s*(?:$|[.,;:!)]|\b(?:in|for|at|and)\b))"
# Several words that are one, also with their object between them ("roll checkout back").
_PHRASES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), word)
    for pattern, word in (
        (r"\b(?:don't|do\s+not|didn't|did\s+not|won't|cannot|can't)\b", " not "),
        (r"(?:->|→|=>|⇒)", " to "),
        (r"(?<=\d),(?=\d{3}\b)", ""),
        (r"\b(?:fail(?:ed|ing|s)?|switch(?:ed|ing|es)?|cut)[\s-]*over\b|\bfailovers?\b|\bcutover\b", " failover "),
        (r"\bfail(?:ed|ing|s)?\s+" + _GAP + r"over\b", r" failover \1"),
        (r"\broll(?:ed|ing|s)?[\s-]*back\b|\brollbacks?\b", " rollback "),
        (r"\broll(?:ed|ing|s)?\s+" + _GAP + r"back\b", r" rollback \1"),
        (r"\b(?:turn|switch)(?:ed|ing|s|es)?\s+on\b", " enable "),
        (r"\b(?:turn|switch)(?:ed|ing|s|es)?\s+off\b", " disable "),
        (r"\b(?:turn|switch)(?:ed|ing|s|es)?\s+" + _GAP + r"on\b" + _END, r" enable \1"),
        (r"\b(?:turn|switch)(?:ed|ing|s|es)?\s+" + _GAP + r"off\b" + _END, r" disable \1"),
        (r"\bscal(?:e|ed|es|ing)\s+(?:up|out)\b", " scaleup "),
        (r"\bscal(?:e|ed|es|ing)\s+(?:down|in)\b", " scaledown "),
        (r"\bscal(?:e|ed|es|ing)\s+" + _GAP + r"(?:up|out)\b" + _END, r" scaleup \1"),
        (r"\bscal(?:e|ed|es|ing)\s+" + _GAP + r"(?:down|in)\b" + _END, r" scaledown \1"),
        (r"\bre-(?=(?:start|boot|deploy|index|build|enable|try|run|create)\w*)", "re"),
        (r"\brolling\s+restarts?\s+of\b", " restart "),
        (r"\bload\s+balancers?\b", " lb "),
        (r"\bcircuit[\s-]+breakers?\b", " breaker "),
        (r"(\d)\s*(?:seconds?|secs?)\b", r"\1s"),
        (r"(\d)\s*(?:minutes?|mins?)\b", r"\1min"),
        (r"(\d)\s*(?:hours?|hrs?)\b", r"\1h"),
        (r"(\d)\s+(ms|s|h|%|[kmgt]i?b)(?=\W|$)", r"\1\2"),
    )
)
_ACTION_WORDS = """
restart: restart restarted restarting restarts reboot rebooted rebooting bounce bounced bouncing
rollback: rollback revert reverted reverting reverts
failover: failover
raise: raise raised raising raises increase increased increasing increases bump bumped bumping
lower: lower lowered lowering lowers reduce reduced reducing reduces decrease decreased decreasing decreases
enable: enable enabled enabling enables activate activated activating reenable reenabled
disable: disable disabled disabling disables deactivate deactivated deactivating
scaleup: scaleup
scaledown: scaledown
start: start started starting starts
stop: stop stopped stopping stops
pause: pause paused pausing pauses
resume: resume resumed resuming resumes unpause unpaused
add: add added adding adds
remove: remove removed removing removes
delete: delete deleted deleting deletes
drop: drop dropped dropping drops
clear: clear cleared clearing clears flush flushed flushing flushes purge purged purging purges
open: open opened opening opens
close: close closed closing closes
block: block blocked blocking blocks
allow: allow allowed allowing allows unblock unblocked unblocking
route: route routed routing routes reroute rerouted rerouting
deploy: deploy deployed deploying deploys redeploy redeployed redeploying
renew: renew renewed renewing renews
retry: retry retried retrying retries
drain: drain drained draining drains
kill: kill killed killing kills
promote: promote promoted promoting promotes
demote: demote demoted demoting demotes
pin: pin pinned pinning
unpin: unpin unpinned unpinning
set: set setting
move: move moved moving moves
switch: switch switched switching switches
look: watch watched watching check checked checking verify verified verifying confirm confirmed confirming monitor
look: monitored monitoring observe observed observing
"""
_ACTIONS: Mapping[str, str] = {
    word: line.partition(":")[0]
    for line in _ACTION_WORDS.strip().splitlines()
    for word in line.partition(":")[2].split()
}
_LOOK = "look"
_SAME_WORD = {
    "databases": "db", "database": "db", "dbs": "db", "k8s": "kubernetes", "prod": "production", "svc": "service",
    "config": "configuration", "configs": "configuration", "conf": "configuration", "conn": "connection",
    "postgresql": "postgres", "mem": "memory", "cert": "certificate", "certs": "certificate",
    "creds": "credentials", "prev": "previous", "stg": "staging", "dev": "development",
}  # fmt: skip
# What joins a thing to another: it stays with the word after it, for "from a to b" is not "from b to a".
_RELATIONS = {
    "to": "to", "into": "to", "onto": "to", "towards": "to", "from": "from", "before": "before", "after": "after",
    "behind": "behind", "instead": "instead", "over": "over", "under": "under", "above": "over", "below": "under",
    "than": "than", "without": "without", "except": "except", "until": "until", "till": "until", "between": "between",
    "against": "against", "unless": "unless", "if": "if",
}  # fmt: skip
_FILLERS = frozenset(
    [
        "a",
        "an",
        "the",
        "of",
        "please",
        "just",
        "simply",
        "then",
        "and",
        "we",
        "i",
        "he",
        "she",
        "they",
        "you",
        "had",
        "have",
        "has",
        "did",
        "was",
        "were",
        "is",
        "are",
        "be",
        "been",
        "being",
        "by",
        "in",
        "on",
        "at",
        "for",
        "with",
        "our",
        "my",
        "its",
        "their",
        "your",
        "this",
        "that",
        "these",
        "those",
        "it",
        "them",
        "there",
        "so",
        "manually",
        "quickly",
        "successfully",
        "now",
        "finally",
        "as",
        "s",
    ]
)
_TOKEN = re.compile(r"[^\s,;()\[\]{}\"'`“”‘’!?]+")
_PART = re.compile(r"[^\W_]+")


def _unify_spelling(step: str) -> str:
    """A step in lower case, with several words for one thing made one."""
    text = unicodedata.normalize("NFKC", step).casefold().replace("’", "'")
    for pattern, word in _PHRASES:
        text = pattern.sub(word, text)
    return text


def _is_name(token: str) -> bool:
    """Whether a token is an identifier or a number, which must agree to the letter."""
    return any(c.isdigit() or c in "_=/%" for c in token) or "." in token[1:-1]


def _split_words(step: str) -> Iterator[str]:
    """The words of a step; names and numbers whole, other words in their parts ("payments-api" is two)."""
    for token in _TOKEN.findall(_unify_spelling(step)):
        token = token.strip(".:-*")
        if _is_name(token):
            yield token
        else:
            yield from _PART.findall(token)


def _split_clauses(step: str) -> list[list[str]]:
    """What a step does: for each action the action, then what it is done to. Words before the first action belong to it
    ("cache nodes restarted")."""
    found: list[list[str]] = [[""]]
    relation = ""
    for word in _split_words(step):
        if word in _ACTIONS:
            if found[-1][0]:
                found.append([_ACTIONS[word]])
            else:
                found[-1][0] = _ACTIONS[word]
            relation = ""
        elif word in _RELATIONS:
            relation = _RELATIONS[word]
        elif word not in _FILLERS:
            found[-1].append(f"{relation}:{_strip_word(word)}" if relation else _strip_word(word))
            relation = ""
    return found


def _strip_word(word: str) -> str:
    return word if _is_name(word) else _STEM.stemWord(_SAME_WORD.get(word, word))


def _is_look_only(clause: list[str]) -> bool:
    """Whether a clause only looks at the result, without a number or a name in it."""
    return clause[0] == _LOOK and not any(_is_name(word.rpartition(":")[2]) for word in clause[1:])


@lru_cache(maxsize=8192)
def _read_meaning(fix: str) -> FixKey:
    clauses = [clause for step in split_steps(fix) for clause in _split_clauses(step) if len(clause) > 1 or clause[0]]
    acting = [clause for clause in clauses if not _is_look_only(clause)] or clauses
    return tuple(f"{action}({' '.join(sorted(set(things)))})" for action, *things in acting)


def build_fix_key(fix: str, filed: FixGroups | None = None) -> FixKey:
    """What two wordings of one fix have in common; empty for a text that names no fix. `filed`: what persons said of
    wordings, which goes before everything computed."""
    form = normalize_fix(fix)
    if not form:
        return ()
    named = (filed.get(form) or filed.get(name_fix(fix))) if filed else None
    return (FILED, named) if named else _read_meaning(fix) or ("text", form)


def name_fix(fix: str) -> str:
    """One name for all wordings that read as this fix; no wording's own form."""
    return "\x1f" + "\x1f".join(_read_meaning(fix) or ("text", normalize_fix(fix)))


def is_same_fix(one: str, other: str, filed: FixGroups | None = None) -> bool:
    """Whether two wordings are one fix."""
    key = build_fix_key(one, filed)
    return bool(key) and key == build_fix_key(other, filed)
