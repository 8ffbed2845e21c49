"""When incidents are told of together, and what their one message says."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bot.domain.alerts.alert import Alert, AlertState, Severity
from bot.domain.brief.decide import Brief, SourceLine
from bot.domain.brief.recommendation import Confidence, Recommendation
from bot.domain.incidents.lifecycle import IncidentState
from bot.domain.incidents.record import Boundary, Incident, Source
from bot.domain.operations.load import LoadShedding
from bot.domain.operations.storms import (
    ALIKE_MOST,
    ANY_MOST,
    OVER_AFTER,
    AnswerPlace,
    MemoryLead,
    OpenedIncident,
    PlacementDecision,
    Storm,
    StormMember,
    build_opening,
    is_watched,
    list_storm_scopes,
    place_incident,
    read_scope,
    summarize_lead,
    summarize_storm,
)
from tests.builders import an_incident

AT = datetime(2026, 11, 29, 3, 0, tzinfo=UTC)


def opening(number: int, seconds: float = 0, **fields: object) -> OpenedIncident:
    usual = OpenedIncident(
        "C1", f"INC-{number}", AT + timedelta(seconds=seconds), f"{number}.1", f"Alert {number}", "payments-api",
        severity=Severity.HIGH, number=number, url=f"https://slack.example/{number}",
    )  # fmt: skip
    return replace(usual, **fields)  # type: ignore[arg-type]  # a test's shorthand


def told(numbers: range, **fields: object) -> list[OpenedIncident]:
    """So many with a brief each, a second apart."""
    return [opening(n, n, has_brief=True, **fields) for n in numbers]


def placed_in_turn(news: list[OpenedIncident], load: LoadShedding = LoadShedding.FULL) -> list[PlacementDecision]:
    """Place one after the other, as the store would keep them."""
    kept: dict[str, OpenedIncident] = {}
    decisions = []
    for new in news:
        decisions.append(place_incident(list(kept.values()), new, load))
        kept |= {o.incident_id: o for o in decisions[-1].openings}
    return decisions


def test_as_many_of_one_service_as_can_be_answered_have_their_own_brief_and_further_ones_share_a_summary() -> None:
    decisions = placed_in_turn([opening(n, n) for n in range(1, 10)])
    assert [d.place for d in decisions] == [AnswerPlace.OWN] * ALIKE_MOST + [AnswerPlace.JOINS] * 4
    first = decisions[ALIKE_MOST]
    assert first.storm is not None
    assert (first.storm.scope, first.storm.first, first.storm.root_ts) == ("service:payments-api", "INC-1", "1.1")
    assert {d.storm.name for d in decisions[ALIKE_MOST:] if d.storm} == {first.storm.name}
    assert [o.incident_id for o in first.openings] == ["INC-6", "INC-1", "INC-2", "INC-3", "INC-4", "INC-5"]
    assert {o.storm for o in first.openings} == {first.storm.name}
    assert [o.incident_id for o in decisions[-1].openings] == ["INC-9"], "who belongs already is not written again"


def test_other_services_go_on_alone_and_a_shared_vendor_is_enough() -> None:
    kept = told(range(1, 6))
    assert place_incident(kept, opening(9, 9, service="search")).place is AnswerPlace.OWN
    by_vendor = [replace(o, service=f"s{o.number}", vendor="Razorpay") for o in kept]
    joined = place_incident(by_vendor, opening(9, 9, service="search", vendor="razorpay"))
    assert (joined.place, joined.storm and joined.storm.scope) == (AnswerPlace.JOINS, "vendor:razorpay")


def test_slow_openings_are_no_storm() -> None:
    slow = [opening(n, n * 60, has_brief=True) for n in range(1, 12)]
    assert place_incident(slow, opening(20, 12 * 60)).place is AnswerPlace.OWN


def test_anything_at_all_past_the_higher_number() -> None:
    kept = [opening(n, n, has_brief=True, service=f"s{n}") for n in range(1, ANY_MOST + 1)]
    assert place_incident(kept[1:], opening(99, 30, service="new")).place is AnswerPlace.OWN
    joined = place_incident(kept, opening(99, 30, service="new"))
    assert (joined.place, joined.storm and joined.storm.scope) == (AnswerPlace.JOINS, "any")
    nothing_named = place_incident(kept, opening(98, 30, service=None))
    assert nothing_named.place is AnswerPlace.JOINS


def test_a_critical_alert_of_a_service_without_a_brief_gets_one_and_belongs_to_the_storm() -> None:
    kept = [replace(o, service=f"s{o.number}", vendor="Razorpay") for o in told(range(1, 6))]
    new = opening(9, 9, service="checkout", vendor="razorpay", severity=Severity.CRITICAL)
    decision = place_incident(kept, new)
    assert (decision.place, decision.openings[0].has_brief) == (AnswerPlace.OWN, True)
    assert decision.storm is not None
    assert decision.openings[0].storm == decision.storm.name
    after = [*kept, *decision.openings]
    second = place_incident(after, replace(new, incident_id="INC-10"))
    assert second.place is AnswerPlace.JOINS, "its service has a brief now"
    assert place_incident(after, replace(new, incident_id="INC-11", service=None, vendor=None)).place is AnswerPlace.OWN


def test_a_critical_alert_that_names_no_service_joins() -> None:
    kept = [opening(n, n, has_brief=True, service=f"s{n}") for n in range(1, ANY_MOST + 1)]
    assert place_incident(kept, opening(99, 30, service=None, severity=Severity.CRITICAL)).place is AnswerPlace.JOINS


def test_a_storm_goes_on_until_nobody_joins_for_long_enough() -> None:
    storm = "C1/service:payments-api/INC-1"
    last = opening(6, 10, storm=storm)
    late = OVER_AFTER.total_seconds() + 10
    assert place_incident([last], opening(7, late)).place is AnswerPlace.JOINS
    assert place_incident([last], opening(7, late + 1)).place is AnswerPlace.OWN


def test_the_narrowest_storm_is_joined() -> None:
    names = ("C1/any/INC-1", "C1/vendor:razorpay/INC-1", "C1/service:payments-api/INC-1")
    near = [opening(n, n, storm=name) for n, name in enumerate(names)]
    new = opening(9, 9, vendor="Razorpay")
    assert [place_incident(near[:n], new).storm.name for n in (1, 2, 3)] == list(names)  # type: ignore[union-attr]  # each joins


def test_who_is_told_of_stays_told_of_while_it_goes_on() -> None:
    known = opening(6, 10, storm="C1/any/INC-1")
    hours_later = opening(6, 9000)
    assert place_incident([known], replace(known, goes_on=True)).is_told
    assert place_incident([known], replace(hours_later, goes_on=True)).is_told
    assert place_incident([known], hours_later).place is AnswerPlace.OWN, "it had cleared, and fires anew"


def test_where_too_much_waits_only_the_summary_is_written() -> None:
    alone = place_incident([], opening(1), LoadShedding.SUMMARY_ONLY)
    assert (alone.place, alone.storm and alone.storm.first) == (AnswerPlace.SUMMARY_ONLY, "INC-1")
    assert place_incident([], opening(1), LoadShedding.NO_EXTRAS).place is AnswerPlace.OWN
    critical = place_incident([], opening(1, severity=Severity.CRITICAL), LoadShedding.SUMMARY_ONLY)
    assert critical.place is AnswerPlace.OWN
    second = place_incident(list(critical.openings), opening(2, severity=Severity.CRITICAL), LoadShedding.SUMMARY_ONLY)
    assert second.place is AnswerPlace.SUMMARY_ONLY
    assert second.storm is not None
    assert second.storm.name == (critical.storm and critical.storm.name)


def test_the_summary_counts_names_and_repeats_the_strongest_precedent() -> None:
    storm = Storm("C1/any/INC-1", "C1", "any", "1.1", AT, "INC-1")
    weak, strong = MemoryLead("weak", (1, 1, 0.9)), MemoryLead("strong", (3, 2, 0.6), (("INC-77", "Failover", None),))
    openings = [
        opening(1, 0, has_brief=True, lead=weak),
        opening(3, 20, service=None, vendor="Stripe"),
        opening(2, 10, lead=strong),
        opening(4, 30, service=None, title=""),
    ]
    states = (IncidentState.OPEN, IncidentState.CLEARED, IncidentState.RESOLVED, IncidentState.OPEN)
    members = [StormMember(o, s) for o, s in zip(openings, states, strict=True)]
    said = summarize_storm(storm, members, AT + timedelta(minutes=1))
    assert (said.count, said.cleared, said.briefs, said.over, said.lead) == (4, 2, 1, False, strong)
    assert said.affected == (("payments-api", 2), ("INC-4", 1), ("Stripe", 1))
    assert [name for name, _, _ in said.alerts] == ["INC-2", "INC-3", "INC-4"]
    assert (said.since, said.until) == (AT, AT + timedelta(seconds=30))
    assert summarize_storm(storm, members, AT + timedelta(seconds=31) + OVER_AFTER).over
    assert summarize_storm(storm, members[:2], AT).lead == weak
    assert summarize_storm(storm, members[1:2], AT).lead is None


def test_a_summary_is_watched_until_nothing_can_change() -> None:
    storm = Storm("C1/any/INC-1", "C1", "any", "1.1", AT, "INC-1")
    fires, cleared = (StormMember(opening(1), s) for s in (IncidentState.OPEN, IncidentState.CLEARED))
    hour, day = AT + timedelta(hours=1), AT + timedelta(hours=25)
    assert is_watched(summarize_storm(storm, [cleared], AT), AT)
    assert not is_watched(summarize_storm(storm, [cleared], hour), hour)
    assert is_watched(summarize_storm(storm, [fires], hour), hour)
    assert not is_watched(summarize_storm(storm, [fires], day), day)


def test_what_a_summary_repeats_of_a_brief() -> None:
    alert = Alert("grafana", AlertState.FIRING, "fp")
    source = SourceLine("INC-77", "Failover", Boundary.VENDOR, "strong", 0.8, url="https://x.example")
    fix = Recommendation("fail over", 2, 0, 0, 2, Confidence.HIGH, "")
    assert summarize_lead(Brief("nothing known", alert)) is None
    known = summarize_lead(Brief("v", alert, sources=(source,), recommendation=fix))
    assert known == MemoryLead("v", (3, 2, 0.8), (("INC-77", "Failover", "https://x.example"),))
    assert summarize_lead(Brief("v", alert, sources=(source,))) == MemoryLead("v", (0, 0, 0.8), known.sources)


def test_an_opening_is_what_its_record_tells() -> None:
    record = Incident(
        "INC-5", "Gateway errors", "payments-api", "Razorpay", source=Source("slack", "https://s.example")
    )
    made = build_opening("C1", "5.1", AT, record, Severity.CRITICAL)
    assert (made.title, made.severity, made.url) == ("Gateway errors", "critical", "https://s.example")
    assert list_storm_scopes(made) == ("service:payments-api", "vendor:razorpay", "any")


def test_openings_count_up_to_the_very_end_of_the_window() -> None:
    kept = [opening(n, 0, has_brief=True) for n in range(1, ALIKE_MOST + 1)]
    assert place_incident(kept, opening(9, 180)).place is AnswerPlace.JOINS
    assert place_incident(kept, opening(9, 180.1)).place is AnswerPlace.OWN


def test_a_scope_with_a_slash_is_read_whole() -> None:
    kept = told(range(1, 6), service="team/pay")
    storm = place_incident(kept, opening(9, 9, service="team/pay")).storm
    assert storm is not None
    assert (storm.scope, read_scope(storm.name)) == ("service:team/pay", "service:team/pay")


def test_the_title_of_an_opening_is_cut() -> None:
    record = an_incident("INC-9", title="x" * 200)
    assert len(build_opening("C1", "5.1", AT, record, None).title) == 80
