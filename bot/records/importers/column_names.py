"""What headings and columns mean: the native field behind "Root cause", "created_on" or "Component/s".

One table, for CSV columns, for custom fields, and for the facts at the head of a post-mortem. Must not read values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from bot.domain.incidents.record import RESOLUTION_TEXTS

# field → what it is called elsewhere, the plainest first: where several columns would do, the first takes it.
_NAMES = """
incident_id: incident_id; incident id; incident number; incident no; issue key; tinyid; tiny id; reference; ticket id; key; id; ticket; number; ref; incident
title: title; incident title; alert title; name; incident name; summary; subject; headline; message; short description; alert name; alert; problem; description
service: service; service name; services; affected service; affected services; impacted service; impacted services; component; components; component s; application; app; system
vendor: vendor; vendors; provider; third party; supplier
region: region; regions; location
environment: environment; env; stage
severity: severity; sev; priority; urgency; level
symptoms: symptoms; symptom; what was seen; error; error message; description; details; summary
customer_impact: customer impact; impact; user impact; business impact
started_at: started at; start; started; start time; timestamp start; impact started at; impactstartdate; occurred at; occurred; began; detected at; detected; created at; created on; created; createdat; opened at; opened; incident date; start date; date
resolved_at: resolved at; resolved on; resolved; timestamp end; end; ended; end time; ended at; fixed at; closed at; closed; resolutiondate; resolution date; end date; impactenddate
boundary: boundary; classification; fault lies with; where was the fault
root_cause: root cause; root causes; actual root cause; cause; rca; root cause analysis
successful_fix: successful fix; verified fix; what fixed it
fix: fix; resolution; remediation; mitigation; resolution steps; resolution notes; resolution note; fix applied; action taken; actions taken; solution; workaround; how it was fixed
outcome: outcome; fix outcome; fix status; fix worked; worked; did it work; result; verification status
failed_fix: failed fix; failed fixes; what did not work; did not work
failed_checks: failed checks; ruled out; not the cause; what was not the cause; red herrings; what wasted time
lesson: lesson; lessons; lessons learned; lessons learnt; lesson learned; learnings; takeaways
url: url; link; permalink; html url; postmortem url; thread
minutes: time to resolution minutes; time to resolve minutes; duration minutes; duration min; minutes to resolve
seconds: seconds to resolve; duration seconds
"""
FIELDS: Mapping[str, tuple[str, ...]] = {
    line.partition(":")[0]: tuple(name.strip() for name in line.partition(":")[2].split(";"))
    for line in _NAMES.strip().splitlines()
}
# Fields whose text is taken as it is, wherever a form has them.
PLACE_FIELDS = ("service", "vendor", "region", "environment")
PLAIN_FIELDS = (*PLACE_FIELDS, "severity", *RESOLUTION_TEXTS)
IGNORED = "-"
_FIELD_OF = {name.replace("_", " "): field for field, names in reversed(tuple(FIELDS.items())) for name in names}
_CUSTOM = re.compile(r"custom field \((.*)\)", re.IGNORECASE)
_OTHER = re.compile(r"[\W_]+")


def normalize_heading(heading: str) -> str:
    """Return a heading in compared form: lower case, words only; of "Custom field (Root cause)" what is inside."""
    inner = _CUSTOM.fullmatch(heading.strip())
    return _OTHER.sub(" ", inner[1] if inner else heading).strip().casefold()


def find_field(heading: str) -> str | None:
    """Return the native field that this heading names, looked at alone."""
    return _FIELD_OF.get(normalize_heading(heading))


def recognize_columns(headings: Sequence[str], taken: Iterable[str] = ()) -> dict[int, str]:
    """Return the native field of each column (by its place), as far as its heading says.

    `taken` fields are assigned already. A field takes the plainest of its names; columns of the same heading go
    together.
    """
    forms = [normalize_heading(heading) for heading in headings]
    found: dict[int, str] = {}
    for field, names in FIELDS.items():
        if field in taken:
            continue
        name = next((n for n in names if _is_free(forms, n.replace("_", " "), found)), None)
        if name is not None:
            found |= dict.fromkeys(_is_free(forms, name.replace("_", " "), found), field)
    return found


def _is_free(forms: Sequence[str], name: str, found: Mapping[int, str]) -> list[int]:
    return [place for place, form in enumerate(forms) if form == name and place not in found]
