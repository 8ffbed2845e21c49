"""What was seen then, kept by signal and compared with now; quantities as a person reads them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.domain.brief.as_json import build_brief_json
from bot.domain.brief.decide import decide
from bot.domain.brief.then_and_now import (
    MOST_SIGNALS,
    PastSnapshot,
    compare_then_and_now,
    find_past_snapshot,
    take_snapshot,
)
from bot.domain.evidence.items import EvidenceKind, Observed, Unavailable, format_quantity, sort_evidence
from bot.domain.recall.ranking import Recalled
from tests.builders import NOW, an_alert, an_incident, precedents, tried

POOL = Observed(EvidenceKind.METRIC, "pool_in_use", "pool in use", "prometheus", NOW, 98, "%")
ERRORS = Observed(EvidenceKind.METRIC, "error_ratio", "error rate", "prometheus", NOW, 18.2, "%", "5 min")
LOGS = Observed(EvidenceKind.LOGS, "logs", "log lines", "journald", NOW, text="reset by peer", count=9)
GONE = Unavailable(EvidenceKind.METRIC, "p95", "p95 latency", "prometheus", "no data")
PAGE = Observed(
    EvidenceKind.VENDOR_STATUS, "vendor_status", "status page", "statuspage", NOW, text="All\nfine " + "x" * 99
)


def test_what_was_seen_first_is_kept_by_signal() -> None:
    kept = take_snapshot((POOL, ERRORS, LOGS, GONE, PAGE))
    assert {k: kept[k] for k in ("error_ratio", "pool_in_use")} == {"error_ratio": "18.2 %", "pool_in_use": "98 %"}
    assert sorted(kept) == ["error_ratio", "pool_in_use", "vendor_status"]
    assert kept["vendor_status"].startswith("All fine xxx")
    assert len(kept["vendor_status"]) == 80
    assert take_snapshot((replace(POOL, value=3),), {"pool_in_use": "100 %"}) == {"pool_in_use": "100 %"}
    assert take_snapshot((replace(POOL, value=None),)) == {}
    many = [replace(POOL, signal=f"s{n}") for n in range(40)]
    assert len(take_snapshot(many)) == MOST_SIGNALS


def test_then_and_now_of_the_best_precedent_that_knows() -> None:
    bare = an_incident("INC-3", attempts=(tried("a"),))
    known = an_incident("INC-2", evidence={"pool_in_use": "100 %", "stripe share": "0%", "p95": "840 ms"})
    older = an_incident("INC-1", evidence={"pool_in_use": "1 %"})
    found = decide(an_alert(), Recalled(precedents(bare, known, older), 3), (ERRORS, POOL, GONE), NOW)
    assert found.then is not None
    assert (found.then.incident_id, sorted(found.then.values)) == ("INC-2", ["p95", "pool_in_use", "stripe share"])
    assert [(p.what, p.then, p.now) for p in compare_then_and_now(found.then, found.evidence)] == [
        ("pool in use", "100 %", "98 %")
    ]
    told = build_brief_json(found)["then_and_now"]
    assert told["incident_id"] == "INC-2"
    assert told["signals"] == [{"signal": "pool_in_use", "what": "pool in use", "then": "100 %", "now": "98 %"}]
    assert "then_and_now" not in build_brief_json(decide(an_alert(), Recalled(precedents(known), 3), (), NOW))
    assert find_past_snapshot(precedents(bare)) is None
    told = an_incident("INC-4", evidence={"stripe share": "0%"})
    assert [
        t.incident_id
        for t in (find_past_snapshot(precedents(told, known)), find_past_snapshot(precedents(bare, told)))
        if t
    ] == [
        "INC-2",
        "INC-4",
    ]
    assert compare_then_and_now(None, (POOL,)) == ()
    assert compare_then_and_now(PastSnapshot("INC-1", {"pool_in_use": "x"}), (replace(POOL, value=None),)) == ()


def test_order_is_by_kind_then_by_what_one_wants_to_know_first() -> None:
    other = replace(POOL, signal="apples")
    rule = replace(POOL, kind=EvidenceKind.ALERT_RULE, signal="rule:X")
    assert sort_evidence((LOGS, GONE, other, POOL, ERRORS, rule, POOL)) == (rule, ERRORS, POOL, other, LOGS, GONE)


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [
        (18.2, "%", "18.2 %"), (840, "ms", "840 ms"), (0.182, "", "0.182"), (12400.4, "req/s", "12,400 req/s"),
        (100.0, "%", "100 %"), (99.96, "%", "100 %"), (999.96, "", "1000"), (0, "", "0"), (0.00002, "s", "2.00e-05 s"), (-3.14159, "", "-3.14"),
    ],
)  # fmt: skip
def test_quantities(value: float, unit: str, said: str) -> None:
    assert format_quantity(value, unit) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [(1e300, "1.00e+300 %"), (-1e15, "-1.00e+15 %"), (999e12, "999,000,000,000,000 %"), (18.2, "18.2 %"), (0.0, "0 %")],
)
def test_a_huge_number_is_told_as_a_power_of_ten(value: float, said: str) -> None:
    assert format_quantity(value, "%") == said
