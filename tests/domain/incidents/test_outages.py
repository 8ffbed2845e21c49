"""Which incidents are one outage."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.incidents.lifecycle import IncidentState, Lifecycle
from bot.domain.incidents.outages import has_shared_name, is_near_in_time, map_outages
from tests.builders import an_incident, on_day

T = on_day(1)


def at(minutes: float) -> datetime:
    return T + timedelta(minutes=minutes)


def inc(
    name: str, start: float | None, end: float | None = None, service: str | None = "api", vendor: str | None = None
):
    return an_incident(
        name,
        service=service,
        vendor=vendor,
        started_at=None if start is None else at(start),
        resolved_at=None if end is None else at(end),
    )


def count(*incidents) -> int:
    return len(set(map_outages(incidents).values()))


@pytest.mark.parametrize(
    ("incidents", "outages"),
    [
        ([], 0),
        ([inc("a", 0, 60)], 1),
        ([inc("a", 0, 60), inc("b", 50, 70)], 1),
        ([inc("a", 0, 60), inc("b", 60, 70)], 1),
        ([inc("a", 0, 60), inc("b", 61, 70)], 2),
        ([inc("a", 0), inc("b", 30)], 1),
        ([inc("a", 0), inc("b", 31)], 2),
        ([inc("a", 0), inc("b", 25), inc("c", 50)], 1),
        ([inc("a", 0, 300), inc("b", 10, 20), inc("c", 200, 210)], 1),
        ([inc("a", 0, 60, service="other"), inc("b", 10, 20)], 2),
        ([inc("a", 0, 60, service="x", vendor="v"), inc("b", 10, 20, vendor="V")], 1),
        ([inc("a", 0, 60, service=None), inc("b", 10, 20, service=None)], 2),
        ([inc("a", None), inc("b", None)], 2),
        ([inc("a", None, 60), inc("b", 50, 70)], 1),
        ([inc("a", 0, -60), inc("b", -50)], 2),
    ],
)
def test_table(incidents, outages: int) -> None:
    assert count(*incidents) == outages
    assert count(*reversed(incidents)) == outages


def test_a_chain_over_service_and_vendor_is_one() -> None:
    chain = [inc("a", 0, 60, service="x"), inc("b", 5, 60, service="x", vendor="v"), inc("c", 8, 60, "y", "v")]
    assert map_outages(chain) == {"a": "a", "b": "a", "c": "a"}


@settings(max_examples=80, derandomize=True, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 300), st.integers(0, 90)), max_size=8), st.randoms(use_true_random=False))
def test_agrees_with_comparing_every_pair_in_any_order(spans, random) -> None:
    incidents = [inc(f"i{n}", start, start + length) for n, (start, length) in enumerate(spans)]
    parent = {i.incident_id: i.incident_id for i in incidents}

    def root(key: str) -> str:
        return key if parent[key] == key else root(parent[key])

    for n, (s1, l1) in enumerate(spans):
        for m, (s2, l2) in enumerate(spans):
            if abs(s1 - s2) <= 30 or (s1 <= s2 + l2 and s2 <= s1 + l1):
                low, high = sorted((root(f"i{n}"), root(f"i{m}")))
                parent[high] = low
    shuffled = incidents[:]
    random.shuffle(shuffled)
    assert map_outages(shuffled) == {key: root(key) for key in parent}


def apart(incident, *others: str):
    return replace(incident, apart_from=others)


@pytest.mark.parametrize(
    ("incidents", "outages"),
    [
        ([apart(inc("a", 0, 60), "b"), inc("b", 10, 20)], 2),
        ([inc("a", 0, 60), apart(inc("b", 10, 20), "a")], 2),
        ([apart(inc("a", 0), "b"), inc("b", 5), inc("c", 10)], 2),
        ([apart(inc("a", 0), "c"), inc("b", 5), inc("c", 10)], 2),
        ([apart(inc("a", 0), "elsewhere"), inc("b", 5)], 1),
        ([apart(inc("a", None), "b"), inc("b", 5)], 2),
        ([apart(inc("a", 0, 60), "b"), inc("b", 300), inc("c", 50)], 2),
        ([apart(inc("a", 0, service="x", vendor="v"), "d"), inc("b", 1, vendor="v"), inc("d", 200)], 2),
        ([apart(inc("a", 0, service="x", vendor="v"), "b"), inc("b", 1, service="x", vendor="v")], 2),
    ],
)
def test_what_a_person_said_is_apart_is_never_counted_as_one(incidents, outages: int) -> None:
    assert count(*incidents) == outages
    assert count(*reversed(incidents)) == outages


def test_what_may_be_one_outage() -> None:
    assert has_shared_name(inc("a", 0), inc("b", 0, service="API"))
    assert has_shared_name(inc("a", 0, service=None, vendor="v"), inc("b", 0, vendor="V"))
    assert not has_shared_name(inc("a", 0, service=None), inc("b", 0, service=None))
    one = Lifecycle("a", "fp", "public", IncidentState.OPEN, at(0), at(0))
    assert is_near_in_time(one, replace(one, incident_id="b", opened_at=at(-30)))
    assert not is_near_in_time(one, replace(one, incident_id="b", opened_at=at(31)))
    assert not is_near_in_time(one, one)
