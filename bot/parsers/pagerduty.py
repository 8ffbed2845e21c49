"""Parse PagerDuty incidents, and its notes in their threads. The person who acted is not the name."""

from __future__ import annotations

import re

from bot.domain.alerts.alert import AlertState
from bot.parsers.common.draft import Draft, Refusal
from bot.parsers.message import Message
from bot.parsers.vocabulary.states import read_token_state

TOOL = "pagerduty"
_INCIDENT = re.compile(r"https://[\w.-]+\.pagerduty\.[\w.]+/incidents/(\w+)")
_TITLE = re.compile(
    r"^\W{0,6}(?::[\w_]+:\s*)?(Triggered|Acknowledged|Resolved|Escalated|Reassigned|Unacknowledged)?:?\s*\[#(\d+)\]\s*(.+)$",
    re.MULTILINE,
)
_OLD = re.compile(r"^(Triggered|Acknowledged|Resolved|Escalated) #(\d+): (.+)$", re.MULTILINE)
_NOTE = re.compile(
    r"^Incident #(\d+) was (escalated|acknowledged|resolved|reassigned|reopened|unacknowledged)", re.IGNORECASE
)
_STATE = {"reassigned": AlertState.UPDATE, "unacknowledged": AlertState.FIRING, "reopened": AlertState.FIRING}


def matches(message: Message) -> bool:
    """A link to an incident, or its sentence about an incident from its own bot; not what people or agents write."""
    linked = any(_INCIDENT.match(link.url) for link in message.links)
    if message.email:
        return False
    noted = _NOTE.match(message.text) and message.poster.name.casefold().startswith("pagerduty")
    return bool(noted) or (linked and bool(_TITLE.search(message.body) or _OLD.search(message.body)))


def _read_state(word: str | None) -> AlertState:
    folded = (word or "triggered").casefold()
    return _STATE.get(folded) or read_token_state(folded) or AlertState.UPDATE


def parse(message: Message) -> Draft | Refusal:
    """Draft the alert: the number identifies the incident in posts, edits and replies alike."""
    note = _NOTE.match(message.text)
    if note:
        number, state = note[1], _read_state(note[2])
        title = None
    else:
        found = _TITLE.search(message.body) or _OLD.search(message.body)
        word, number, title = (found[1], found[2], found[3]) if found else (None, "", None)
        state = _read_state(word)
    link = next((link.url for link in message.links if _INCIDENT.match(link.url)), None)
    fields = {label.casefold(): value for label, value in message.fields}
    raw = fields.get("priority") or fields.get("urgency")
    labels = {"incident_number": number, **({"priority": raw} if raw else {})}
    settled = frozenset({"title", "vendor", "host"} | ({"severity", "service"} if note else set()))
    return Draft(
        TOOL,
        state,
        title.strip() if title else None,
        identity=(f"incident {number}",),
        labels=labels,
        links={"source": link} if link else {},
        service=fields.get("service"),
        settled=settled,
    )
