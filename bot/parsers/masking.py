"""Secrets masked in everything that leaves the reader. Must not change anything but secrets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bot.domain.alerts.alert import Alert, AlertMember, Symptom
from bot.domain.text.redaction import mask, mask_url, mask_value, names_secret


def _text(value: str) -> str:
    return mask(value)[0]


def _maybe(value: str | None) -> str | None:
    return None if value is None else _text(value)


def _labels(labels: Mapping[str, str]) -> dict[str, str]:
    """Label values masked; the key counts as context ("password": "x" is a secret). Most posts hold no secret at all, and
    one look at all labels together shows that."""
    together = "\n".join(f"{key}: {value}" for key, value in labels.items())
    if mask(together)[0] == together and not any(map(names_secret, labels)):
        return dict(labels)
    return {_text(key): mask_value(key, _in_context(key, value)) for key, value in labels.items()}


def _in_context(key: str, value: str) -> str:
    """The value as it is masked behind its key; as it was where the key itself changes."""
    prefix = f"{key}: "
    joined = _text(prefix + value)
    return joined[len(prefix) :] if joined.startswith(prefix) else value


def _symptom(sign: Symptom) -> Symptom:
    return replace(
        sign, name=_maybe(sign.name), value=_maybe(sign.value), code=_maybe(sign.code), text=_maybe(sign.text)
    )


def _member(member: AlertMember) -> AlertMember:
    return replace(member, labels=_labels(member.labels), title=_maybe(member.title))


def masked(alert: Alert) -> Alert:
    """The alert without secrets; in links only user information and secret parameters are masked."""
    return replace(
        alert,
        title=_maybe(alert.title),
        severity_raw=_maybe(alert.severity_raw),
        service=_maybe(alert.service),
        vendor=_maybe(alert.vendor),
        environment=_maybe(alert.environment),
        region=_maybe(alert.region),
        symptoms=tuple(map(_symptom, alert.symptoms)),
        links={_text(role): mask_url(url) for role, url in alert.links.items()},
        labels=_labels(alert.labels),
        alerts=tuple(map(_member, alert.alerts)),
        text=_text(alert.text),
    )
