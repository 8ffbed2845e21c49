"""Storms: many incidents that open in one channel at once are told of in one summary, not with a brief each.

Pure decisions of what opened lately. Must not count lives, post, or store anything: every incident keeps its own life,
history and record, in a storm or not.
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
    """Where an incident is told of: in a brief of its own; in a storm's summary, with what memory says of it; in a
    summary that does not even ask memory."""

    OWN = "own"
    JOINS = "joins"
    SUMMARY_ONLY = "summary_only"


@dataclass(frozen=True, slots=True)
class MemoryLead:
    """What memory says of one incident, as a summary may repeat it. `rank` orders leads, the strongest highest;
    `sources` are (incident id, title, link)."""

    verdict: str
    rank: tuple[int, int, float]
    sources: tuple[tuple[str, str, str | None], ...] = ()


@dataclass(frozen=True, slots=True)
class OpenedIncident:
    """An incident that began to be told of in a channel. `at` is when its alert was posted; `number` its place among the
    channel's openings; `storm` the storm it belongs to ("" for none); `has_brief` whether it got a brief of its own;
    `lead` what memory says of it. `goes_on`: it was open before, and fires once more."""

    channel: str
    incident_id: str
    at: datetime
    root_ts: str
    title: str = ""
    service: str | None = None
    vendor: str | None = None
    severity: Severity | None = None
    url: str | None = None
    number: int = 0
    storm: str = ""
    has_brief: bool = False
    lead: MemoryLead | None = None
    goes_on: bool = False


@dataclass(frozen=True, slots=True)
class Storm:
    """A storm in a channel. `scope` is what its incidents share ("service:payments-api", "vendor:razorpay", "any");
    its summary stands in the thread `root_ts`, that of its first alert. `told` is what the summary says now."""

    name: str
    channel: str
    scope: str
    root_ts: str
    started_at: datetime
    first: str
    told: str = ""
    version: int = 0


@dataclass(frozen=True, slots=True)
class PlacementDecision:
    """The decision, and why. `openings` are the incidents that belong to a storm from now on, the new one first; `storm`
    is the storm it belongs to; `seen` how many openings of the channel the decision knew of (None: it asked for none)."""

    place: AnswerPlace
    reason: str
    openings: tuple[OpenedIncident, ...] = ()
    storm: Storm | None = None
    seen: int | None = None

    @property
    def is_told(self) -> bool:
        """Whether the storm's summary tells of the incident already."""
        return self.place is not AnswerPlace.OWN and not self.openings


@dataclass(frozen=True, slots=True)
class StormMember:
    """One incident of a storm, and how it stands."""

    opening: OpenedIncident
    state: IncidentState


@dataclass(frozen=True, slots=True)
class StormSummary:
    """What the one message of a storm says. `affected` are (name, how many); `alerts` are (incident id, title, link) of
    those without a brief of their own, the first ones."""

    scope: str
    count: int
    cleared: int
    briefs: int
    since: datetime
    until: datetime
    over: bool
    affected: tuple[tuple[str, int], ...] = ()
    alerts: tuple[tuple[str, str, str | None], ...] = ()
    lead: MemoryLead | None = None


def list_storm_scopes(opening: OpenedIncident) -> tuple[str, ...]:
    """What an incident may share with others of a storm, the narrowest first."""
    named = (("service", normalize_name(opening.service)), ("vendor", normalize_name(opening.vendor)))
    return (*(f"{what}:{name}" for what, name in named if name), ANYTHING)


def place_incident(
    openings: Sequence[OpenedIncident], new: OpenedIncident, load: LoadShedding = LoadShedding.FULL
) -> PlacementDecision:
    """Where the new incident is told of, given what opened in its channel lately. A critical alert of a service without
    a brief always gets one. A firing of an incident that a storm told of belongs to it while that goes on."""
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
    """The storm that goes on and that the new incident belongs to, the narrowest first."""
    mine = set(list_storm_scopes(new))
    fitting = {o.storm for o in near if o.storm and read_scope(o.storm) in mine}
    if not fitting:
        return None
    name = min(fitting, key=lambda n: (read_scope(n) == ANYTHING, not read_scope(n).startswith("service:"), n))
    return Storm(name, new.channel, read_scope(name), "", new.at, "")


def _find_breakout(near: Sequence[OpenedIncident], new: OpenedIncident) -> Storm | None:
    """The storm that begins with the new incident: as many as can be answered one by one have briefs already."""
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
    """What the incidents of the storm of this name share."""
    return name.split("/", 1)[1].rsplit("/", 1)[0]


def _needs_brief(near: Sequence[OpenedIncident], new: OpenedIncident) -> bool:
    """Whether it is critical and its service (else its vendor) has no brief in this channel yet."""
    scope = list_storm_scopes(new)[0]
    if new.severity is not Severity.CRITICAL or scope == ANYTHING:
        return False
    return not any(o.has_brief and scope in list_storm_scopes(o) for o in near)


def summarize_lead(brief: Brief) -> MemoryLead | None:
    """What a summary may repeat of a brief; None where memory knows nothing."""
    if not brief.sources:
        return None
    found = brief.recommendation
    rank = (_CONFIDENCE.index(found.confidence.value) + 1 if found else 0, found.successes if found else 0)
    sources = tuple((s.incident_id, s.title, s.url) for s in brief.sources[:3])
    return MemoryLead(brief.verdict, (*rank, brief.sources[0].probability), sources)


def build_opening(
    channel: str, root_ts: str, at: datetime, record: Incident, severity: Severity | None
) -> OpenedIncident:
    """The opening of an incident in a channel, as its record tells it."""
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
    """What the storm's message says at this moment; there is at least one member."""
    ordered = sorted(members, key=lambda m: _build_sort_key(m.opening))
    told = [m.opening for m in ordered]
    names = Counter(fit_one_line(o.service or o.vendor or o.title or o.incident_id, 40) for o in told)
    leads = [o.lead for o in told if o.lead]
    others = [o for o in told if not o.has_brief]
    until = max(o.at for o in told)
    return StormSummary(
        storm.scope,
        count=len(told),
        cleared=sum(m.state is not IncidentState.OPEN for m in members),
        briefs=len(told) - len(others),
        since=told[0].at,
        until=until,
        over=is_over(until, now),
        affected=tuple(sorted(names.items(), key=lambda pair: (-pair[1], pair[0]))),
        alerts=tuple((o.incident_id, o.title, o.url) for o in others[:LISTED]),
        lead=max(leads, key=lambda lead: lead.rank, default=None),
    )


def is_over(last: datetime, now: datetime) -> bool:
    """Whether no incident joined for so long that the storm has passed."""
    return now - last > OVER_AFTER


def is_watched(told: StormSummary, now: datetime) -> bool:
    """Whether the message can still change: somebody may join, or clear within a day."""
    return not told.over or (told.cleared < told.count and now - told.until <= WATCHED_FOR)
