"""What is seen now against what memory says: each rule where it holds and just where it does not, in any order."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta
from itertools import permutations
from typing import Any

import pytest

from bot.domain.brief.as_json import build_brief_json
from bot.domain.brief.decide import add_evidence, add_lifecycle, decide
from bot.domain.evidence.deploys import Deploy, observe_deploys
from bot.domain.evidence.items import (
    ComparisonValue,
    Evidence,
    EvidenceKind,
    Observed,
    Unavailable,
    has_pending,
    is_vendor_down,
)
from bot.domain.incidents.lifecycle import IncidentState
from bot.domain.incidents.opening import IncidentView
from bot.domain.incidents.record import Boundary, FailedCheck
from bot.domain.recall.ranking import MissingPart, Recalled
from tests.builders import NOW, an_alert, an_incident, on_day, precedents, tried

POOL = "The connection pool was exhausted by slow queries"


def deploy(minutes: float, what: str = "deploy of payments-api") -> Observed:
    return Observed(EvidenceKind.DEPLOY, "deploy", what, "deploys", NOW - timedelta(minutes=minutes), text="v2.4.1")


def page(text: str | None = None) -> Observed:
    return Observed(EvidenceKind.VENDOR_STATUS, "vendor_status", "razorpay status page", "status page", NOW, text=text)


def pool(
    percent: float, peak: float | None = None, signal: str = "pool_in_use", what: str = "DB pool in use"
) -> Observed:
    compared = (ComparisonValue("peak", peak),) if peak is not None else ()
    return Observed(EvidenceKind.METRIC, signal, what, "prometheus", NOW, percent, "%", "5 min", compared)


def brief(*evidence: Evidence, boundary: str = "vendor", count: int = 3, **record: Any):
    usual = {
        "boundary": Boundary(boundary),
        "root_cause": "captures timed out at the vendor",
        "attempts": (tried("Failover to stripe"),),
        "failed_checks": (FailedCheck("DB pool", 10),),
    }
    records = [an_incident(f"INC-{n}", started_at=on_day(n), **{**usual, **record}) for n in range(1, count + 1)]
    return decide(an_alert(), Recalled(precedents(*records), 9), evidence, NOW)


def rules(found) -> list[str]:
    return [c.rule for c in found.contradictions]


def test_a_deploy_before_the_alert_leads_where_memory_says_vendor() -> None:
    found = brief(deploy(12))
    assert found.verdict == (
        "payments-api: deploy 12 min ago, check first. Memory: vendor 3 of 3, Failover to stripe worked 3 of 3 (HIGH)"
    )
    assert rules(found) == ["deploy"]
    assert found.contradictions[0].now == "deploy of payments-api 12 min before the alert"
    assert found.contradictions[0].memory == "vendor, 3 of 3"
    assert (found.skip, [s.check for s in found.withheld]) == ((), ["DB pool"])
    without = brief()
    assert replace(
        found, verdict="", evidence=(), evidence_at=None, contradictions=(), skip=found.withheld, withheld=()
    ) == replace(without, verdict="")


@pytest.mark.parametrize(("minutes", "holds"), [(0, True), (60, True), (60.1, False), (-2, True), (-2.1, False)])
def test_only_a_deploy_of_the_last_hour_counts(minutes: float, holds: bool) -> None:
    assert (rules(brief(deploy(minutes))) == ["deploy"]) is holds
    assert rules(brief(deploy(minutes), boundary="internal")) == []
    assert rules(brief(replace(deploy(minutes), count=0, text="none in 60 min"))) == []


def test_a_green_page_is_a_symptom_and_contradicts_only_beside_a_deploy() -> None:
    assert rules(brief(page("operational"))) == []
    found = brief(page("All Systems Operational"), deploy(50), deploy(12, "deploy of razorpay-proxy"))
    assert (
        found.contradictions[0].now
        == "deploy of razorpay-proxy 12 min before the alert; the vendor's status page shows no trouble"
    )
    assert "no trouble" not in brief(page("partial outage: captures"), deploy(12)).contradictions[0].now


def test_the_vendors_page_is_red_and_memory_says_internal() -> None:
    found = brief(page("Major outage"), boundary="internal")
    assert rules(found) == ["vendor_red"]
    assert found.contradictions[0].now == "razorpay status page: Major outage"
    assert found.verdict.startswith("payments-api: vendor's page reports trouble. Memory: internal 3 of 3, ")
    assert rules(brief(page("Major outage"), page("partial outage"), boundary="internal")) == ["vendor_red"]
    assert rules(brief(page("All Systems Operational"), boundary="internal")) == []
    assert rules(brief(page("Major outage"))) == []


@pytest.mark.parametrize(
    ("record", "seen", "holds"),
    [
        ({"root_cause": POOL}, pool(30), True),
        ({"root_cause": POOL}, pool(59.9, peak=59.9), True),
        ({"root_cause": POOL}, pool(60), False),
        ({"root_cause": POOL}, pool(30, peak=97), False),
        ({"root_cause": POOL}, replace(pool(30), unit=""), False),
        ({"root_cause": POOL}, replace(pool(30), value=None), False),
        ({"root_cause": POOL}, pool(30, signal="cpu"), False),
        ({"root_cause": "Pods ran out of memory"}, pool(20, signal="memory_in_use", what="memory in use"), True),
        ({"root_cause": "The pool was told a wrong host"}, pool(30), False),
        ({"root_cause": "The disk was full and connections were refused"}, pool(30), False),
        ({"root_cause": "Disk full, connections refused"}, pool(30, signal="disk_in_use", what="disk in use"), True),
        ({"root_cause": "Razorpay throttled our requests"}, pool(2, signal="cpu_throttled"), False),
        ({"root_cause": "Pods were throttled"}, pool(2, signal="cpu_throttled", what="CPU throttled"), True),
        ({"root_cause": "The pool was not exhausted; a lock held it up"}, pool(30), False),
        ({"root_cause": "The pool wasn't full. DNS failed"}, pool(30), False),
        ({"root_cause": "Thread pool exhausted"}, pool(30), False),
        ({"root_cause": "Thread pool exhausted"}, pool(30, signal="worker_threads", what="workers"), True),
        ({"root_cause": POOL}, pool(30, signal="thread_pool", what="thread pool"), False),
        ({"root_cause": "Connections and threads of the pool were exhausted"}, pool(30), True),
        ({"root_cause": "Retries overloaded it"}, pool(30), False),
        ({"root_cause": None, "attempts": (tried("Increase the pool to 50"),)}, pool(30), True),
        ({"root_cause": None, "attempts": (tried("Look at the pool"),)}, pool(30), False),
    ],
)  # fmt: skip
def test_memory_says_used_up_and_there_is_plenty(record: dict[str, Any], seen: Observed, holds: bool) -> None:
    found = brief(seen, boundary="internal", **record, failed_checks=())
    assert (rules(found) == ["not_used_up"]) is holds
    if holds:
        assert found.verdict.startswith(f"payments-api: {seen.what} only ")


def test_a_check_to_skip_is_nearly_used_up() -> None:
    found = brief(pool(97.5), pool(20, signal="http_pool"))
    assert found.verdict.startswith("payments-api: DB pool in use 97.5 %, check it. Memory: vendor 3 of 3")
    assert (found.contradictions[0].memory, found.skip) == ("DB pool not the cause in 3 of 3", ())
    assert rules(brief(pool(89.9))) == []
    assert rules(brief(pool(97), failed_checks=(FailedCheck("DNS", 5),))) == []


def test_the_same_bytes_in_any_order() -> None:
    items = (
        deploy(12),
        deploy(12, "deploy of web"),
        page("operational"),
        pool(97),
        pool(97, what="pool b"),
        pool(30, 40),
    )
    first = brief(*items)
    assert len(first.contradictions) == 2
    for order in random.Random(1).sample(list(permutations(items)), 40):
        assert brief(*order, *order[:2]) == first


def test_what_comes_later_takes_a_contradiction_back_and_the_skips_return() -> None:
    before = brief(
        deploy(12),
        Unavailable(EvidenceKind.METRIC, "prometheus", "metrics", "prometheus", "no answer yet", pending=True),
    )
    assert has_pending(before.evidence)
    after = add_evidence(before, (pool(40),), NOW)
    assert (after.contradictions, [s.check for s in after.skip], after.withheld) == ((), ["DB pool"], ())
    assert after.verdict == brief().verdict
    assert add_evidence(after, (), None) == brief()
    assert add_evidence(replace(before, now=None), (deploy(12),), NOW).contradictions == ()


def test_what_is_over_is_led_by_no_contradiction() -> None:
    found = brief(deploy(12))
    for state, leads in (("open", True), ("cleared", True), ("resolved", False), ("dismissed", False)):
        moved = add_lifecycle(found, IncidentView("INC-9", IncidentState(state), 1, NOW))
        assert ("deploy 12 min ago" in moved.verdict) is leads


def test_a_contradicted_mixed_record_says_so_and_long_names_leave_the_record_whole() -> None:
    failed = (tried("Failover to stripe", "FAILED", at=NOW), tried("Failover to the other one in all regions"))
    found = brief(deploy(12), attempts=failed, boundary="vendor", count=2)
    assert "(HIGH)" in found.verdict
    low = brief(deploy(1), count=1, attempts=(tried("x", "FAILED"),))
    assert low.verdict == "payments-api: deploy 1 min ago, check first. Memory: vendor 1 of 1, no fix known to work"
    long = brief(pool(97, what="w" * 90), boundary="unknown", failed_checks=(FailedCheck("pool " * 20, 3),))
    assert len(long.verdict) <= 140
    assert long.verdict.endswith("worked 3 of 3 (HIGH)")
    assert "Memory: 3 similar outages, " in long.verdict


def test_without_memory_evidence_stands_alone() -> None:
    found = decide(an_alert(), Recalled(missing=(MissingPart("memory", "down"),)), (deploy(5),), NOW)
    assert (found.contradictions, len(found.evidence), found.evidence_at) == ((), 1, NOW)
    off = decide(an_alert(), Recalled(), (pool(97),), NOW, memory_mode="off", evidence_at=on_day(28))
    assert (len(off.evidence), off.evidence_at, off.contradictions) == (1, on_day(28), ())


def test_json_holds_all_of_it() -> None:
    cut = Unavailable(EvidenceKind.LOGS, "logs", "logs", "journald", "HTTP 422 too many")
    found = build_brief_json(brief(cut, deploy(12), replace(pool(97), first=NOW, truncated=True), boundary="vendor"))
    kinds = [(e["kind"], e["state"]) for e in found["evidence"]]
    assert kinds == [("metric", "observed"), ("deploy", "observed"), ("logs", "unavailable")]
    assert found["evidence"][0]["value"] == 97
    assert found["evidence"][0]["first"] == "2026-11-29T12:00:00Z"
    assert found["evidence"][2]["reason"] == "HTTP 422 too many"
    assert [c["rule"] for c in found["contradictions"]] == ["deploy", "skip_is_high"]
    assert found["skip"] == []


@pytest.mark.parametrize(
    ("text", "down"),
    [
        ("operational", False), ("All Systems Operational", False), ("operational; open: Slow refunds", None),
        ("degraded performance: API", True), ("Minor Service Outage", True), ("under maintenance", None), (None, None),
    ],
)  # fmt: skip
def test_a_status_page_by_its_words(text: str | None, down: bool | None) -> None:
    assert is_vendor_down(page(text)) is down


def test_once_it_cleared_what_is_in_use_contradicts_nothing() -> None:
    cleared = add_lifecycle(brief(deploy(12), pool(97)), IncidentView("INC-9", IncidentState.CLEARED, 1, NOW))
    assert rules(cleared) == ["deploy", "skip_is_high"]
    assert rules(add_evidence(cleared, (deploy(12), pool(97)), NOW)) == ["deploy"]


def test_a_page_that_tells_neither_is_not_called_green() -> None:
    for text in ("under maintenance", "operational; open: Slow refunds"):
        assert "no trouble" not in brief(page(text), deploy(12)).contradictions[0].now


@pytest.mark.parametrize(("minutes", "shown"), [(-2, True), (-2.1, False), (60, True), (60.1, False)])
def test_a_deploy_that_came_after_the_alert_is_none_of_the_hour_before(minutes: float, shown: bool) -> None:
    told = Deploy("payments-api", NOW - timedelta(minutes=minutes), "v2")
    (found,) = observe_deploys([told], "payments-api", None, "ci", NOW)
    assert (found.count != 0) is shown
