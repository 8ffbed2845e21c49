"""Render the parts of a brief, each in a full form and in shorter ones.

Which form is used is decided in `layout`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from bot.domain.alerts.channel_settings import ACKNOWLEDGER
from bot.domain.brief.checks import PostponedCheck, SkippedCheck
from bot.domain.brief.decide import Brief, SourceLine
from bot.domain.brief.recommendation import FailedFix, Recommendation
from bot.domain.brief.runbooks import RunbookRecord
from bot.domain.fixes.steps import split_steps
from bot.domain.incidents.alert_history import AlertHistory
from bot.domain.incidents.opening import IncidentView
from bot.domain.recall.dismissed import SAID
from bot.domain.text.visible import clean
from bot.slack.views.markup import (
    Block,
    context,
    format_date,
    format_time,
    header,
    link,
    plain,
    prose,
    section,
    verbatim,
)

Blocks = tuple[Block, ...]
_USER_ID = re.compile(r"(?:<@)?([UW](?=[A-Z]*\d)[A-Z0-9]{2,20})(?:\|[^<>]*)?>?")
_GROUP_ID = re.compile(r"S[A-Z0-9]{2,20}")
Levels = tuple[Blocks, ...]

MAX_VERDICT = 140
MAX_STEPS = 5
MAX_ID = 24
SEPARATOR = " · "
STATE_WORDS = {"open": "Firing since", "cleared": "Cleared", "resolved": "Resolved", "dismissed": "Dismissed"}


def join_parts(parts: Iterable[str | None]) -> str:
    """Return the parts that are not empty, separated by dots."""
    return SEPARATOR.join(p for p in parts if p)


def format_ids(incidents: Sequence[str], most: int = 3) -> str:
    """Return the first incident ids, and how many more there are."""
    shown = ", ".join(prose(i, MAX_ID) for i in incidents[:most])
    return f"{shown} +{len(incidents) - most}" if len(incidents) > most else shown


def format_verdict(brief: Brief) -> str:
    """Return the verdict as the notification shows it."""
    return plain(brief.verdict, MAX_VERDICT) or "Alert"


def render_title(brief: Brief) -> Blocks:
    """Return the verdict as the header."""
    return (header(format_verdict(brief)),)


def render_state(brief: Brief, tell: str | None = None) -> Levels:
    """Return the incident's state and what its alerts alone say about it. `tell`: the user group or person to
    mention."""
    where = "/".join(prose(p, 40) for p in (brief.alert.environment, brief.alert.region) if p)
    state, severity = _format_state(brief), brief.alert.severity.value if brief.alert.severity else None
    past = format_history(brief.history) if brief.memory_mode == "on" else None
    progress = join_parts((_format_partly_cleared(brief.incident), _format_flapping(brief.incident))) or None
    mention = format_mention(brief, tell)
    fired, acknowledged = _format_fired(brief.incident), _format_acknowledged(brief.incident)
    full = join_parts((state, severity, where, _format_late(brief), fired, progress, acknowledged, past, mention))
    return ((context(full),), (context(join_parts((state, severity, _format_late(brief), progress, past, mention))),))


def _format_late(brief: Brief) -> str | None:
    """Return that the bot read the alert only after a gap."""
    if brief.read_at is None or brief.now is None:
        return None
    return f"*late*: posted {format_time(brief.now)}, read {format_time(brief.read_at)} after a gap"


def format_mention(brief: Brief, tell: str | None) -> str | None:
    """Return the mention: a user group, or the person who acknowledged if Slack knows them."""
    if tell == ACKNOWLEDGER:
        found = _USER_ID.fullmatch((brief.incident.acknowledged_by if brief.incident else None) or "")
        return f"<@{found[1]}>" if found else None
    return f"<!subteam^{tell}>" if tell and _GROUP_ID.fullmatch(tell) else None


def _format_state(brief: Brief) -> str:
    incident = brief.incident
    if incident is None:
        return brief.alert.state.value.replace("_", " ").capitalize()
    word = STATE_WORDS.get(incident.state, "Since")
    if incident.no_data and incident.state == "open":
        word = "No data since"
    at = incident.cleared_at if incident.state == "cleared" and incident.cleared_at else incident.opened_at
    since = format_time(at) if incident.state in {"open", "cleared"} else f"(opened {format_time(at)})"
    return f"*{word}* {since}{SEPARATOR}{prose(incident.incident_id, MAX_ID)}"


def _format_fired(incident: IncidentView | None) -> str | None:
    return f"fired {incident.fired}×" if incident and incident.fired > 1 else None


def _format_partly_cleared(incident: IncidentView | None) -> str | None:
    """Return how much of a group has cleared while the rest is firing."""
    if incident is None or incident.state != "open" or incident.firing is None or incident.members is None:
        return None
    cleared = incident.members - incident.firing
    return f"{cleared} of {incident.members} cleared" if cleared > 0 else None


def _format_flapping(incident: IncidentView | None) -> str | None:
    if incident is None or not incident.flaps:
        return None
    return f"*flapping*: fired and cleared {incident.flaps} times in {incident.flaps_minutes} min"


def _format_acknowledged(incident: IncidentView | None) -> str | None:
    by = incident.acknowledged_by if incident else None
    return f"acknowledged by {prose(by, 40)}" if by else None


def format_history(past: AlertHistory | None) -> str | None:
    """Return the history from alerts alone, before anything was recorded."""
    if past is None:
        return None
    if past.times == 0:
        return f"first time in {past.days} days"
    text = f"{past.times}× in {past.days} days"
    if past.unrecorded:
        text += f", {past.unrecorded} cleared with no recorded fix"
    return text + (f", median {past.median_minutes:.0f} min" if past.median_minutes is not None else "")


def render_same_outage(brief: Brief) -> Levels:
    """Return the question whether another tool's alert is the same outage."""
    other = brief.same_outage
    if other is None:
        return ((),)
    question = f"Same outage? {link(other.url, other.incident_id, MAX_ID)}"
    full = f"{question} ({prose(other.tool, 20)}: {prose(other.title, 60)})"
    return ((context(full),), (context(question),))


