"""Which of a source's streams, units or repositories belong to the service of an alert. Must not ask a source.

The question comes from the configuration; of the alert only the values of its fields are used, and each source escapes
them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from bot.domain.alerts.alert import Alert
from bot.domain.catalog.vendors import fold_name

T = TypeVar("T")
LabelValues = Mapping[str, Sequence[str]]
MOST_VALUE = 120
_FIELD = re.compile(r"\{(service|environment|region)\}")


@dataclass(frozen=True, slots=True)
class ByService:
    """A value for each configured service, found by any name of it. Keys are folded names."""

    values: Mapping[str, str] = field(default_factory=dict)

    def find(self, alert: Alert) -> str | None:
        """Return the value for the alert's service, None where there is none."""
        return self.values.get(fold_name(alert.service)) if alert.service else None


@dataclass(frozen=True, slots=True)
class ChosenLabels:
    """Labels or fields to ask for, with their values, any of which will do."""

    service: str
    labels: LabelValues


@dataclass(frozen=True, slots=True)
class Selectors:
    """Labels for each configured service, and for every other one."""

    by_service: Mapping[str, LabelValues] = field(default_factory=dict)
    # for every other service; a value may hold {service}, {environment} and {region} of the alert; a label whose
    # field the alert lacks is left out, but not all
    default: LabelValues = field(default_factory=dict)

    def find(self, alert: Alert) -> ChosenLabels | None:
        """Return what to ask for, None where nothing is configured for the alert's service."""
        if not alert.service:
            return None
        labels = self.by_service.get(fold_name(alert.service), self.default)
        fields = {"service": alert.service, "environment": alert.environment, "region": alert.region}
        filled = {name: tuple(_fill_fields(value, fields) for value in values) for name, values in labels.items()}
        known = {name: tuple(v for v in values if v) for name, values in filled.items() if all(values)}
        return ChosenLabels(alert.service, known) if known else None


def _fill_fields(value: str, fields: Mapping[str, str | None]) -> str:
    """Return the value with the alert's fields in it, "" where the alert lacks such a field."""
    if any(not fields[name] for name in _FIELD.findall(value)):
        return ""
    # all at once: a service that is called "{region}" stays what it is called
    return _FIELD.sub(lambda found: (fields[found[1]] or "")[:MOST_VALUE], value)
