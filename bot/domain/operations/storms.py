"""Storms: many incidents that open in one channel at once share one summary instead of a brief each.

Pure decisions about recent openings. Every incident keeps its own lifecycle, history and record, in a storm or not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from bot.domain.alerts.alert import Severity
from bot.domain.brief.decide import Brief
from bot.domain.incidents.lifecycle import IncidentState
from bot.domain.incidents.record import Incident
from bot.domain.operations.load import LoadShedding
from bot.domain.text.format import fit_one_line
from bot.domain.text.names import normalize_name

WINDOW = timedelta(minutes=3)
ALIKE_MOST = 5
ANY_MOST = 15
OVER_AFTER = timedelta(minutes=10)
WATCHED_FOR = timedelta(hours=24)
ANYTHING = "any"
LISTED = 8
_CONFIDENCE = ("LOW", "MEDIUM", "HIGH")


class AnswerPlace(StrEnum):
    """Where an incident is answered: in its own brief, in a storm's summary with what memory says, or in a summary
    without asking memory."""

    OWN = "own"
    JOINS = "joins"
    SUMMARY_ONLY = "summary_only"


@dataclass(frozen=True, slots=True)
class MemoryLead:
    """What memory says about one incident, as a summary repeats it."""

    verdict: str
    rank: tuple[int, int, float]  # orders leads; the strongest is highest
    sources: tuple[tuple[str, str, str | None], ...] = ()  # (incident id, title, link)


@dataclass(frozen=True, slots=True)
class OpenedIncident:
    """An incident that opened in a channel."""

    channel: str
    incident_id: str
    at: datetime  # when its alert was posted
    root_ts: str
    title: str = ""
    service: str | None = None
    vendor: str | None = None
    severity: Severity | None = None
    url: str | None = None
    number: int = 0  # its position among the channel's openings
    storm: str = ""  # name of its storm, "" for none
    has_brief: bool = False  # it got its own brief
    lead: MemoryLead | None = None
    goes_on: bool = False  # it was open before, and fires again


@dataclass(frozen=True, slots=True)
class Storm:
    """A storm in a channel."""

    name: str
    channel: str
    scope: str  # what its incidents share ("service:payments-api", "vendor:razorpay", "any")
    root_ts: str  # thread of the summary, that of the first alert
    started_at: datetime
    first: str
    told: str = ""  # what the summary says now
    version: int = 0


@dataclass(frozen=True, slots=True)
class PlacementDecision:
    """The decision with its reason."""

    place: AnswerPlace
    reason: str
    openings: tuple[OpenedIncident, ...] = ()  # incidents that belong to a storm from now on, the new one first
    storm: Storm | None = None  # the storm it belongs to
    seen: int | None = None  # how many openings the decision knew of; None if it needed none

    @property
    def is_told(self) -> bool:
        """Whether the storm's summary mentions the incident already."""
        return self.place is not AnswerPlace.OWN and not self.openings


@dataclass(frozen=True, slots=True)
class StormMember:
    """One incident of a storm, and its state."""

    opening: OpenedIncident
    state: IncidentState


@dataclass(frozen=True, slots=True)
class StormSummary:
    """The contents of a storm's one message."""

    scope: str
    count: int
    cleared: int
    briefs: int
    since: datetime
    until: datetime
    over: bool
    affected: tuple[tuple[str, int], ...] = ()  # (name, how many)
    # (incident id, title, link) of the first ones without their own brief
    alerts: tuple[tuple[str, str, str | None], ...] = ()
    lead: MemoryLead | None = None


def list_storm_scopes(opening: OpenedIncident) -> tuple[str, ...]:
    """Return what an incident may share with others of a storm, narrowest first."""
    named = (("service", normalize_name(opening.service)), ("vendor", normalize_name(opening.vendor)))
    return (*(f"{what}:{name}" for what, name in named if name), ANYTHING)


def place_incident(
    openings: Sequence[OpenedIncident], new: OpenedIncident, load: LoadShedding = LoadShedding.FULL
) -> PlacementDecision:
    """Decide where a new incident is answered, given the recent openings of its channel.

    A critical alert of a service without a brief always gets one. A repeated firing of an incident of a storm stays
    in that storm while it lasts.
    """
    near = [o for o in openings if abs(o.at - new.at) <= OVER_AFTER and o.incident_id != new.incident_id]
    known = next((o for o in openings if o.incident_id == new.incident_id and o.storm), None)
    if known and (new.goes_on or abs(known.at - new.at) <= OVER_AFTER):
        return PlacementDecision(AnswerPlace.JOINS, "the storm's summary tells of it")
    storm = _find_running(near, new) or _find_breakout(near, new) or _begin_under_load(near, new, load)
    if storm is None:
        return PlacementDecision(AnswerPlace.OWN, "few incidents opened lately", (replace(new, has_brief=True),))
    adopted = [replace(o, storm=storm.name) for o in near if not o.storm and o.has_brief and _is_member(o, new, storm)]
    if _needs_brief(near, new):
        own = replace(new, storm=storm.name, has_brief=True)
        return PlacementDecision(AnswerPlace.OWN, "critical, and its service has no brief yet", (own, *adopted), storm)
    is_light = load is LoadShedding.SUMMARY_ONLY
    reason = (
        f"many incidents opened lately ({storm.scope})" if not is_light else "more alerts wait than can be answered"
    )
    where = AnswerPlace.SUMMARY_ONLY if is_light else AnswerPlace.JOINS
    return PlacementDecision(where, reason, (replace(new, storm=storm.name), *adopted), storm)


