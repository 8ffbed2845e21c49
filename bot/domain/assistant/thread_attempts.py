"""Collect what was tried in this incident, from its record and its thread, and describe evidence in words.

A message in a thread testifies to an attempt; it never verifies an outcome.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bot.domain.assistant.hypothesis import TriedFix
from bot.domain.brief.decide import Brief
from bot.domain.evidence.items import Observed, format_observed, is_deploy
from bot.domain.fixes.identity import is_same_fix
from bot.domain.incidents.record import Attempt, VerificationStatus
from bot.domain.text.format import fit_one_line

MOST_SAYINGS, MOST_SAID, MOST_TRIED = 40, 300, 12
_DONE = re.compile(
    r"\b(?:(?:restart|reboot|bounc|revert|roll|re-?deploy|deploy|drain|kill|flush|purg|clear|disabl|enabl|paus|resum|switch|failover|fail|rais|"
    r"increas|bump|lower|reduc|decreas|scal|promot|rerout|re-?rout|rotat|renew|block|unblock|add|remov|stopp|start)\w*ed|rolled back|rollback of|"
    r"failover to|tried|restarting did|restart of)\b",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"\?\s*$|^(?:did|has|have|should|shall|can|could|who|what|when|why|how|let'?s|maybe|perhaps|if)\b", re.IGNORECASE
)
_NEGATED = re.compile(
    r"\b(?:have|has|did|was|were)(?: not|n't) (?:yet |been )?(?:tried|restarted|done|rolled)|\bnobody\b|\bno ?one\b",
    re.IGNORECASE,
)
_FAILED = re.compile(
    r"\b(?:did|does|do|has|have)(?: not|n't|nt) (?:work|help|fix|change|do anything|make)\w*|\bno (?:effect|change|luck|difference|improvement|dice)\b|"
    r"\bstill (?:failing|firing|broken|the same|down|slow|bad|red|happening|erroring|timing out)\b|\bmade it worse\b|\bin vain\b|\bwithout (?:effect|success)\b|\bfailed again\b|\bnope\b",
    re.IGNORECASE,
)
_PARTLY = re.compile(
    r"\bhelped (?:a (?:bit|little)|partly|somewhat|for a)|\bpartly\b|\ba bit better\b|\bslightly better\b",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"\s*(?:[,;:–—]|\s-\s|\.\s|\bbut\b|\band (?:it|that|this|nothing|still|no)\b|\bwhich\b|\bit (?:did|has|is)\b|\bdid(?:n't| not)\b|\bstill\b|\bno (?:effect|luck|change)\b).*$",
    re.IGNORECASE | re.DOTALL,
)
_HEAD = re.compile(
    r"^(?:(?:i|we|ok|so|just|already|also|have|has|had|i've|we've|fyi|update|tried|to|then|and)[\s:,]+)+", re.IGNORECASE
)


def list_attempts(attempts: Sequence[Attempt], sayings: Sequence[str]) -> tuple[TriedFix, ...]:
    """Return this incident's attempts, "A1", "A2" …: the record's first, then those of the thread that it lacks.

    `sayings` are the texts of messages, oldest first; only the last ones count.
    """
    found: list[tuple[str, VerificationStatus]] = [(a.fix, a.status) for a in attempts]
    for fix, status in (one for text in sayings[-MOST_SAYINGS:] for one in _read_attempts(text[:MOST_SAID])):
        at = next((n for n, (known, _) in enumerate(found) if is_same_fix(known, fix)), None)
        if at is None:
            found.append((fix, status))
        elif at >= len(attempts) and status is not VerificationStatus.UNVERIFIED:
            found[at] = (found[at][0], status)  # they say later what came of it
    return tuple(TriedFix(f"A{n}", fix, status) for n, (fix, status) in enumerate(found[:MOST_TRIED], 1))


def _read_attempts(text: str) -> Iterator[tuple[str, VerificationStatus]]:
    """Yield the attempts that a message reports, each with its reported outcome."""
    for line in re.split(r"\n|(?<=[!?])\s", text):
        if not _DONE.search(line) or _QUESTION.search(line.strip()) or _NEGATED.search(line):
            continue
        fix = fit_one_line(_HEAD.sub("", _TAIL.sub("", line.strip(), count=1)), MOST_SAID)
        if len(fix.split()) >= 2:
            yield fix, _read_outcome(line)


def _read_outcome(line: str) -> VerificationStatus:
    if _FAILED.search(line):
        return VerificationStatus.FAILED
    return VerificationStatus.PARTIAL if _PARTLY.search(line) else VerificationStatus.UNVERIFIED


def describe_observation(item: Observed, brief: Brief) -> str:
    """Describe one observation with its window and the values it is compared with."""
    count = f"{item.count}×" if item.count is not None and not is_deploy(item) else ""
    head = " ".join(part for part in (count, item.what, format_observed(item)) if part)
    text = item.text if item.text and item.value is not None else ""
    window = f"over {item.window}" if item.window else ""
    others = "; ".join(f"{other.label} {_format_value(item, other.value)}" for other in item.compared)
    return ", ".join(part for part in (head, text, _format_lead_time(item, brief), window, others) if part)


def _format_value(item: Observed, value: float) -> str:
    return format_observed(Observed(item.kind, item.signal, item.what, item.source, item.at, value, item.unit))


def _format_lead_time(item: Observed, brief: Brief) -> str:
    """Return how long before the alert a deploy happened."""
    if not is_deploy(item) or brief.now is None:
        return ""
    minutes = int((brief.now - item.at).total_seconds() // 60)
    return f"{minutes} min before the alert" if minutes >= 0 else f"{-minutes} min after the alert"
