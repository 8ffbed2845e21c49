"""Which wordings are one fix, and which only look alike."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.fixes.identity import build_fix_key, is_same_fix

SAME = [
    ("Restart the cache nodes", "restarted cache nodes."),
    ("Restart the cache nodes", "Cache nodes restarted"),
    ("Restart payments-api", "Rebooted the payments api"),
    ("Rolling restart of payments-api", "restart payments-api"),
    ("Fail over to stripe", "Failed over to Stripe"),
    ("Fail over to stripe", "Failover to stripe!"),
    ("Fail the checkout over to stripe", "failover checkout to stripe"),
    ("Roll back checkout-web to the previous release", "Rolled checkout-web back to the previous release"),
    ("Revert checkout-web to the previous release", "1. Rollback checkout-web to prev release"),
    ("Raise the connection pool from 50 to 100", "increased connection pool from 50 -> 100"),
    ("Lower the batch size to 200", "reduce batch size to 200"),
    ("Enable the flag new-parser", "Turned on the new-parser flag"),
    ("Switch the flag new-filter-parser off", "disabled flag new-filter-parser"),
    ("Raise the cache timeout to 250 ms", "Increase cache timeout to 250ms"),
    ("Set the lifetime to 10 minutes", "set lifetime to 10 min"),
    ("Flush the token cache", "Cleared the token cache"),
    ("Restart the database; watch the error rate", "restart the DB"),
    ("Drain node-7; restart the kubelet", "1. drain node-7\n2. restart kubelet"),
    ("Scale out the workers to 8", "scale up the workers to 8"),
    ("Renew the client cert", "renewed client certificate"),
    ("Open the razorpay circuit breaker", "razorpay breaker opened"),
    ("Raise POOL_MAX to 1,000", "raise pool_max to 1000"),
]
NOT_SAME = [
    ("Raise the connection pool to 100", "Lower the connection pool to 100"),
    ("Increase the timeout", "Decrease the timeout"),
    ("Enable the new parser", "Disable the new parser"),
    ("Turn the flag on", "Turn the flag off"),
    ("Scale up the workers", "Scale down the workers"),
    ("Scale the workers up", "Scale the workers down"),
    ("Restart the cache nodes", "Do not restart the cache nodes"),
    ("Restart the cache nodes", "Don't restart the cache nodes"),
    ("Restart with the cache", "Restart without the cache"),
    ("Raise the pool to 100", "Raise the pool to 200"),
    ("Raise the pool", "Raise the pool to 200"),
    ("Raise the timeout from 50 to 250", "Raise the timeout from 250 to 50"),
    ("Restart the proxy in eu-west-1", "Restart the proxy in us-east-1"),
    ("Restart the proxy", "Restart the proxy in us-east-1"),
    ("Fail over to stripe", "Fail over to adyen"),
    ("Fail over from stripe to adyen", "Fail over from adyen to stripe"),
    ("Restart payments-api", "Restart payments-worker"),
    ("Restart the cache nodes", "Restart the cache proxy"),
    ("Restart the cache", "Flush the cache"),
    ("Start the consumer", "Stop the consumer"),
    ("Restart api; stop worker", "Restart worker; stop api"),
    ("Drain the node, then restart it", "Restart it, then drain the node"),
    ("Restart the api before the worker", "Restart the worker before the api"),
    ("Set POOL_MAX=100", "Set POOL_MIN=100"),
    ("Set POOL_MAX=100", "Set POOL_MAX=200"),
    ("Pin version 2.8", "Pin version 2.9"),
    ("Pin the key", "Unpin the key"),
    ("Add a replica", "Remove a replica"),
    ("Block the address", "Unblock the address"),
    ("Promote the standby", "Demote the standby"),
    ("Restart one pod", "Restart all pods"),
    ("Restart the database", "Restart the database; raise the pool"),
    ("Purge the CDN path /checkout", "Purge the CDN path /cart"),
    ("Wait for 5 minutes", "Wait for 50 minutes"),
    ("Open the breaker", "Close the breaker"),
    ("Bring the link up", "Bring the link down"),
    ("Delete the slot", "Create the slot"),
    ("重启数据库", "重启缓存"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_other_words_for_the_same(one: str, other: str) -> None:
    assert is_same_fix(one, other), (build_fix_key(one), build_fix_key(other))


@pytest.mark.parametrize(("one", "other"), NOT_SAME)
def test_alike_in_words_but_not_the_same(one: str, other: str) -> None:
    assert not is_same_fix(one, other), build_fix_key(one)


def test_no_text_is_no_fix() -> None:
    assert build_fix_key(" ; ") == ()
    assert not is_same_fix("", " ")


def test_a_text_of_nothing_but_fillers_is_only_itself() -> None:
    assert is_same_fix("it was.", "It was")
    assert not is_same_fix("it was", "they did it")


def test_a_person_can_merge_and_split() -> None:
    merged = {"fail over to stripe": "second provider", "use the other provider": "second provider"}
    assert is_same_fix("Fail over to stripe", "Use the other provider", merged)
    assert not is_same_fix("restart cache", "Restart the cache", {"restart cache": "by hand"})


@settings(max_examples=100, derandomize=True, deadline=None)
@given(st.text(max_size=60))
def test_every_text_that_is_one_is_the_same_as_itself_in_capitals_and_numbered(text: str) -> None:
    key = build_fix_key(text)
    assert key == build_fix_key(text)
    if key:
        assert is_same_fix(text, text)
