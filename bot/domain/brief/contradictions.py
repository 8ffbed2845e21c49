"""Where what is seen now speaks against what memory says: rules as a table, each with its reason in plain words.

Must not decide who is right: it says what to look at first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.brief.boundary import BoundaryCall
from bot.domain.brief.checks import SkippedCheck
from bot.domain.evidence.items import (
    PEAK,
    Evidence,
    EvidenceKind,
    Observed,
    format_quantity,
    is_deploy,
    is_vendor_down,
    select_observed,
    sort_evidence,
)
from bot.domain.incidents.record import Boundary
from bot.domain.text.format import fit_one_line

RECENT = timedelta(minutes=60)
# A pipeline may be a little ahead of the clock of whoever posts the alert.
SKEW = timedelta(minutes=2)
LOW, HIGH = 60.0, 90.0
_NAME_LIMIT = 40


@dataclass(frozen=True, slots=True)
class Contradiction:
    """One. `lead` is what the verdict says of it, `now` what is seen, `memory` what memory says instead; the two are
    sentences of their own."""

    rule: str
    lead: str
    now: str
    memory: str


@dataclass(frozen=True, slots=True)
class MemoryClaims:
    """What memory says that evidence can speak against."""

    call: BoundaryCall
    root_cause: str | None = None
    fix: str | None = None
    skip: tuple[SkippedCheck, ...] = ()


@dataclass(frozen=True, slots=True)
class _Resource:
    """Something that can be used up: how texts name it, and the signals that show how much of it is in use."""

    name: str
    words: re.Pattern[str]
    signals: re.Pattern[str]


def _define_resource(name: str, words: str, signals: str) -> _Resource:
    return _Resource(name, re.compile(rf"\b(?:{words})\b", re.IGNORECASE), re.compile(signals))


_RESOURCES = (
    _define_resource("thread pool", r"(?:thread|worker|executor)s?[ -]pools?|(?:worker )?threads", r"thread|worker|executor"),
    _define_resource(
        "pool",
        r"(?<!thread )(?<!worker )(?<!executor )(?<!thread-)(?<!worker-)(?<!executor-)pools?|connections?|hikari\w*|pgbouncer",
        r"^(?!.*(?:thread|worker|executor)).*(?:pool|connection)",
    ),
    _define_resource("CPU", r"cpus?|processors?|(?:pods?|containers?) (?:(?:is|are|was|were|got|being) )*throttl\w*", r"cpu"),
    _define_resource("memory", r"memory|heap|oom\w*|out of memory", r"memory|heap"),
    _define_resource("disk", r"disks?|volumes?|file ?systems?|inodes?", r"disk|volume|filesystem|inode"),
    _define_resource("queue", r"queues?|backlog", r"queue|backlog"),
)  # fmt: skip
_USED_UP = re.compile(
    r"\b(?:exhaust\w*|saturat\w*|starv\w*|(?:ran|run|running) out|maxed|full|used up|overload\w*|leak\w*|no free|throttl\w*"
    r"|oom\w*|out of memory|too (?:small|few))\b",
    re.IGNORECASE,
)
_MORE_OF_IT = re.compile(
    r"\b(?:increas\w*|rais\w*|enlarg\w*|doubl\w*|bigger|larger|more|recycl\w*|resiz\w*)\b", re.IGNORECASE
)


_AFTER = 4
_SENTENCE = re.compile(r"[.;:,\n]")
_NOT = re.compile(r"\b(?:not|never|no longer|nor|without)\b[^.;,]{0,20}$|n't\b[^.;,]{0,20}$", re.IGNORECASE)


def _find_used_up(text: str) -> frozenset[str]:
    """The resources that a text says were used up: of "the disk was full and connections were refused" the disk alone."""
    return frozenset(name for sentence in _SENTENCE.split(text) for name in _list_used_up(sentence))


def _list_used_up(sentence: str) -> Iterator[str]:
    named = [(found.span(), r.name) for r in _RESOURCES for found in r.words.finditer(sentence)]
    for said in _USED_UP.finditer(sentence):
        if not named or _NOT.search(sentence[: said.start()]):
            continue
        # a word belongs to the resource that stands nearest to it, of two rather to the one before it
        far = [(max(begin - said.end() + _AFTER, said.start() - end, 0), name) for (begin, end), name in named]
        yield from (name for distance, name in far if distance == min(far)[0])


def _format_call(call: BoundaryCall) -> str:
    """Memory's boundary with its votes."""
    stated = sum(n for boundary, n in call.votes.items() if boundary != Boundary.UNKNOWN.value)
    votes = f", {call.votes.get(call.value.value, 0)} of {stated}" if stated else ""
    return f"{call.value.value}{votes}"


