"""Short ways to make the values that tests need, and a small reader of records and alerts for them.

The product's own reader of records is tested on its own; this one must not be lenient: an unknown key is an error.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from bot.domain.alerts.alert import Alert, AlertState, Severity, Symptom
from bot.domain.incidents.record import (
    Announcement,
    Attempt,
    Boundary,
    FailedCheck,
    Incident,
    Runbook,
    Source,
    VerificationStatus,
)
from bot.domain.recall.ranking import Candidate, Precedent, TextScore, choose_tier

ROOT = Path(__file__).parent.parent
SEEDS = ROOT / "seeds" / "incidents.jsonl"
NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


def when(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text.replace("Z", "+00:00")) if text else None


def _attempt(row: Mapping[str, Any]) -> Attempt:
    return Attempt(**{**row, "status": VerificationStatus(row.get("status", "UNVERIFIED")), "at": when(row.get("at"))})


def incident_from(row: Mapping[str, Any]) -> Incident:
    """An incident from a decoded line; absent keys get their defaults."""
    values = dict(row)
    lists: dict[str, Callable[[Any], Any]] = {
        "attempts": _attempt,
        "runbooks": lambda r: Runbook(r["id"], r["title"], tuple(r.get("steps", ()))),
        "failed_checks": lambda r: FailedCheck(**r),
        "alerts": lambda r: Announcement(**r),
        "symptoms": str,
    }
    for key, read in lists.items():
        values[key] = tuple(read(item) for item in row.get(key) or ())
    values["started_at"], values["resolved_at"] = when(row.get("started_at")), when(row.get("resolved_at"))
    values["boundary"] = Boundary(row.get("boundary") or "unknown")
    values["source"] = Source(**(row.get("source") or {}))
    return Incident(**values)


def read_incidents(path: Path) -> list[Incident]:
    return [incident_from(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


@cache
def seed_incidents() -> dict[str, Incident]:
    return {incident.incident_id: incident for incident in read_incidents(SEEDS)}


def alert_from(row: Mapping[str, Any]) -> Alert:
    values = dict(row)
    values["state"] = AlertState(row.get("state", "firing"))
    values["severity"] = Severity(row["severity"]) if row.get("severity") else None
    values["symptoms"] = tuple(Symptom(**s) for s in row.get("symptoms", ()))
    return Alert(**{"tool": "alertmanager", "fingerprint": "fp-1", **values})


def an_alert(**fields: Any) -> Alert:
    """A firing alert of payments-api about razorpay, unless said otherwise."""
    usual = Alert(
        tool="alertmanager",
        state=AlertState.FIRING,
        fingerprint="fp-1",
        title="PaymentGatewayErrorRateHigh",
        severity=Severity.CRITICAL,
        service="payments-api",
        environment="prod",
        region="ap-south-1",
        vendor="razorpay",
        symptoms=(Symptom("metric", name="payment_gateway_error_ratio", value="22%"), Symptom("error", code="504")),
    )
    return replace(usual, **fields)


def an_incident(incident_id: str = "INC-1", **fields: Any) -> Incident:
    """An incident with a title only, unless said otherwise."""
    return replace(Incident(incident_id, "captures time out"), **fields)


def tried(fix: str, status: str = "VERIFIED", **fields: Any) -> Attempt:
    return Attempt(fix, VerificationStatus(status), **fields)


def on_day(day: int, hour: int = 10, month: int = 11) -> datetime:
    return datetime(2026, month, day, hour, tzinfo=UTC)


def precedent(incident: Incident, probability: float = 0.8) -> Precedent:
    return Precedent(incident, probability, choose_tier(probability))


def precedents(*incidents: Incident) -> tuple[Precedent, ...]:
    """All strong, best first in the order given."""
    return tuple(precedent(incident, 0.9 - 0.01 * n) for n, incident in enumerate(incidents))


def candidate(incident: Incident, share: float = 0.0, mass: float = 0.0, chars: float = 0.0) -> Candidate:
    return Candidate(incident, TextScore(share, mass, chars))


def ids(found: Sequence[Precedent]) -> list[str]:
    return [p.incident.incident_id for p in found]
