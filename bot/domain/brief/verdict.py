"""The verdict: one plain sentence of at most 140 characters, service first. It is also the notification text.

Must not decide anything: it says in one line what the parts of the brief say.
"""

from __future__ import annotations

from bot.domain.alerts.alert import Alert
from bot.domain.brief.boundary import BoundaryCall, has_other_boundary
from bot.domain.brief.recommendation import Confidence, Recommendation
from bot.domain.incidents.record import Boundary
from bot.domain.text.format import fit_one_line, format_count

LIMIT = 140
# Together with counts and confidence these leave room for the name of the fix, which takes what is left.
_NAME_LIMIT = 32
_VENDOR_LIMIT = 20
_LIKE_LIMIT = 16
_SHORTEST_NAME = 8
_CONTRADICTION_LIMIT = 48

# Where nobody looks for a cause any more a contradiction leads no longer.
_OVER = frozenset({"resolved", "dismissed"})
# What is said of where an incident stands; "open" goes without saying.
_STATE_WORDS = {"cleared": "cleared", "resolved": "resolved", "dismissed": "not an alert"}


def name_subject(alert: Alert) -> str:
    """What the alert is about, in a few words: its service, else its title, else its vendor, else its tool."""
    return fit_one_line(alert.service or alert.title or alert.vendor or f"{alert.tool} alert", _NAME_LIMIT)


def _format_boundary(call: BoundaryCall, vendor: str | None, outages: int) -> str:
    if call.value is Boundary.UNKNOWN:
        return f"memory of {format_count(outages, 'similar outage')}"
    named = (
        f"vendor {fit_one_line(vendor, _VENDOR_LIMIT)}"
        if vendor and call.value is Boundary.VENDOR
        else call.value.value
    )
    stated = sum(n for boundary, n in call.votes.items() if boundary != Boundary.UNKNOWN.value)
    own = call.votes.get(call.value.value, 0)
    like = f" as {fit_one_line(call.like, _LIKE_LIMIT)}" if call.like and 2 * own <= stated else ""
    return f"memory says {named}{like}, {own} of {stated}"


def _format_memory(
    lead: str, found: Recommendation | None, first_step: str, call: BoundaryCall, *, joint: str = "; "
) -> str:
    """The fix and its record after `lead`, and where it worked if that contradicts the boundary; the name of the fix is
    cut, never its record."""
    if found is None:
        return f"{lead}{joint}no fix known to work"
    known = found.successes + found.partial + found.failures
    where = f" in {'/'.join(found.worked_in)} cases" if has_other_boundary(call, found.worked_in) else ""
    record = f" worked {found.successes} of {known}{where} ({found.confidence.value})"
    room = LIMIT - len(lead) - len(joint) - len(record)
    return f"{lead}{joint}{fit_one_line(found.title or first_step, room) if room >= _SHORTEST_NAME else 'fix'}{record}"


def _format_contradiction(
    lead: str, found: Recommendation | None, first_step: str, call: BoundaryCall, outages: int, *, mixed: bool
) -> str:
    """What is seen now before what memory says, each a sentence. Memory's record is not cut, the name of the fix is."""
    stated = sum(n for boundary, n in call.votes.items() if boundary != Boundary.UNKNOWN.value)
    votes = f"{call.value.value} {call.votes.get(call.value.value, 0)} of {stated}"
    known = format_count(outages, "similar outage") if call.value is Boundary.UNKNOWN else votes
    return _format_memory(f"{lead}. Memory{', mixed' if mixed else ''}: {known}", found, first_step, call, joint=", ")


def _describe_alert(alert: Alert) -> str:
    """The alert itself in a few words, for a brief that has no memory to tell of."""
    title = fit_one_line(alert.title, 60) if alert.title and alert.service else "alert"
    severity = f" ({alert.severity.value})" if alert.severity else ""
    return f"{title} {alert.state.value.replace('_', ' ')}{severity}"


def write_verdict(
    alert: Alert,
    *,
    state: str | None,
    call: BoundaryCall,
    recommendation: Recommendation | None,
    first_step: str,
    outages: int,
    insufficient: str | None,
    memory_mode: str,
    contradiction: str | None = None,
) -> str:
    """The sentence. `state` is the incident's, if there is one; `outages` how many past ones count; `insufficient` the
    reason why memory cannot answer; `contradiction` what is seen now that speaks against memory, in a few words.

    A LOW record starts with "Mixed", so that nobody follows it half awake, and so does a fix that worked only where the
    fault lay elsewhere; with memory off, none is mentioned.
    """
    mixed = recommendation is not None and (
        recommendation.confidence is Confidence.LOW or has_other_boundary(call, recommendation.worked_in)
    )
    stands = _STATE_WORDS.get(state or "")
    leads = fit_one_line(contradiction, _CONTRADICTION_LIMIT) if contradiction and state not in _OVER else None
    lead = ": ".join(
        part for part in ("Mixed" if mixed and not leads else None, name_subject(alert), stands, leads) if part
    )
    if memory_mode == "off":
        said = lead if stands else f"{lead}: {_describe_alert(alert)}"
    elif insufficient is not None and state == "resolved":
        said = f"{lead}; memory had no answer, what was done is recorded below"
    elif insufficient is not None:
        said = f"{lead}: no answer from memory, {insufficient}"
    elif leads:
        said = _format_contradiction(lead, recommendation, first_step, call, outages, mixed=mixed)
    else:
        said = _format_memory(
            f"{lead}: {_format_boundary(call, alert.vendor, outages)}", recommendation, first_step, call
        )
    return fit_one_line(said, LIMIT)
