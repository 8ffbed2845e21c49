"""Turn a reading into a plain dictionary, as the command line prints it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from bot.domain.alerts.alert import Alert, AlertMember, Reading, Symptom


def _build_symptom(sign: Symptom) -> dict[str, Any]:
    """Return only the keys that its kind has."""
    kept = ("kind", "name", "value", "op", "threshold") if sign.kind == "metric" else ("kind", "code", "text")
    return {key: value for key, value in asdict(sign).items() if key in kept}


def _build_member(member: AlertMember) -> dict[str, Any]:
    return {"state": member.state.value, "title": member.title, "labels": dict(member.labels)}


def _build_alert(alert: Alert) -> dict[str, Any]:
    return {
        "is_alert": True,
        "kind": alert.kind,
        "tool": alert.tool,
        "state": alert.state.value,
        "title": alert.title,
        "severity": alert.severity.value if alert.severity else None,
        "severity_raw": alert.severity_raw,
        "service": alert.service,
        "environment": alert.environment,
        "region": alert.region,
        "vendor": alert.vendor,
        "symptoms": [_build_symptom(sign) for sign in alert.symptoms],
        "links": dict(alert.links),
        "labels": dict(alert.labels),
        "fingerprint": alert.fingerprint,
        "delivery": alert.delivery.value,
        "alerts": [_build_member(member) for member in alert.alerts],
        "truncated": alert.truncated,
    }


def build_shape(reading: Reading) -> dict[str, Any]:
    """Return the dictionary of a reading; for a message that is no alert only kind, reason and delivery."""
    if isinstance(reading, Alert):
        return _build_alert(reading)
    return {"is_alert": False, "kind": reading.kind, "reason": reading.reason, "delivery": reading.delivery.value}
