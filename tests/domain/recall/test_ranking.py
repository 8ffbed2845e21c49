"""Precedents: identity first, then fields and text; gates; tiers that do not depend on neighbours."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.alerts.alert import Symptom
from bot.domain.incidents.record import Announcement
from bot.domain.recall.query import Query, build_query, build_text_query
from bot.domain.recall.ranking import (
    BANDS,
    HYBRID,
    LEXICAL,
    Calibration,
    Candidate,
    Recalled,
    TextScore,
    Tier,
    choose_tier,
    rank,
)
from bot.domain.recall.similarity import Identity
from tests.builders import an_alert, an_incident, candidate, ids, on_day, tried

QUERY = build_query(an_alert())


def same(incident_id: str = "INC-1", **fields):
    """A record of the same vendor and service with the same error code."""
    usual = {"vendor": "razorpay", "service": "payments-api", "symptoms": ("HTTP 504 on captures",)}
    return an_incident(incident_id, **{**usual, **fields})


def best(query: Query, incident, **score):
    return rank(query, [candidate(incident, **score)], known=1)[0]


IDENTITIES = [
    ("fingerprint", an_incident(alerts=(Announcement(fingerprint="fp-1"),)), Identity.SAME_ALERT),
    (
        "alert name and service",
        an_incident(service="Payments-API", alerts=(Announcement(title="payment gateway error rate high"),)),
        Identity.SAME_NAME,
    ),
    ("title and service", an_incident(service="payments-api", title="PaymentGatewayErrorRateHigh"), Identity.SAME_NAME),
    ("vendor, service and code", same(), Identity.SAME_SIGN),
    ("vendor and code, service unknown", same(service=None), Identity.SAME_SIGN),
    ("vendor and metric name", same(symptoms=("payment_gateway_error_ratio high",)), Identity.SAME_SIGN),
    ("vendor and metric name in words", same(symptoms=("Payment gateway error ratio up",)), Identity.SAME_SIGN),
    ("vendor and code under another spelling", same(symptoms=("GATEWAY_TIMEOUT",)), Identity.SAME_SIGN),
]


@pytest.mark.parametrize(("_name", "incident", "identity"), IDENTITIES, ids=[row[0] for row in IDENTITIES])
def test_identity_is_strong_without_any_text(_name: str, incident, identity: Identity) -> None:
    found = best(QUERY, incident)
    assert found.tier is Tier.STRONG
    assert BANDS[identity].low <= found.probability <= BANDS[identity].high


NO_IDENTITY = [
    ("another fingerprint", an_incident(alerts=(Announcement(fingerprint="fp-2"),))),
    ("same alert name, service unknown", an_incident(title="PaymentGatewayErrorRateHigh")),
    ("same service alone", an_incident(service="payments-api")),
    ("vendor and service, other code", same(symptoms=("HTTP 401",))),
    ("vendor and code at another service", same(service="refunds-api")),
    ("service and code without a vendor", same(vendor=None)),
]


@pytest.mark.parametrize(("_name", "incident"), NO_IDENTITY, ids=[row[0] for row in NO_IDENTITY])
def test_less_than_identity_is_not_strong_without_text(_name: str, incident) -> None:
    assert best(QUERY, incident).tier is not Tier.STRONG


def test_identity_goes_before_any_wording() -> None:
    order = [row[1] for row in (IDENTITIES[0], IDENTITIES[1], IDENTITIES[3])]
    named = [replace(i, incident_id=f"INC-{n}") for n, i in enumerate(order)]
    found = rank(QUERY, [candidate(i, share=0.3 * n) for n, i in enumerate(named)], known=3)
    assert ids(found) == ["INC-0", "INC-1", "INC-2"]


def test_without_fingerprint_or_title_nothing_is_the_same_alert() -> None:
    bare = replace(QUERY, fingerprint=None, title=None)
    assert best(bare, an_incident(alerts=(Announcement(None, title=None),))).tier is Tier.NONE


GATES = [
    ("other vendor", same(vendor="stripe", alerts=(Announcement("fp-1"),)), "other vendor: stripe"),
    (
        "other service, no vendor shared",
        an_incident(service="search", alerts=(Announcement("fp-1"),)),
        "other service: search",
    ),
    ("other environment", same(environment="staging"), "other environment: staging"),
]


@pytest.mark.parametrize(("_name", "incident", "why"), GATES, ids=[row[0] for row in GATES])
def test_gates_allow_possible_at_most(_name: str, incident, why: str) -> None:
    found = best(QUERY, incident, share=1.0, mass=1.5, chars=1.0)
    assert found.tier is Tier.POSSIBLE
    assert why in found.why
    assert found.differs


def test_gates_do_not_hold_for_what_is_unknown_or_spelt_otherwise() -> None:
    assert best(QUERY, same(environment="Production")).tier is Tier.STRONG
    assert best(replace(QUERY, environment=None), same(environment="staging")).tier is Tier.STRONG
    assert best(QUERY, same(service="refunds-api"), share=1.0, mass=1.2, chars=1.0).tier is Tier.STRONG


def test_another_region_is_said_and_still_counts() -> None:
    found = best(QUERY, same(region="eu-west-1"))
    assert found.tier is Tier.STRONG
    assert found.differs == (("region", "eu-west-1"),)
    assert "other region: eu-west-1" in found.why


@pytest.mark.parametrize(("_name", "incident", "identity"), IDENTITIES, ids=[row[0] for row in IDENTITIES])
def test_the_same_thing_elsewhere_goes_after_the_same_thing_here(_name: str, incident, identity: Identity) -> None:
    here, there = replace(incident, incident_id="Z", region="ap-south-1"), replace(incident, region="eu-west-1")
    found = rank(QUERY, [candidate(there), candidate(here)], known=2)
    assert ids(found) == ["Z", incident.incident_id]
    assert [p.tier for p in found] == [Tier.STRONG, Tier.STRONG]


def test_the_order_of_gated_candidates_stays() -> None:
    gated = [
        candidate(same("INC-1", vendor="stripe"), 0.9, 1.2, 0.9),
        candidate(same("INC-2", vendor="stripe"), 1.0, 1.5, 1.0),
    ]
    found = rank(QUERY, gated, known=2)
    assert ids(found) == ["INC-2", "INC-1"]
    assert all(p.probability < 0.5 for p in found)


def test_reasons_are_said_in_plain_words() -> None:
    incident = same(
        region="ap-south-1",
        title="PaymentGatewayErrorRateHigh",
        alerts=(Announcement("fp-1", title="PaymentGatewayErrorRateHigh"),),
    )
    assert best(QUERY, incident, share=0.5).why == (
        "the same alert",
        "same alert name",
        "same vendor razorpay",
        "same service payments-api",
        "both show 504",
        "same region ap-south-1",
        "similar wording",
    )


def test_close_in_meaning_is_similar_wording_too() -> None:
    score = TextScore(0.0, 0.0, 0.0, 0.8)
    assert "similar wording" in rank(QUERY, [Candidate(an_incident(), score)], known=1)[0].why


TEXT = build_text_query("the thing is slow")
# Weights of the tests' own: what is shipped is fitted anew now and then, the rules below hold for any such weights.
WORDS = Calibration(-5.0, 0.5, 2.0, 1.4, 0.0, 5.0)
MEANING = Calibration(-5.0, 1.7, 1.6, 0.0, 2.1, 5.0)


def test_without_fields_text_decides() -> None:
    near, middle, far = (
        candidate(an_incident("near"), 0.8, 1.2, 0.8),
        candidate(an_incident("middle"), 0.35, 0.65, 0.35),
        candidate(an_incident("far"), 0.05, 0.1, 0.05),
    )
    found = rank(TEXT, [far, near, middle], known=3, calibration=WORDS)
    assert ids(found) == ["near", "middle", "far"]
    assert [p.tier for p in found] == [Tier.STRONG, Tier.POSSIBLE, Tier.NONE]


def test_with_cosine_the_model_decides_with_the_words() -> None:
    strong = Candidate(an_incident("a"), TextScore(0.7, 1.0, 0.0, 0.8))
    weak = Candidate(an_incident("b"), TextScore(0.1, 0.2, 0.9, 0.1))
    assert [p.tier for p in rank(TEXT, [weak, strong], known=2, calibration=MEANING)] == [Tier.STRONG, Tier.NONE]


def test_what_is_always_there_counts_less() -> None:
    one = candidate(an_incident("one"), 0.5, 0.6, 0.5)
    crowd = [candidate(an_incident(f"c{n}", title="trouble " + "x" * n), 0.49, 0.6, 0.49) for n in range(40)]
    alone = rank(TEXT, [one], known=1, calibration=WORDS)[0]
    among = next(p for p in rank(TEXT, [one, *crowd], known=41, calibration=WORDS) if p.incident.incident_id == "one")
    assert among.probability < 0.5 * alone.probability


def test_recurrences_of_one_text_are_no_background_to_it() -> None:
    crowd = [candidate(an_incident(f"c{n}", title=f"Disk {n} % full"), 0.5, 0.6, 0.5) for n in range(40)]
    alone = rank(TEXT, crowd[:1], known=1, calibration=WORDS)[0]
    assert {p.probability for p in rank(TEXT, crowd, known=40, calibration=WORDS)} == {alone.probability}


def test_where_the_list_was_cut_off_what_was_left_out_is_background() -> None:
    crowd = [candidate(an_incident(f"c{n:02}", title=f"Disk {n} % full"), 0.5, 0.6, 0.5) for n in range(50)]
    alone = rank(TEXT, crowd[:1], known=1, calibration=WORDS)[0]
    assert rank(TEXT, crowd, known=900, calibration=WORDS)[0].probability < alone.probability


def test_what_has_no_vector_yet_is_judged_by_its_words() -> None:
    fresh = candidate(an_incident("fresh"), 0.5, 0.6, 0.5)
    old = Candidate(an_incident("old", title="other"), TextScore(0.5, 0.6, 0.0, 0.9))
    found = {p.incident.incident_id: p.probability for p in rank(TEXT, [old, fresh], known=2)}
    alone = rank(TEXT, [fresh], known=1)[0]
    assert found["fresh"] == alone.probability
    assert found["old"] == rank(TEXT, [old], known=1)[0].probability


def test_the_calibration_can_be_given() -> None:
    certain = replace(LEXICAL, intercept=9.0)
    assert rank(TEXT, [candidate(an_incident())], known=1, calibration=certain)[0].tier is Tier.STRONG


@pytest.mark.parametrize(("cosine", "weights"), [(None, LEXICAL), (0.3, HYBRID)])
def test_the_calibration_follows_from_whether_there_is_a_model(cosine: float | None, weights: Calibration) -> None:
    candidates = [Candidate(an_incident(), TextScore(0.4, 0.5, 0.6, cosine))]
    assert rank(TEXT, candidates, known=1) == rank(TEXT, candidates, known=1, calibration=weights)


@pytest.mark.parametrize("weights", [LEXICAL, HYBRID])
def test_the_shipped_weights_keep_nothing_from_being_none_and_the_same_text_strong(weights: Calibration) -> None:
    cosine = 1.0 if weights is HYBRID else None
    same_text = Candidate(an_incident("same"), TextScore(1.0, 1.6, 1.0, cosine))
    nothing = Candidate(an_incident("nothing"), TextScore(0.0, 0.0, 0.0, cosine and 0.0))
    assert [p.tier for p in rank(TEXT, [nothing, same_text], known=2)] == [Tier.STRONG, Tier.NONE]


def test_what_is_excluded_does_not_come_back() -> None:
    assert rank(replace(QUERY, exclude=frozenset({"INC-1"})), [candidate(same())], known=1) == ()


def test_ties_verified_first_then_the_more_recent_then_by_id() -> None:
    records = [
        same("INC-1", started_at=on_day(1)),
        same("INC-2"),
        same("INC-3"),
        same("INC-4", started_at=on_day(2)),
        same("INC-5", attempts=(tried("x", "FAILED"), tried("y"))),
    ]
    found = rank(QUERY, [candidate(i) for i in records], known=5)
    assert ids(found) == ["INC-5", "INC-4", "INC-1", "INC-2", "INC-3"]


@settings(max_examples=60, derandomize=True, deadline=None)
@given(
    st.integers(1, 5),
    st.lists(st.floats(0, 1), min_size=5, max_size=5),
    st.lists(st.floats(0, 0.3), max_size=40),
    st.randoms(use_true_random=False),
)
def test_recurrences_keep_equal_tiers_however_many_and_however_worded(k, shares, others, random) -> None:
    again = [candidate(same(f"same-{n}"), shares[n], shares[n], shares[n]) for n in range(k)]
    crowd = [candidate(an_incident(f"x-{n}"), share, share, share) for n, share in enumerate(others)]
    shuffled = [*again, *crowd]
    random.shuffle(shuffled)
    found = rank(QUERY, shuffled, known=len(shuffled))
    assert [p.tier for p in found if p.incident.incident_id.startswith("same")] == [Tier.STRONG] * k
    assert found == rank(QUERY, [*crowd, *again], known=len(shuffled))


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("share", [0.2, 0.3, 0.4, 0.5, 0.6])
def test_by_text_alone_too_the_tier_does_not_depend_on_how_often_it_came(k: int, share: float) -> None:
    crowd = [candidate(an_incident(f"x-{n}"), 0.1, 0.2, 0.1) for n in range(30)]
    again = [candidate(an_incident(f"same-{n}"), share, share * 1.2, share) for n in range(k)]
    found = rank(TEXT, [*again, *crowd], known=30 + k)
    alone = rank(TEXT, [again[0], *crowd], known=31)[0]
    assert {p.tier for p in found if p.incident.incident_id.startswith("same")} == {alone.tier}


def test_tiers_by_probability() -> None:
    assert [choose_tier(p) for p in (0.5, 0.49999, 0.2, 0.19999)] == [
        Tier.STRONG,
        Tier.POSSIBLE,
        Tier.POSSIBLE,
        Tier.NONE,
    ]


def test_recalled_by_tier() -> None:
    found = rank(
        QUERY, [candidate(same()), candidate(same("INC-2", environment="dev")), candidate(an_incident("n"))], known=3
    )
    recalled = Recalled(found, 3)
    assert (ids(recalled.strong), ids(recalled.possible)) == (["INC-1"], ["INC-2"])


def test_a_metric_name_of_no_letters_is_shared_by_nobody() -> None:
    query = build_query(an_alert(symptoms=(Symptom("metric", name="%%%%%"),)))
    assert best(query, same(symptoms=("%%%%%",))).tier is Tier.NONE


@pytest.mark.parametrize(
    ("title", "service", "strong"),
    [
        ("TLS certificate expired on api gateway", None, True),
        ("tls certificate expired on API gateway", "edge", True),
        ("High CPU load", None, False),
        ("InstanceDown", None, False),
    ],
)
def test_a_telling_name_is_enough_where_a_service_is_not_named(title: str, service: str | None, strong: bool) -> None:
    query = Query("x", title=title.upper() if " " in title else title)
    found = best(query, an_incident(title=title, service=service))
    assert (found.tier is Tier.STRONG) is strong
    elsewhere = replace(query, service="other")
    assert service is None or best(elsewhere, an_incident(title=title, service=service)).tier is not Tier.STRONG
