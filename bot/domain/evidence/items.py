"""Evidence: what metrics, logs, deploys and vendors' status pages show now, each item either observed or unavailable.

Must not hold anything that memory says, and must not ask a source: that is an adapter's work.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class EvidenceKind(StrEnum):
    """What an item is about. The order is the order in which items are shown."""

    ALERT_RULE = "alert_rule"
    METRIC = "metric"
    DEPLOY = "deploy"
    VENDOR_STATUS = "vendor_status"
    LOGS = "logs"


@dataclass(frozen=True, slots=True)
class ComparisonValue:
    """The same quantity at another time, or a limit of it: `label` is "30 min ago", "peak", "yesterday", "threshold"."""

    label: str
    value: float


@dataclass(frozen=True, slots=True)
class Observed:
    """One thing that a source shows now.

    `what` names the quantity as a person would ("error rate", "pool in use", "deploy of payments-api"); `signal` is its
    stable name, by which an earlier snapshot is compared ("error_ratio", "pool_in_use"). `value` is in `unit` ("%", "ms",
    "s", "req/s", "" for a plain count); None where `text` says it all. `window` is what it was measured over ("5 min").
    `count`, `first`, `last` are of log lines that are alike. `at` is when it was so: for a deploy its time. Times are UTC.
    `url` comes from the configuration or the configured server, never from an alert. `truncated`: the source held more.
    """

    kind: EvidenceKind
    signal: str
    what: str
    source: str
    at: datetime
    value: float | None = None
    unit: str = ""
    window: str | None = None
    compared: tuple[ComparisonValue, ...] = ()
    text: str | None = None
    count: int | None = None
    first: datetime | None = None
    last: datetime | None = None
    url: str | None = None
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Unavailable:
    """What could not be seen, and why in a few plain words ("no answer within 2 s", "no data", "HTTP 422 ..."). `pending`:
    the source is still being asked, and what it says will come."""

    kind: EvidenceKind
    signal: str
    what: str
    source: str
    reason: str
    pending: bool = False


Evidence = Observed | Unavailable

PEAK = "peak"
# What a person wants to know of a service first; other signals follow by name.
_FIRST = ("error_ratio", "p95", "pool_in_use", "cpu_throttled", "memory_in_use", "traffic", "restarts")
_KINDS = tuple(EvidenceKind)


def _build_sort_key(item: Evidence) -> tuple[bool, int, int, str, str]:
    rank = _FIRST.index(item.signal) if item.signal in _FIRST else len(_FIRST)
    return isinstance(item, Unavailable), _KINDS.index(item.kind), rank, item.signal, repr(item)


def sort_evidence(evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """The items as they are shown, in whatever order the sources answered: what was observed before what was not, then
    by kind. The same item twice is one."""
    return tuple(sorted(dict.fromkeys(evidence), key=_build_sort_key))


def select_observed(evidence: Iterable[Evidence]) -> tuple[Observed, ...]:
    """What was seen."""
    return tuple(item for item in evidence if isinstance(item, Observed))


def has_pending(evidence: Iterable[Evidence]) -> bool:
    """Whether a source is still being asked."""
    return any(isinstance(item, Unavailable) and item.pending for item in evidence)


def is_vendor_down(page: Observed) -> bool | None:
    """What a vendor's status page says: True for any trouble, False for none; None where its words tell neither ("under
    maintenance", or all in operation with something still open)."""
    said = (page.text or "").casefold()
    if said.startswith("operational") or said in _FINE:
        return None if "open:" in said else False
    return True if any(word in said for word in _TROUBLE) else None


def is_deploy(item: Evidence) -> bool:
    """Whether it tells of a deploy; that there was none is an observation, too."""
    return isinstance(item, Observed) and item.kind is EvidenceKind.DEPLOY and item.count != 0


_FINE = frozenset({"all systems operational", "none", "green"})
_TROUBLE = ("outage", "degraded", "disruption", "critical", "major", "minor", "incident")


# What has more digits than a phone shows is told as a power of ten.
_LARGE = 1e15


def format_quantity(value: float, unit: str = "") -> str:
    """A value with its unit, in three telling digits: "18.2 %", "840 ms", "0.182", "12,400 req/s"."""
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
    """What was seen in a few words: its value, else its text."""
    if item.value is not None:
        return format_quantity(item.value, item.unit)
    return item.text or ""