def _find_running(near: Sequence[OpenedIncident], new: OpenedIncident) -> Storm | None:
    """Return the running storm that the new incident belongs to, narrowest first."""
    mine = set(list_storm_scopes(new))
    fitting = {o.storm for o in near if o.storm and read_scope(o.storm) in mine}
    if not fitting:
        return None
    name = min(fitting, key=lambda n: (read_scope(n) == ANYTHING, not read_scope(n).startswith("service:"), n))
    return Storm(name, new.channel, read_scope(name), "", new.at, "")


def _find_breakout(near: Sequence[OpenedIncident], new: OpenedIncident) -> Storm | None:
    """Return the storm that the new incident starts: as many briefs were posted as can be read one by one."""
    recent = [o for o in near if abs(o.at - new.at) <= WINDOW and o.has_brief]
    for scope in list_storm_scopes(new):
        alike = [o for o in recent if scope in list_storm_scopes(o)]
        if len(alike) >= (ANY_MOST if scope == ANYTHING else ALIKE_MOST):
            return _begin_storm(scope, min(alike, key=_build_sort_key))
    return None


def _begin_under_load(near: Sequence[OpenedIncident], new: OpenedIncident, load: LoadShedding) -> Storm | None:
    if load is not LoadShedding.SUMMARY_ONLY:
        return None
    recent = [o for o in near if abs(o.at - new.at) <= WINDOW and o.has_brief]
    return _begin_storm(ANYTHING, min((*recent, new), key=_build_sort_key))


def _begin_storm(scope: str, first: OpenedIncident) -> Storm:
    name = f"{first.channel}/{scope}/{first.incident_id}"
    return Storm(name, first.channel, scope, first.root_ts, first.at, first.incident_id)


def _is_member(one: OpenedIncident, new: OpenedIncident, storm: Storm) -> bool:
    return abs(one.at - new.at) <= WINDOW and storm.scope in list_storm_scopes(one)


def _build_sort_key(opening: OpenedIncident) -> tuple[datetime, int, str]:
    return opening.at, opening.number, opening.incident_id


def read_scope(name: str) -> str:
    """Return the scope in a storm's name."""
    return name.split("/", 1)[1].rsplit("/", 1)[0]


def _needs_brief(near: Sequence[OpenedIncident], new: OpenedIncident) -> bool:
    """Return whether it is critical and its service (else its vendor) has no brief in this channel yet."""
    scope = list_storm_scopes(new)[0]
    if new.severity is not Severity.CRITICAL or scope == ANYTHING:
        return False
    return not any(o.has_brief and scope in list_storm_scopes(o) for o in near)


def summarize_lead(brief: Brief) -> MemoryLead | None:
    """Return what a summary repeats of a brief; None if memory knows nothing."""
    if not brief.sources:
        return None
    found = brief.recommendation
    rank = (_CONFIDENCE.index(found.confidence.value) + 1 if found else 0, found.successes if found else 0)
    sources = tuple((s.incident_id, s.title, s.url) for s in brief.sources[:3])
    return MemoryLead(brief.verdict, (*rank, brief.sources[0].probability), sources)


def build_opening(
    channel: str, root_ts: str, at: datetime, record: Incident, severity: Severity | None
) -> OpenedIncident:
    """Build the opening of an incident in a channel from its record."""
    return OpenedIncident(
        channel,
        record.incident_id,
        at,
        root_ts,
        fit_one_line(record.title, 80),
        record.service,
        record.vendor,
        severity,
        record.source.url,
    )


def summarize_storm(storm: Storm, members: Sequence[StormMember], now: datetime) -> StormSummary:
    """Build the storm's message as of `now`; there is at least one member."""
    ordered = sorted(members, key=lambda m: _build_sort_key(m.opening))
    openings = [m.opening for m in ordered]
    names = Counter(fit_one_line(o.service or o.vendor or o.title or o.incident_id, 40) for o in openings)
    leads = [o.lead for o in openings if o.lead]
    others = [o for o in openings if not o.has_brief]
    until = max(o.at for o in openings)
    return StormSummary(
        storm.scope,
        count=len(openings),
        cleared=sum(m.state is not IncidentState.OPEN for m in members),
        briefs=len(openings) - len(others),
        since=openings[0].at,
        until=until,
        over=is_over(until, now),
        affected=tuple(sorted(names.items(), key=lambda pair: (-pair[1], pair[0]))),
        alerts=tuple((o.incident_id, o.title, o.url) for o in others[:LISTED]),
        lead=max(leads, key=lambda lead: lead.rank, default=None),
    )


def is_over(last: datetime, now: datetime) -> bool:
    """Return whether no incident joined for so long that the storm has passed."""
    return now - last > OVER_AFTER


def is_watched(summary: StormSummary, now: datetime) -> bool:
    """Return whether the message can still change: an incident may join, or clear within a day."""
    return not summary.over or (summary.cleared < summary.count and now - summary.until <= WATCHED_FOR)
