"""The seeds are records like any other, complete and consistent."""

from __future__ import annotations

import json
import re

from bot.domain.incidents.record import Boundary, VerificationStatus
from tests.builders import SEEDS, seed_incidents

INCIDENTS = list(seed_incidents().values())
KEYS_TOLD = """
incident_id title service vendor region environment severity symptoms customer_impact started_at resolved_at boundary
root_cause attempts runbooks failed_checks lesson evidence alerts source
"""
KEYS = KEYS_TOLD.split()


def test_there_are_enough_with_ids_of_their_own() -> None:
    assert len(INCIDENTS) >= 24
    assert [i.incident_id for i in INCIDENTS] == [f"INC-{n}" for n in range(1, len(INCIDENTS) + 1)]


def test_every_line_has_every_key_and_unknown_is_null() -> None:
    for line in SEEDS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        assert list(row) == KEYS
        assert '""' not in line


def test_every_incident_tells_what_a_brief_needs() -> None:
    for incident in INCIDENTS:
        assert incident.symptoms, incident.incident_id
        assert incident.attempts, incident.incident_id
        assert incident.failed_checks, incident.incident_id
        assert incident.alerts, incident.incident_id
        times = [incident.started_at, *(a.at for a in incident.attempts), incident.resolved_at]
        known = [t for t in times if t]
        assert len(known) == len(times), incident.incident_id
        assert known == sorted(known), incident.incident_id
        assert all(attempt.by for attempt in incident.attempts)


def test_they_are_told_in_order_over_the_year() -> None:
    starts = [i.started_at for i in INCIDENTS if i.started_at]
    assert starts == sorted(starts)
    assert (starts[0].month, starts[-1].month) == (3, 11)


def test_a_cause_is_stated_exactly_where_somebody_saw_a_fix_work() -> None:
    for incident in INCIDENTS:
        seen = any(a.status is VerificationStatus.VERIFIED for a in incident.attempts)
        assert seen is (incident.root_cause is not None), incident.incident_id


def test_vendor_faults_name_the_vendor_and_all_boundaries_occur() -> None:
    assert {i.boundary for i in INCIDENTS} == set(Boundary)
    assert all(i.vendor for i in INCIDENTS if i.boundary is Boundary.VENDOR)


def test_nothing_looks_like_a_secret_or_a_real_address() -> None:
    text = SEEDS.read_text(encoding="utf-8")
    assert not re.search(r"(?i)password|secret=|token=|xox[bap]-|AKIA|@[a-z]+\.com|\b\d{1,3}(?:\.\d{1,3}){3}\b", text)
