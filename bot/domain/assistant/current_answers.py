"""Answer questions about this incident alone: evidence, deploys, attempts, and a status update to copy.

These answers need no memory. An impact, a cause or a time that nobody recorded is called unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from bot.domain.assistant.hypothesis import TriedFix
from bot.domain.assistant.intents import Reply
from bot.domain.assistant.thread_attempts import describe_observation
from bot.domain.brief.decide import Brief
from bot.domain.evidence.items import EvidenceKind, Observed, Unavailable, is_deploy, select_observed
from bot.domain.incidents.record import Incident, VerificationStatus
from bot.domain.text.format import fit_one_line, format_count

MOST_ITEMS, SHORT = 5, 120
OUTCOMES: Mapping[VerificationStatus, str] = {
    VerificationStatus.VERIFIED: "worked",
    VerificationStatus.PARTIAL: "helped partly",
    VerificationStatus.FAILED: "did not work",
    VerificationStatus.UNVERIFIED: "outcome not known",
}


@dataclass(frozen=True, slots=True)
class AnswerContext:
    """Everything an answer may use."""

    brief: Brief
    now: datetime
    record: Incident | None = None  # this incident's own
    tried: tuple[TriedFix, ...] = ()  # what was tried in it
    names: Mapping[str, str] = field(default_factory=dict)  # names of the people whose ids the records hold


def explain_over(brief: Brief) -> str | None:
    """Return that the alert no longer fires, as a sentence; None if it still does."""
    life = brief.incident
    if life is None or life.state == "open":
        return None
    at = f" since {life.cleared_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if life.cleared_at else ""
    return f"The alert is {life.state}{at if life.state == 'cleared' else ''}."


def limit_items(items: Sequence[str]) -> tuple[str, ...]:
    """Return the first items of a list, and a line that counts the rest."""
    rest = len(items) - MOST_ITEMS
    return (*items[:MOST_ITEMS], *((f"+{rest} more in Details",) if rest > 0 else ()))


def answer_changed(known: AnswerContext) -> Reply:
    """Say what was deployed around the alert, as far as sources show it."""
    brief = known.brief
    deploys = [i for i in brief.evidence if i.kind is EvidenceKind.DEPLOY]
    shown = tuple(
        fit_one_line(describe_observation(i, brief), 200) for i in deploys if isinstance(i, Observed) and is_deploy(i)
    )
    if shown:
        return Reply((f"{format_count(len(shown), 'deploy')} seen around the alert:",), limit_items(shown))
    blind = [i for i in deploys if isinstance(i, Unavailable)]
    if blind:
        return Reply(
            (
                f"I cannot see deploys: {fit_one_line(blind[0].reason, SHORT)}.",
                "Whether anything changed is unknown to me.",
            )
        )
    if deploys:
        return Reply(
            (
                "The sources show no deploy around the alert.",
                "What they do not see (configuration, flags, the vendor's side) is unknown to me.",
            )
        )
    return Reply(("I see no source of deploys for this alert, so whether anything changed is unknown to me.",))


def answer_tried(known: AnswerContext) -> Reply:
    """Say what was tried in this incident."""
    lines = tuple(f"{fit_one_line(t.fix, SHORT)}: {OUTCOMES[t.status]}" for t in known.tried)
    if not lines:
        return Reply(
            ("Nothing is recorded for this incident, and nobody says in this thread that they tried something.",)
        )
    return Reply(("By the record and this thread, tried in this incident:",), limit_items(lines))


def answer_now(known: AnswerContext) -> Reply:
    """Say what state the alert is in and what sources showed."""
    brief, life = known.brief, known.brief.incident
    state = explain_over(brief) or (
        f"The alert is firing since {life.opened_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC."
        if life
        else "The alert is firing."
    )
    shown = tuple(fit_one_line(describe_observation(i, brief), 200) for i in select_observed(brief.evidence))
    blind = tuple(
        f"{i.what}: unavailable: {fit_one_line(i.reason, SHORT)}" for i in brief.evidence if isinstance(i, Unavailable)
    )
    if not (shown or blind):
        return Reply((state, "No source of metrics, logs or deploys answers for it, so I see nothing more."))
    at = f"Seen at {brief.evidence_at.astimezone(UTC):%H:%M} UTC:" if brief.evidence_at else "Seen:"
    return Reply((state, at), limit_items((*shown, *blind)))


def draft_status_update(known: AnswerContext) -> Reply:
    """Draft an update for others to read."""
    lead = ("A draft to copy; what is unknown is called unknown, and past incidents are not in it.",)
    return Reply(lead, draft="\n".join(_write_draft(known)))


def _write_draft(known: AnswerContext) -> Iterator[str]:
    brief, record, alert, life = known.brief, known.record, known.brief.alert, known.brief.incident
    stands = (
        {"open": "ongoing", "cleared": "the alert cleared, recovery not confirmed"}.get(life.state, life.state)
        if life
        else "ongoing"
    )
    yield f"[{stands}] {alert.service or 'Service unknown'}: {fit_one_line(alert.title or 'alert', SHORT)}"
    yield f"Started: {life.opened_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if life else "Started: unknown"
    yield f"Severity: {alert.severity.value if alert.severity else 'unknown'}"
    impact = record.customer_impact if record else None
    yield (
        f"Customer impact: {fit_one_line(impact, 300)}"
        if impact
        else "Customer impact: unknown (nobody has recorded it)"
    )
    shown = [fit_one_line(describe_observation(i, brief), SHORT) for i in select_observed(brief.evidence)[:3]]
    yield f"Seen: {'; '.join(shown)}" if shown else "Seen: the alert alone"
    cause = record.root_cause if record else None
    yield f"Cause: {fit_one_line(cause, 200)}" if cause else "Cause: unknown, being looked into"
    done = [f"{fit_one_line(t.fix, 80)} ({OUTCOMES[t.status]})" for t in known.tried[:4]]
    yield f"Done so far: {'; '.join(done)}" if done else "Done so far: nothing recorded"
    yield "Expected recovery: unknown"
    yield f"As of {known.now.astimezone(UTC):%Y-%m-%d %H:%M} UTC. Next update: not set"
