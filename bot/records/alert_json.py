"""A parsed alert as JSON values, for the inbox: it holds what was read and masked, never what a tool posted."""

from __future__ import annotations

from pydantic import TypeAdapter, ValidationError

from bot.domain.alerts.alert import Alert
from bot.domain.text.json_types import JsonDict, JsonObject
from bot.ports.errors import RecordRejected

_ALERT = TypeAdapter(Alert)


def write_alert(alert: Alert) -> JsonDict:
    """Return the alert as JSON values."""
    written: JsonDict = _ALERT.dump_python(alert, mode="json")
    return written


def read_alert(value: object) -> Alert:
    """Return the alert that `write_alert` wrote. Raises RecordRejected for anything else."""
    try:
        return _ALERT.validate_python(value, strict=False)
    except ValidationError as bad:
        raise RecordRejected("alert", f"is not an alert that was read: {bad.errors()[0]['msg']}") from bad


def read_stored_alert(event: JsonObject) -> Alert:
    """Return the alert that an event in the inbox carries. Raises RecordRejected where it carries none."""
    return read_alert(event.get("alert"))
