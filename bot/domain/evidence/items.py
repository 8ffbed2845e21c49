"""Evidence: what metrics, logs, deploys and vendors' status pages show now, each item observed or unavailable.

Nothing here comes from memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class EvidenceKind(StrEnum):
    """What an item is about, in the order in which items are shown."""

    ALERT_RULE = "alert_rule"
    METRIC = "metric"
    DEPLOY = "deploy"
    VENDOR_STATUS = "vendor_status"
    LOGS = "logs"


@dataclass(frozen=True, slots=True)
class ComparisonValue:
    """The same quantity at another time, or its limit."""

    label: str  # "30 min ago", "peak", "yesterday", "threshold"
    value: float


@dataclass(frozen=True, slots=True)
class Observed:
    """One thing that a source shows now."""

    kind: EvidenceKind
    signal: str  # stable name, compared with earlier snapshots ("error_ratio", "pool_in_use")
    what: str  # the quantity as a person would name it ("error rate", "pool in use")
    source: str
    at: datetime  # UTC; for a deploy its time
    value: float | None = None  # None if `text` says it all
    unit: str = ""  # "%", "ms", "s", "req/s"; "" for a plain count
    window: str | None = None  # what it was measured over ("5 min")
    compared: tuple[ComparisonValue, ...] = ()
    text: str | None = None
    count: int | None = None  # of log lines that are alike
    first: datetime | None = None
    last: datetime | None = None
    url: str | None = None  # from the configuration or the configured server, never from an alert
    truncated: bool = False  # the source held more


@dataclass(frozen=True, slots=True)
class Unavailable:
    """Something that could not be observed."""

    kind: EvidenceKind
    signal: str
    what: str
    source: str
    reason: str  # a few plain words ("no answer within 2 s", "no data", "HTTP 422 ...")
    pending: bool = False  # the source is still being asked


Evidence = Observed | Unavailable

PEAK = "peak"
# What a person wants to know of a service first; other signals follow by name.
_FIRST = ("error_ratio", "p95", "pool_in_use", "cpu_throttled", "memory_in_use", "traffic", "restarts")
_KINDS = tuple(EvidenceKind)


def _build_sort_key(item: Evidence) -> tuple[bool, int, int, str, str]:
    rank = _FIRST.index(item.signal) if item.signal in _FIRST else len(_FIRST)
    return isinstance(item, Unavailable), _KINDS.index(item.kind), rank, item.signal, repr(item)


def sort_evidence(evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """Return the items in the order shown: observed before unavailable, then by kind; duplicates once."""
    return tuple(sorted(dict.fromkeys(evidence), key=_build_sort_key))


def select_observed(evidence: Iterable[Evidence]) -> tuple[Observed, ...]:
    """Return the observed items."""
    return tuple(item for item in evidence if isinstance(item, Observed))


def has_pending(evidence: Iterable[Evidence]) -> bool:
    """Return whether a source is still being asked."""
    return any(isinstance(item, Unavailable) and item.pending for item in evidence)


def is_vendor_down(page: Observed) -> bool | None:
    """Read a vendor's status page: True for any trouble, False for none, None if its words tell neither ("under
    maintenance", or all operational with something still open)."""
    said = (page.text or "").casefold()
    if said.startswith("operational") or said in _FINE:
        return None if "open:" in said else False
    return True if any(word in said for word in _TROUBLE) else None


def is_deploy(item: Evidence) -> bool:
    """Return whether the item reports a deploy; an observation that there was none does not."""
    return isinstance(item, Observed) and item.kind is EvidenceKind.DEPLOY and item.count != 0


_FINE = frozenset({"all systems operational", "none", "green"})
_TROUBLE = ("outage", "degraded", "disruption", "critical", "major", "minor", "incident")


# Numbers with more digits than fit on a phone are formatted as a power of ten.
_LARGE = 1e15


def format_quantity(value: float, unit: str = "") -> str:
    """Format a value with its unit, in three significant digits: "18.2 %", "840 ms", "12,400 req/s"."""
    size = abs(value)
    if size >= _LARGE:
        digits = f"{value:.2e}"
    elif size >= 1000 or (size >= 100 and value == round(value)):
        digits = f"{value:,.0f}"
    elif size == 0 or size >= 0.001:
        digits = f"{value:.3g}"
        digits = f"{value:.0f}" if "e" in digits else digits
    else:
        digits = f"{value:.2e}"
    return f"{digits} {unit}".rstrip()


def format_observed(item: Observed) -> str:
    """Format what was observed in a few words: its value, else its text."""
    if item.value is not None:
        return format_quantity(item.value, item.unit)
    return item.text or ""