def render_missing(brief: Brief) -> Levels:
    """Return the sources that could not be asked."""
    if not brief.missing:
        return ((),)
    lines = [
        f":warning: *{prose(m.what, 20)} is missing*: {prose(m.reason, 120)}"
        + (f" (since {prose(m.since, 40)})" if m.since else "")
        for m in brief.missing[:3]
    ]
    short = "; ".join(prose(m.what, 20) for m in brief.missing[:3])
    return ((context("\n".join(lines)),), (context(f":warning: *missing:* {short}"),))


def render_boundary(brief: Brief) -> Levels:
    """Return where the fault lay, and the root cause, both according to memory."""
    call, cause = brief.boundary, brief.root_cause
    first = (call.told_apart_by or "").partition(";")[0]
    reason = f"{SEPARATOR}told apart by {prose(first, 120)}" if first else ""
    line = format_boundary(brief)
    line += f"{SEPARATOR}*{prose(call.this_alert, 140)}*" if call.this_alert and len(call.votes) > 1 else ""
    if cause is None:
        return ((section(line + reason),), (section(line),))
    name = "*ROOT CAUSE (memory)*" if cause.verified else "*ROOT CAUSE (memory; reported, not verified)*"
    lines = [f"{name} {prose(cause.text, size)} ({prose(cause.incident_id, MAX_ID)})" for size in (400, 140)]
    return ((section(f"{line}{reason}\n{lines[0]}"),), (section(f"{line}\n{lines[1]}"),))


def format_boundary(brief: Brief) -> str:
    """Return the boundary with its votes."""
    votes = ", ".join(f"{prose(k, 12)} {n}" for k, n in list(brief.boundary.votes.items())[:4])
    return f"*BOUNDARY* {brief.boundary.value.value}" + (f" ({votes})" if votes else "")


def render_steps(brief: Brief) -> Levels:
    """Return the recommended fix: its record, the warnings, then the steps to copy. Shorter forms hold fewer whole
    steps."""
    best = brief.recommendation
    if best is None:
        return ((section("*RESOLUTION STEPS* nothing in memory is known to have worked"),),)
    source = best.incidents[0] if best.incidents else None
    wholes = brief.steps or (best.fix,)
    return tuple(
        (
            section(_format_steps_heading(best, brief.step_warnings, explained, most)),
            verbatim(format_numbered_steps(wholes, room, source)),
        )
        for room, explained, most in ((1100, 240, 3), (800, 140, 3), (550, 0, 2), (330, 0, 1))
    )


