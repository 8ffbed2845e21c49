"""With whose eyes a brief is decided again, and which incidents it may not know."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from bot.domain.access.visibility import Viewer, list_scopes
from bot.domain.alerts.alert import Alert, AlertState
from bot.domain.brief.decide import decide
from bot.domain.incidents.lifecycle import IncidentState, Lifecycle
from bot.domain.incidents.record import Incident
from bot.domain.recall.query import KnownNames, Query
from bot.domain.recall.ranking import Recalled
from bot.ports.posts import PostedBrief
from bot.workflows.operations.replay import ReplayBriefs
from tests.builders import an_incident
from tests.fakes import START

ALERT = Alert("grafana", AlertState.FIRING, "f", title="Disk is full")


def replaying(asked: list[tuple[Query, Viewer]], records: tuple[Incident, ...] = ()) -> ReplayBriefs:
    async def pool(channel: str) -> tuple[str, ...]:
        return ("C2",) if channel == "C1" else ()

    async def precedents(query: Query, viewer: Viewer) -> Recalled:
        asked.append((query, viewer))
        return Recalled()

    async def kept(*_: Any, **__: Any) -> tuple[Incident, ...]:
        return records

    async def names() -> KnownNames:
        return KnownNames()

    store, channels = SimpleNamespace(list_records=kept), SimpleNamespace(list_pool=pool)
    recall, index = SimpleNamespace(precedents=precedents), SimpleNamespace(list_known_names=names)
    parts: Any = {"store": store, "channels": channels, "recall": recall, "index": index, "rename": lambda alert: alert}
    return ReplayBriefs(**parts)


def posted(incident_id: str = "INC-1") -> PostedBrief:
    return PostedBrief(incident_id, "C1", "1.5", f"brief/{incident_id}/C1", decide(ALERT, Recalled(), (), START))


async def test_a_brief_is_decided_again_with_the_eyes_of_its_channel() -> None:
    for visibility in ("public", "private:C1"):
        asked: list[tuple[Query, Viewer]] = []
        life = Lifecycle("INC-1", "f", visibility, IncidentState.OPEN, START, START)
        _ = [one async for one in replaying(asked)([(life, posted())])]
        assert [viewer for _, viewer in asked] == [Viewer(list_scopes(visibility, ("C2",)))]


async def test_an_incident_is_never_its_own_precedent_even_where_its_record_has_no_dates() -> None:
    asked: list[tuple[Query, Viewer]] = []
    undated = tuple(an_incident(f"INC-{n}", started_at=None, resolved_at=None) for n in (1, 2))
    life = Lifecycle("INC-1", "f", "public", IncidentState.RESOLVED, START, START)
    _ = [one async for one in replaying(asked, undated)([(life, posted())])]
    assert [query.exclude for query, _ in asked] == [{"INC-1"}]
