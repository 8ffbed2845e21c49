"""A past incident that a person set aside as a precedent for one kind of alert: what that is, and for which alerts it holds.

Must not change the incident or what it counts elsewhere. How it changes a recall is `bot.domain.recall.feedback`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.domain.alerts.alert import Alert
from bot.domain.recall.query import Query
from bot.domain.text.names import normalize_name, normalize_title

# How the reason begins that a precedent carries.
SAID = "set aside"
# What the threads are told: it concerns one kind of alert only.
SET_ASIDE, TAKEN_BACK = "set aside for this kind of alert", "counted again for this kind of alert"


class DismissalReason(StrEnum):
    """Why it is no precedent."""

    CAUSE = "other cause"
    PLACE = "other service or place"
    OUTDATED = "outdated"
    OTHER = "other reason"


@dataclass(frozen=True, slots=True)
class DismissedPrecedent:
    """`incident_id` is no precedent for alerts of this fingerprint, or of this name and service (in compared form; None:
    not known). `pinned_off`: it is not shown for any alert of this service. `about` is the incident under whose brief it
    was said, in `channel`; only who may see `visibility` is told of it, and only their recalls heed it."""

    incident_id: str
    fingerprint: str
    title: str | None
    service: str | None
    why: DismissalReason
    by: str
    at: datetime
    about: str = ""
    channel: str = ""
    visibility: str = "public"
    note: str = ""
    pinned_off: bool = False
    number: int = 0

    @property
    def reason_text(self) -> str:
        """The reason in a few words, without who gave it."""
        shown = f", not shown for {self.service}" if self.pinned_off else ""
        return f"{SAID}: {self.why.value}{shown}"


def dismiss_precedent(
    alert: Alert, incident_id: str, why: DismissalReason, by: str, at: datetime
) -> DismissedPrecedent:
    """What a person says of a precedent of this alert."""
    return DismissedPrecedent(
        incident_id, alert.fingerprint or "", normalize_title(alert.title), normalize_name(alert.service), why, by, at
    )


def is_same_kind(aside: DismissedPrecedent, query: Query) -> bool:
    """Whether it was said of this kind of alert: the same fingerprint, or the same alert name and service; of what is
    pinned off for a service, any alert of that service."""
    service = normalize_name(query.service)
    if aside.fingerprint and aside.fingerprint == query.fingerprint:
        return True
    if service is None or service != aside.service:
        return False
    return aside.pinned_off or (aside.title is not None and aside.title == normalize_title(query.title))