def _format_steps_heading(best: Recommendation, warnings: Sequence[str], explained: int, most: int) -> str:
    last = f"last worked {format_date(best.last_worked)}" if best.last_worked else None
    lines = [f"*RESOLUTION STEPS* {join_parts((best.confidence.value, format_track_record(best), last))}"]
    if explained:
        lines.append(prose(best.explanation, explained))
    lines += [f":warning: {prose(w, 150 if explained else 110)}" for w in warnings[:most]]
    if len(warnings) > most:
        lines.append(f":warning: {len(warnings) - most} more warnings: read the record first")
    return "\n".join(line for line in lines if line)


def format_track_record(rated: Recommendation) -> str:
    """Return a fix's counts in words."""
    tried = rated.successes + rated.partial + rated.failures
    if rated.successes and rated.failures:
        partly = f", {rated.partial} partly" if rated.partial else ""
        return f"mixed results: {rated.successes} success, {rated.failures} failure{partly}"
    if rated.successes:
        return f"worked {rated.successes} of {tried}"
    return "helped partly" if rated.partial else "outcome not recorded"


def format_numbered_steps(all_steps: Sequence[str], room: int, source: str | None) -> str:
    """Return whole steps, numbered, as many as fit (five at most), then where the others are. A first step that does
    not fit alone is cut and says so."""
    where = f"the record of {plain(source, MAX_ID)}" if source else "the record"
    lines: list[str] = []
    for number, step in enumerate(all_steps[:MAX_STEPS], 1):
        line = f"{number}. {plain(step, 4000, exact=True)}"
        if sum(map(len, lines)) + len(line) > room:
            break
        lines.append(line)
    if not lines:
        lines = [f"1. {plain(all_steps[0], room - 60, exact=True)} [cut: read the whole step in {where}]"]
    if len(all_steps) > len(lines):
        lines.append(f"+{len(all_steps) - len(lines)} more in {where}")
    return "\n".join(lines)


def render_runbooks(records: Sequence[RunbookRecord]) -> Levels:
    """Return the named procedures of the precedents, with their record."""
    if not records:
        return ((),)
    lines = [f"• {prose(r.runbook_id, MAX_ID)} {prose(r.title, 60)}: {prose(r.record, 150)}" for r in records[:3]]
    more = [f"+{len(records) - 3} more"] if len(records) > 3 else []
    return ((context("\n".join(["*RUNBOOKS*", *lines, *more])),), ())


def render_skip(checks: Sequence[SkippedCheck]) -> Levels:
    """Return the checks that wasted time in the past, with the minutes that they cost in n outages."""
    if not checks:
        return ((),)
    lines = [f"• {prose(s.check, 90)}: not the cause in {s.count} of {s.of}{format_check_minutes(s)}" for s in checks]
    return (*((section("\n".join(["*SKIP*", *lines[:most]])),) for most in (5, 3, 1)), ())


def format_check_minutes(check: SkippedCheck) -> str:
    """Return what a check cost, as a range; "" where nobody recorded it."""
    low, high = check.minutes_range or (check.minutes_median, check.minutes_median)
    if low is None or high is None:
        return ""
    known = f", n={check.minutes_known}" if check.minutes_known else ""
    return f", {low:.0f} min{known}" if round(low) == round(high) else f", {low:.0f}–{high:.0f} min{known}"


def render_later(checks: Sequence[PostponedCheck]) -> Levels:
    """Return the checks that were the cause in other incidents."""
    if not checks:
        return ((),)
    lines = [f"• {prose(c.check, 90)}: {prose(c.reason, 140)}" for c in checks[:5]]
    return ((section("\n".join(["*LATER*", *lines])),), ())


def format_fix_line(fix: str) -> str:
    """Return a fix of several steps as one line."""
    return "; ".join(split_steps(fix))


def render_did_not_work(fixes: Sequence[FailedFix]) -> Levels:
    """Return the fixes that only failed."""
    if not fixes:
        return ((),)
    forms = []
    for most, size in ((3, 120), (2, 60)):
        lines = [
            f"• {prose(format_fix_line(f.fix), size)} (failed {f.failures}×: {format_ids(f.incidents)})"
            for f in fixes[:most]
        ]
        more = [f"+{len(fixes) - most} more"] if len(fixes) > most else []
        forms.append((section("\n".join(["*DID NOT WORK*", *lines, *more])),))
    return (*forms, ())


