"""A month as told: twelve families of trouble, what was true of each occurrence, and what people wrote down of it.

The script knows the truth, the bot does not: people record rightly, partly, wrongly, or nothing, and take back what was
wrong. Must not know how the bot decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Family:
    """One kind of trouble. `fixes`: the fix that truly helps, in the words of different people; `decoy`: what looks like
    one and does not help; `checks`: what was looked at in vain; `acts`: what people did, one for each occurrence."""

    service: str
    titles: tuple[str, str]
    signs: tuple[str, ...]
    cause: str
    boundary: str
    fixes: tuple[str, ...]
    decoy: str
    checks: tuple[tuple[str, float], ...]
    acts: tuple[str, ...]
    vendor: str | None = None
    region: str = "eu-central-1"
    # From which occurrence on another fix is the true one: the trouble has changed.
    changed: tuple[int, str] | None = None

    def true_fix(self, n: int) -> tuple[str, ...]:
        """The wordings of what truly helps in the n-th occurrence."""
        return (self.changed[1],) if self.changed and n >= self.changed[0] else self.fixes


# "right": the true fix, seen to work. "decoy first": the decoy failed, then the true one worked. "partly": the true fix,
# noted as a partial help. "mistaken": the decoy noted as seen to work, and left so. "retracted": the same, taken back.
# "only failed": the decoy failed, nothing else noted. "unsure": outcome not known. "nothing": nobody wrote anything.
FAMILIES = (
    Family(
        "booking-api", ("BookingLatencyHigh", "p99 of bookings over budget"), ("latency p99 4.2s", "lock wait on seats"),
        "A seat sync job held row locks on the seats table.", "internal",
        ("Pause the seat sync job", "paused seat-sync job", "Pause seat sync job."), "Restart booking-api",
        (("Garbage collection of the heap", 12), ("Load balancer health", 8)),
        ("decoy first", "right", "right", "right", "right"),
    ),
    Family(
        "mailer", ("MailQueueGrowing", "Outgoing mail piles up"), ("queue depth 40k", "421 too many connections"),
        "postly throttled us after a campaign.", "vendor",
        ("Lower the send rate to 50 per second", "reduced send rate to 50 per second"), "Raise the send rate to 50 per second",
        (("DNS of the mail hosts", 20), ("SPF record", 5)),
        ("right", "decoy first", "right", "partly", "right"), vendor="postly",
    ),
    Family(
        "card-gateway", ("CardAuthErrors", "Card authorisations refused"), ("HTTP 504 from cardly", "status page green"),
        "cardly shipped a slow release.", "vendor",
        ("Fail over to acquirer two", "failed over to acquirer two"), "Restart card-gateway",
        (("Egress proxy ports", 15), ("Connection pool of the ledger", 25)),
        ("right", "right", "decoy first", "right", "right"), vendor="cardly", region="ap-southeast-2",
    ),
    Family(
        "card-gateway", ("CardAuthErrors", "Card authorisations refused"), ("HTTP 504 from cardly", "egress proxy saturated"),
        "The egress proxy ports ran out in one region.", "internal",
        ("Restart the egress proxy", "egress proxy restarted"), "Fail over to acquirer two",
        (("Connection pool of the ledger", 10),),
        ("decoy first", "right", "right", "nothing", "right"), vendor="cardly", region="sa-east-1",
    ),
    Family(
        "geo-index", ("GeoIndexStale", "Places are out of date"), ("index age 9h", "compaction stuck"),
        "A compaction waited on a dead worker.", "internal",
        ("Remove worker 3 from the ring; run compaction", "removed worker 3 from ring\nrun compaction"),
        "Rebuild the index from scratch", (("Disk space of the index hosts", 10),),
        ("only failed", "decoy first", "right", "right", "unsure"),
    ),
    Family(
        "session-cache", ("SessionCacheMisses", "Users are signed out"), ("miss ratio 80%", "evictions per second 900"),
        "A tenant stored attachments in sessions.", "internal",
        ("Raise maxmemory to 12 GB", "increased maxmemory to 12 GB"), "Raise maxmemory to 6 GB",
        (("Clock skew of the token issuer", 30),),
        ("mistaken", "decoy first", "right", "right", "right"),
    ),
    Family(
        "ticket-export", ("TicketExportFailed", "Export job ends early"), ("exit code 137", "killed by the kernel"),
        "One customer's archive does not fit in memory.", "internal",
        ("Run the export in batches of 500", "export run in batches of 500"), "Run the export again",
        (("Permissions of the bucket", 18),),
        ("retracted", "right", "decoy first", "right", "right"),
    ),
    Family(
        "push-relay", ("PushDeliveryDropped", "Pushes are not delivered"), ("token rejected 403", "bounces rise"),
        "The signing key had expired.", "internal",
        ("Renew the signing key; restart push-relay", "renewed signing key; push-relay restarted"), "Restart push-relay",
        (("Vendor status of pushco", 6), ("Rate limit of pushco", 14)),
        ("right", "right", "right", "right", "right"), vendor="pushco",
        changed=(1, "Roll back the client library to 7.1"),
    ),
    Family(
        "invoice-db", ("InvoiceDbReplicationLag", "Invoice replica is behind"), ("replica lag 900s", "wal sender waiting"),
        "A long report held back the replica.", "internal",
        ("Stop the monthly report", "stopped monthly report"), "Restart the replica",
        (("Network between zones", 22),),
        ("mistaken", "mistaken then failed", "right", "right", "partly"),
    ),
    Family(
        "quote-engine", ("QuoteErrors", "No quotes for parcels"), ("quota exceeded 429", "vendor parcelo"),
        "parcelo lowered our quota without notice.", "vendor",
        ("Switch to the cached tariff", "switched to cached tariff"), "Retry the calls with back-off",
        (("Deploy of quote-engine", 16),),
        ("unsure", "nothing", "right", "right", "right"), vendor="parcelo",
    ),
    Family(
        "image-resizer", ("ResizerCpuSaturated", "Thumbnails are slow"), ("cpu 99%", "thumbnail latency 8s"),
        "A crawler asked for sizes nobody uses.", "internal",
        ("Block the crawler at the edge", "crawler blocked at the edge"), "Scale out the resizers to 20",
        (("Noisy neighbour on the host", 9),),
        ("partly", "decoy first", "right", "right", "right"),
    ),
    Family(
        "audit-trail", ("AuditTrailGap", "Audit entries missing"), ("gap in sequence", "consumer rebalanced"),
        "A consumer left the group during rebalance.", "internal",
        ("Rewind the consumer to the last checkpoint", "rewind consumer to last checkpoint"), "Skip the missing entries",
        (("Schema of the events", 35), ("Retention of the topic", 5)),
        ("right", "right", "right", "right", "right"),
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Occurrence:
    """One alert of the month: the n-th of its family."""

    number: int
    family: Family
    n: int
    alert: dict[str, Any] = field(hash=False)

    @property
    def act(self) -> str:
        """What people did about it."""
        return self.family.acts[self.n]

    @property
    def wording(self) -> str:
        """The true fix in the words of whoever was on call."""
        fixes = self.family.true_fix(self.n)
        return fixes[self.n % len(fixes)]


def occurrences() -> Iterator[Occurrence]:
    """The sixty alerts in their order. Every second one of a family comes from another tool, in other words."""
    number = 0
    for n in range(5):
        for family in FAMILIES:
            other = n % 2
            symptoms = [{"kind": "error", "text": sign} for sign in family.signs]
            alert = {
                "tool": ("alertmanager", "watchly")[other],
                "fingerprint": f"{('am', 'wl')[other]}/{family.service}/{family.region}",
                "title": family.titles[other],
                "severity": "critical",
                "service": family.service,
                "vendor": family.vendor,
                "region": family.region,
                "environment": "production",
                "symptoms": symptoms,
                "text": f"{family.titles[other]}: {', '.join(family.signs)}",
            }
            yield Occurrence(number, family, n, alert)
            number += 1