def _check_deploy(memory: MemoryClaims, seen: Sequence[Observed], now: datetime) -> Iterator[Contradiction]:
    """Memory says vendor, and somebody deployed just before it began."""
    if memory.call.value is not Boundary.VENDOR:
        return
    recent = [i for i in seen if is_deploy(i) and -SKEW <= now - i.at <= RECENT]
    if not recent:
        return
    latest = max(recent, key=lambda item: item.at)
    ago = f"{max(0, int((now - latest.at).total_seconds() // 60))} min"
    pages = [is_vendor_down(i) for i in seen if i.kind is EvidenceKind.VENDOR_STATUS]
    green = "; the vendor's status page shows no trouble" if pages and not any(p is not False for p in pages) else ""
    what = fit_one_line(latest.what, _NAME_LIMIT)
    yield Contradiction(
        "deploy", f"deploy {ago} ago, check first", f"{what} {ago} before the alert{green}", _format_call(memory.call)
    )


def _check_vendor(memory: MemoryClaims, seen: Sequence[Observed], _now: datetime) -> Iterator[Contradiction]:
    """Memory says internal, and the vendor itself reports trouble."""
    if memory.call.value is not Boundary.INTERNAL:
        return
    for page in seen:
        if page.kind is EvidenceKind.VENDOR_STATUS and is_vendor_down(page):
            what = fit_one_line(page.what, _NAME_LIMIT)
            said = f"{what}: {fit_one_line(page.text or '', 80)}"
            yield Contradiction("vendor_red", "vendor's page reports trouble", said, _format_call(memory.call))
            return


def _find_usage(seen: Sequence[Observed], resource: _Resource) -> Observed | None:
    """The signal that shows most of this in use, in percent."""
    found = [i for i in seen if i.value is not None and i.unit == "%" and resource.signals.search(i.signal)]
    return max(found, key=lambda item: item.value or 0.0, default=None)


def _check_not_used_up(memory: MemoryClaims, seen: Sequence[Observed], _now: datetime) -> Iterator[Contradiction]:
    """Memory says that something was used up, and there is plenty of it, now and in the last half hour."""
    cause, fix = memory.root_cause or "", memory.fix or ""
    used_up = _find_used_up(cause)
    for resource in _RESOURCES:
        in_cause = resource.name in used_up
        in_fix = not cause and resource.words.search(fix) and _MORE_OF_IT.search(fix)
        use = _find_usage(seen, resource) if in_cause or in_fix else None
        if use is None or _read_peak(use) >= LOW:
            continue
        at = format_quantity(use.value or 0.0, use.unit)
        what = fit_one_line(use.what, _NAME_LIMIT)
        said = f"{resource.name} used up" if in_cause else f"more {resource.name} fixed it"
        yield Contradiction("not_used_up", f"{what} only {at}", f"{what} {at}", said)


def _read_peak(use: Observed) -> float:
    return max(use.value or 0.0, *(c.value for c in use.compared if c.label == PEAK), 0.0)


def _check_skipped_resource(memory: MemoryClaims, seen: Sequence[Observed], _now: datetime) -> Iterator[Contradiction]:
    """Memory says that something need not be checked, and it is nearly used up."""
    for resource in _RESOURCES:
        skip = next((s for s in memory.skip if resource.words.search(s.check)), None)
        use = _find_usage(seen, resource) if skip else None
        if skip is None or use is None or (use.value or 0.0) < HIGH:
            continue
        at = format_quantity(use.value or 0.0, use.unit)
        what, check = fit_one_line(use.what, _NAME_LIMIT), fit_one_line(skip.check, _NAME_LIMIT)
        said = f"{check} not the cause in {skip.count} of {skip.of}"
        yield Contradiction("skip_is_high", f"{what} {at}, check it", f"{what} {at}", said)


# The order is the order in which they lead: what explains most new trouble first. What is in use tells nothing any more
# once the alert has cleared (False): the fix may have brought it down.
_RULES: tuple[tuple[Callable[[MemoryClaims, Sequence[Observed], datetime], Iterator[Contradiction]], bool], ...] = (
    (_check_deploy, True),
    (_check_vendor, True),
    (_check_not_used_up, False),
    (_check_skipped_resource, False),
)


def find_contradictions(
    memory: MemoryClaims, evidence: Sequence[Evidence], now: datetime, *, fires: bool = True
) -> tuple[Contradiction, ...]:
    """All of them, the one that leads first; the same in whatever order the evidence comes. `now` is the alert's time,
    `fires` whether it still does."""
    seen = select_observed(sort_evidence(evidence))
    return tuple(found for rule, lasts in _RULES if fires or lasts for found in rule(memory, seen, now))
