"""What to collect when memory has no answer, fitted to what the alert says. Rules as a table.

Must not name a cause: it says where to look, never what will be found.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.domain.alerts.alert import Alert
from bot.domain.text.format import fit_one_line
from bot.domain.text.names import split_name

SHOWN = 5


@dataclass(frozen=True, slots=True)
class _ChecklistRule:
    """`when` is looked for in title, symptoms and labels; None is always. {service} and {vendor} are filled in;
    an item that needs a vendor is left out where none is named."""

    when: re.Pattern[str] | None
    item: str


def _define_rule(pattern: str | None, item: str) -> _ChecklistRule:
    return _ChecklistRule(re.compile(rf"\b(?:{pattern})", re.IGNORECASE) if pattern else None, item)


# The order is the order in which the list is told: what tells most first.
_RULES = (
    _define_rule(None, "{vendor}: its status page, and our error rate for its calls alone"),
    _define_rule(r"cert|tls|ssl|x509|handshake", "{service}: expiry date and chain of the certificate that is served"),
    _define_rule(r"dns|resolv|nxdomain|servfail", "name resolution from inside and outside, with the answering server"),
    _define_rule(
        r"cron|job|batch|schedul|nightly|backup", "log of the last run that failed and of the last one that worked"
    ),
    _define_rule(
        r"lag|queue|kafka|consumer|backlog|partition", "{service}: lag for each partition, consumers, rate in and out"
    ),
    _define_rule(r"disk|inode|volume|filesystem|no space", "what grew on the disk in the last day, and how fast"),
    _define_rule(r"oom|memory|heap|gc\b|leak", "{service}: memory of each instance since its start"),
    _define_rule(
        r"pool|connection|database|\bdb\b|sql|postgres|mysql|deadlock|replica",
        "database: connections in use, waits, slow queries",
    ),
    _define_rule(r"crash|restart|pod|container|kube", "last log lines and exit code before the restart"),
    _define_rule(r"429|rate.?limit|throttl|quota", "requests for each client and key against the limit"),
    _define_rule(
        r"latency|slow|p9\d|timeout|504|duration|response time", "{service}: p95 latency by endpoint and by upstream"
    ),
    _define_rule(
        r"5\d\d|error|fail|exception|unavailable", "{service}: error rate by endpoint, status code and instance"
    ),
    _define_rule(None, "deploys, feature flags and configuration of {service} in the last hour"),
    _define_rule(None, "{service}: saturation (CPU, memory, connections, threads)"),
    _define_rule(None, "{service}: error budget, and how many users are hit"),
)


def build_triage_checklist(alert: Alert) -> tuple[str, ...]:
    """At most five things to collect for this alert, the most telling first."""
    signs = [f"{s.name or ''} {s.code or ''} {s.text or ''}" for s in alert.symptoms]
    said = split_name(" ".join((alert.title or "", *signs, *(v for _, v in sorted(alert.labels.items())))))
    names = {
        "service": fit_one_line(alert.service or "the service", 40),
        "vendor": fit_one_line(alert.vendor or "", 40),
    }
    items = [
        rule.item.format(**names)
        for rule in _RULES
        if (rule.when is None or rule.when.search(said)) and (alert.vendor or "{vendor}" not in rule.item)
    ]
    # The deploys of the last hour are asked for whatever else fits.
    deploys = next(item for item in items if item.startswith("deploys"))
    first = items[:SHOWN]
    return tuple(first) if deploys in first else (*first[: SHOWN - 1], deploys)
