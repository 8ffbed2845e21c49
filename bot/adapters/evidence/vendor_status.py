"""The status page of the vendor that an alert names, as Atlassian Statuspage publishes it.

Must not ask any address but those that the operator configured, whatever an alert says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.adapters.evidence.http_source import HttpSource, clean_text
from bot.domain.alerts.alert import Alert
from bot.domain.evidence.items import Evidence, EvidenceKind, Observed
from bot.domain.text.json_types import JsonObject
from bot.ports.errors import EvidenceUnavailable

PATH = "/api/v2/summary.json"
SIGNAL = "vendor_status"
OPERATIONAL = "operational"
INDICATORS = {
    "none": OPERATIONAL,
    "minor": "degraded performance",
    "major": "partial outage",
    "critical": "major outage",
    "maintenance": "under maintenance",
}
_FINE = frozenset({"operational", ""})
_RANK = ("degraded_performance", "under_maintenance", "partial_outage", "major_outage")
MOST_COMPONENTS = 3


@dataclass(frozen=True, slots=True)
class VendorStatus:
    """The EvidenceProvider of vendors' status pages."""

    pages: Mapping[str, HttpSource]
    name: str = "status page"

    @property
    def kind(self) -> EvidenceKind:
        """See the port."""
        return EvidenceKind.VENDOR_STATUS

    async def observe(self, alert: Alert, at: datetime) -> Sequence[Evidence]:
        """See the port."""
        server = self.pages.get(alert.vendor.casefold()) if alert.vendor else None
        if server is None or not alert.vendor:
            return ()
        said = await server.read_json(PATH)
        text = format_status(said)
        what = f"{alert.vendor} status page"
        return (Observed(EvidenceKind.VENDOR_STATUS, SIGNAL, what, self.name, at, text=text, url=server.base),)


def format_status(said: Any) -> str:
    """Return a page's status in a few words: "operational", or how bad it is and what of. Raises EvidenceUnavailable."""
    status = said.get("status") if isinstance(said, dict) else None
    indicator = status.get("indicator") if isinstance(status, dict) else None
    if not isinstance(indicator, str) or indicator not in INDICATORS:
        raise EvidenceUnavailable("the answer is no summary of a status page")
    affected = [c for c in _read_listed(said, "components") if c["status"] not in _FINE and not c.get("group")]
    open_now = [
        i for i in _read_listed(said, "incidents") if i["status"] not in {"resolved", "postmortem", "completed"}
    ]
    worst = max((_RANK.index(c["status"]) for c in affected if c["status"] in _RANK), default=-1)
    word = INDICATORS[indicator]
    if word == OPERATIONAL and worst >= 0:
        word = _RANK[worst].replace("_", " ")
    named = [clean_text(str(one.get("name") or "")) for one in (*affected[:MOST_COMPONENTS], *open_now[:2])]
    shown = "; ".join(dict.fromkeys(name for name in named if name)) or clean_text(
        str((status or {}).get("description") or "")
    )
    if word == OPERATIONAL:
        return f"{OPERATIONAL}; open: {shown}" if open_now and shown else OPERATIONAL
    return f"{word}: {shown}" if shown else word


def _read_listed(said: JsonObject, name: str) -> list[JsonObject]:
    """Return the objects of a list, each with its status as text: what lacks that form counts as operational."""
    found = said.get(name)
    rows = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    return [{**one, "status": one["status"] if isinstance(one.get("status"), str) else ""} for one in rows]
