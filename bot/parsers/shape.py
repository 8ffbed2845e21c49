"""A reading as a plain dictionary, as the command line prints it. Must not add or drop facts."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from bot.domain.alerts.alert import Alert, AlertMember, Reading, Symptom


def _build_symptom(sign: Symptom) -> dict[str, Any]:
    """Only the keys that its kind has."""
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
    """The dictionary of a reading; a message that is no alert has only its kind, the reason and its delivery."""
    if isinstance(reading, Alert):
        return _build_alert(reading)
    return {"is_alert": False, "kind": reading.kind, "reason": reading.reason, "delivery": reading.delivery.value}