def render_alternatives(rated: Sequence[Recommendation]) -> Levels:
    """Return the other fixes, with their records."""
    if not rated:
        return ((),)
    lines = [
        f"• {prose(format_fix_line(r.fix), 120)} ({join_parts((r.confidence.value, format_track_record(r), format_ids(r.incidents)))})"
        for r in rated[:3]
    ]
    more = [f"+{len(rated) - 3} more"] if len(rated) > 3 else []
    return ((section("\n".join(["*ALTERNATIVES*", *lines, *more])),), ())


def render_sources(brief: Brief) -> Levels:
    """Return the past incidents that the brief rests on: with titles, then as ids and dates."""
    if not brief.sources:
        return ((),)
    full = [format_source(s) for s in brief.sources[:4]]
    bare = [f"{link(s.url if len(s.url or '') < 120 else None, s.incident_id, MAX_ID)}" for s in brief.sources[:4]]
    more = [f"+{len(brief.sources) - 4}"] if len(brief.sources) > 4 else []
    last = ", ".join(prose(s.incident_id, MAX_ID) for s in brief.sources[:4])
    return (
        (context("\n".join(["*SOURCES*", *full, *more])),),
        (context("*SOURCES* " + ", ".join([*bare, *more])),),
        (context("*SOURCES* " + ", ".join([last, *more])),),
    )


def format_source(line: SourceLine, *, why: bool = False) -> str:
    """Return one past incident: id with its link, date, title, boundary, and who fixed it (by name, so that nobody is
    paged at night)."""
    by = clean(line.fixed_by or "")
    fixed = f"fixed by {prose(by, 30)}" if by and not (by[:1] in "UW" and by.isupper() and by.isalnum()) else None
    reasons = ", ".join(prose(w, 60) for w in line.why[:3]) if why else None
    head = f"{link(line.url, line.incident_id, MAX_ID)} {format_date(line.date)} {prose(line.title, 80)}"
    return join_parts((head, line.boundary.value, fixed, reasons))


def render_possible(lines: Sequence[SourceLine]) -> Levels:
    """Return incidents that may be related and are not counted."""
    if not lines:
        return ((),)
    shown = ", ".join(f"{link(p.url, p.incident_id, MAX_ID)}{_format_dismissed(p)}" for p in lines[:3])
    more = f" +{len(lines) - 3}" if len(lines) > 3 else ""
    return ((context(f"*Possibly related, not counted:* {shown}{more}"),), ())


def _format_dismissed(line: SourceLine) -> str:
    """Return that a person dismissed this precedent. Who did is in Details, so that nobody is paged at night."""
    text = next((why for why in line.why if why.startswith(SAID)), None)
    return f" ({prose(text, 80)})" if text else ""


def render_insufficient(brief: Brief) -> Levels:
    """Return why memory cannot answer."""
    why = brief.insufficient_memory
    if why is None:
        return ((),)
    text = f"nearest: {prose(why.nearest, 240)}" if why.nearest else prose(why.reason, 240)
    return ((section(f"*INSUFFICIENT_MEMORY* {text}"),),)


def render_collect(brief: Brief) -> Levels:
    """Return what to look at, with the alert's own links."""
    why = brief.insufficient_memory
    wanted = [f"• {prose(c, 100)}" for c in why.collect] if why else []
    links = format_alert_links(brief, why.runbook if why else None)
    if not wanted and not links:
        return ((),)
    last = [join_parts(links)] if links else []
    full, short = ("\n".join(["*COLLECT*", *wanted[:most], *last]) for most in (5, 2))
    return ((section(full),), (section(short),))


def format_alert_links(brief: Brief, runbook: str | None) -> tuple[str, ...]:
    """Return at most three links of the alert: its runbook and dashboards; a runbook without an address by name."""
    named = {"runbook": runbook} if runbook else {}
    named |= {k: v for k, v in brief.alert.links.items() if v not in named.values()}
    first = sorted(named.items(), key=lambda kv: ("runbook" not in kv[0].lower(), "dash" not in kv[0].lower()))
    shown = (link(url, key, 30) if url.lower().startswith("http") else prose(url, 80) for key, url in first)
    return tuple(s for (key, url), s in zip(first, shown, strict=True) if len(url) < 300)[:3]


def render_signs(brief: Brief) -> Levels:
    """Return what the alert itself says, where memory is off."""
    symptoms = (symptom.in_words for symptom in brief.alert.symptoms[:4])
    text = ", ".join(prose(s, 80) for s in symptoms if s) or prose(brief.alert.text, 200)
    return ((section(f"*ALERT* {text}"),), ()) if text else ((),)
