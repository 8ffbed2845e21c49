"""Evidence: what metrics, logs, deploys and vendors' status pages show now, each item either observed or unavailable.

Must not hold anything that memory says, and must not ask a source: that is an adapter's work.
"""

from __future__ import annotations

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
class Compared:
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
    compared: tuple[Compared, ...] = ()
    text: str | None = None
    count: int | None = None
    first: datetime | None = None
    last: datetime | None = None
    url: str | None = None
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Unavailable:
    """What could not be seen, and why in a few plain words ("no answer within 2 s", "no data", "HTTP 422 ...")."""

    kind: EvidenceKind
    signal: str
    what: str
    source: str
    reason: str


Evidence = Observed | Unavailable
