"""Mask secrets in everything that leaves the reader, and change nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bot.domain.alerts.alert import Alert, AlertMember, Symptom
from bot.domain.text.redaction import is_secret_name, mask, mask_url, mask_value


def _mask_text(value: str) -> str:
    return mask(value)[0]


def _mask_optional(value: str | None) -> str | None:
    return None if value is None else _mask_text(value)


def _mask_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """Mask label values, each with its key as context ("password": "x" is a secret).

    Most posts contain no secret at all, which one look at all labels together shows.
    """
    together = "\n".join(f"{key}: {value}" for key, value in labels.items())
    if mask(together)[0] == together and not any(map(is_secret_name, labels)):
        return dict(labels)
    return {_mask_text(key): mask_value(key, _mask_with_key(key, value)) for key, value in labels.items()}


def _mask_with_key(key: str, value: str) -> str:
    """Return the value masked in the context of its key, or unchanged if the key itself would change."""
    prefix = f"{key}: "
    joined = _mask_text(prefix + value)
    return joined[len(prefix) :] if joined.startswith(prefix) else value


def _mask_symptom(sign: Symptom) -> Symptom:
    return replace(
        sign,
        name=_mask_optional(sign.name),
        value=_mask_optional(sign.value),
        code=_mask_optional(sign.code),
        text=_mask_optional(sign.text),
    )


def _mask_member(member: AlertMember) -> AlertMember:
    return replace(member, labels=_mask_labels(member.labels), title=_mask_optional(member.title))


def mask_alert(alert: Alert) -> Alert:
    """Return the alert without secrets; links lose only user information and secret parameters."""
    return replace(
        alert,
        title=_mask_optional(alert.title),
        severity_raw=_mask_optional(alert.severity_raw),
        service=_mask_optional(alert.service),
        vendor=_mask_optional(alert.vendor),
        environment=_mask_optional(alert.environment),
        region=_mask_optional(alert.region),
        symptoms=tuple(map(_mask_symptom, alert.symptoms)),
        links={_mask_text(role): mask_url(url) for role, url in alert.links.items()},
        labels=_mask_labels(alert.labels),
        alerts=tuple(map(_mask_member, alert.alerts)),
        text=_mask_text(alert.text),
    )
