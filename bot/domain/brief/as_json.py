"""The brief as JSON values: the form that the command line prints and the web returns.

Must not decide or shorten anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from bot.domain.alerts.alert import Alert
from bot.domain.brief.decide import Brief, SourceLine
from bot.domain.brief.recommendation import Recommendation
from bot.domain.brief.then_and_now import compare_then_and_now
from bot.domain.evidence.items import Evidence, Unavailable


def format_time(when: datetime | None) -> str | None:
    """A time as ISO 8601 in UTC, to the second: "2026-11-29T21:44:00Z"."""
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if when else None


def build_alert_json(alert: Alert) -> dict[str, Any]:
    """The alert's own facts, as far as a brief needs them."""
    return {
        "tool": alert.tool,
        "state": alert.state.value,
        "title": alert.title,
        "severity": alert.severity.value if alert.severity else None,
        "service": alert.service,
        "environment": alert.environment,
        "region": alert.region,
        "vendor": alert.vendor,
        "fingerprint": alert.fingerprint,
        "links": dict(sorted(alert.links.items())),
    }


def _build_recommendation(found: Recommendation) -> dict[str, Any]:
    return {
        "fix": found.fix,
        "successes": found.successes,
        "partial": found.partial,
        "failures": found.failures,
        "outages": found.outages,
        "confidence": found.confidence.value,
        "explanation": found.explanation,
        "last_worked": format_time(found.last_worked),
        "incidents": list(found.incidents),
    }


def _build_source(line: SourceLine) -> dict[str, Any]:
    return {
        "incident_id": line.incident_id,
        "title": line.title,
        "date": format_time(line.date),
        "boundary": line.boundary.value,
        "tier": line.tier,
        "probability": round(line.probability, 4),
        "why": list(line.why),
        "url": line.url,
    }


def _build_incident(brief: Brief) -> dict[str, Any] | None:
    view = brief.incident
    if view is None:
        return None
    return {
        "incident_id": view.incident_id,
        "state": view.state,
        "fired": view.fired,
        "opened_at": format_time(view.opened_at),
    }


def _build_insufficient(brief: Brief) -> dict[str, Any] | None:
    why = brief.insufficient_memory
    if why is None:
        return None
    return {"reason": why.reason, "nearest": why.nearest, "collect": list(why.collect), "runbook": why.runbook}


def _build_root_cause(brief: Brief) -> dict[str, Any] | None:
    cause = brief.root_cause
    return {"text": cause.text, "verified": cause.verified, "incident_id": cause.incident_id} if cause else None


def _build_skips(brief: Brief) -> list[dict[str, Any]]:
    return [
        {
            "check": skip.check,
            "minutes_median": skip.minutes_median,
            "minutes_range": list(skip.minutes_range) if skip.minutes_range else None,
            "minutes_known": skip.minutes_known,
            "count": skip.count,
            "of": skip.of,
            "incidents": list(skip.incidents),
        }
        for skip in brief.skip
    ]


def _build_evidence(item: Evidence) -> dict[str, Any]:
    about = {"kind": item.kind.value, "signal": item.signal, "what": item.what, "source": item.source}
    if isinstance(item, Unavailable):
        return about | {"state": "unavailable", "reason": item.reason, "pending": item.pending}
    return about | {
        "state": "observed",
        "at": format_time(item.at),
        "value": item.value,
        "unit": item.unit,
        "window": item.window,
        "compared": {compared.label: compared.value for compared in item.compared},
        "text": item.text,
        "count": item.count,
        "first": format_time(item.first),
        "last": format_time(item.last),
        "url": item.url,
        "truncated": item.truncated,
    }


def _build_then_and_now(brief: Brief) -> dict[str, Any]:
    pairs = compare_then_and_now(brief.then, brief.evidence)
    return {"incident_id": brief.then.incident_id if brief.then else None, "signals": [asdict(pair) for pair in pairs]}


def build_brief_json(brief: Brief, shape: Callable[[Alert], Mapping[str, Any]] = build_alert_json) -> dict[str, Any]:
    """The brief's keys in their order; `shape` says how the alert is told. Unknown is None."""
    failed = [{"fix": d.fix, "failures": d.failures, "incidents": list(d.incidents)} for d in brief.did_not_work]
    later = [{"check": x.check, "reason": x.reason, "incidents": list(x.incidents)} for x in brief.later]
    return {
        "verdict": brief.verdict,
        "alert": dict(shape(brief.alert)),
        "incident": _build_incident(brief),
        "memory_mode": brief.memory_mode,
        "insufficient_memory": _build_insufficient(brief),
        "boundary": {
            "value": brief.boundary.value.value,
            "votes": dict(brief.boundary.votes),
            "told_apart_by": brief.boundary.told_apart_by,
            **({"this_alert": brief.boundary.this_alert} if brief.boundary.this_alert else {}),
        },
        "root_cause": _build_root_cause(brief),
        "steps": list(brief.steps),
        "step_warnings": list(brief.step_warnings),
        "recommendation": _build_recommendation(brief.recommendation) if brief.recommendation else None,
        "alternatives": [_build_recommendation(found) for found in brief.alternatives],
        "did_not_work": failed,
        "skip": _build_skips(brief),
        "later": later,
        "evidence": [_build_evidence(item) for item in brief.evidence],
        "contradictions": [asdict(found) for found in brief.contradictions],
        **({"then_and_now": _build_then_and_now(brief)} if brief.then and brief.evidence else {}),
        "sources": [_build_source(line) for line in brief.sources],
        "possible": [_build_source(line) for line in brief.possible],
        "missing": [{"what": m.what, "reason": m.reason, "since": m.since} for m in brief.missing],
    }
