"""Third parties are found by label, text and host; tools of monitoring and words inside other words are not."""

from __future__ import annotations

import pytest

from bot.domain.catalog.vendor_table import VENDORS
from bot.domain.catalog.vendors import (
    find_category,
    find_host_vendor,
    find_vendor,
    find_vendor_in_hosts,
    resolve_vendor,
)


@pytest.mark.parametrize(
    ("text", "vendor"),
    [
        ("razorpay: context deadline exceeded", "razorpay"),
        ("RazorpayTimeoutError", "razorpay"),
        ("Payout API errors calling Stripe", "stripe"),
        ("OTP not delivered (MSG91)", "msg91"),
        ("TWILIO down", "twilio"),
        ("支付宝 回调失败", "alipay"),
        ("first PayU then Cashfree", "payu"),
        ("striped shirts", None),
        ("our AWS account", None),
        ("github.com pull request", None),
        ("a wise choice", None),
        ("dashboard at stripe.acme/x", "stripe"),
        ("/opt/stripe/bin", None),
        ("", None),
    ],
)
def test_a_vendor_is_found_in_text(text: str, vendor: str | None) -> None:
    assert find_vendor(text) == vendor


def test_cloud_and_work_tools_count_where_the_text_is_about_a_vendor() -> None:
    assert find_vendor("AWS is degraded", anywhere=True) == "aws"
    assert find_vendor("GitHub Status", anywhere=True) == "github"


def test_names_that_the_records_know_are_found() -> None:
    assert find_vendor("timeouts at HDX Bank", frozenset({"HDX Bank"})) == "hdx bank"
    assert find_vendor("HDX Bank, then Stripe", frozenset({"hdx bank"})) == "hdx bank"
    assert find_vendor("nothing here", frozenset({"HDX Bank"})) is None
    assert find_vendor("nothing here", frozenset({""})) is None


@pytest.mark.parametrize(
    ("label", "name"),
    [("Wise", "wise"), ("TransferWise", "wise"), ("Mercado-Pago", "mercado pago"), ("Paylink  India", "paylink india")],
)
def test_a_label_names_its_vendor(label: str, name: str) -> None:
    assert resolve_vendor(label) == name


@pytest.mark.parametrize(
    ("host", "vendor"),
    [
        ("api.stripe.com", "stripe"),
        ("stripe.com.", "stripe"),
        ("notstripe.com", None),
        ("localhost", None),
        ("a.b.example", None),
    ],
)
def test_a_host_belongs_to_a_vendor_by_its_suffix(host: str, vendor: str | None) -> None:
    assert find_host_vendor(host) == vendor


def test_a_vendor_is_found_by_the_host_that_an_error_names() -> None:
    assert find_vendor_in_hosts("POST https://api.stripe.com/v1/payouts 503") == "stripe"
    assert find_vendor_in_hosts("GET https://internal.acme.example and https://s3.amazonaws.com/x 503") is None
    assert find_vendor_in_hosts("GET https://s3.amazonaws.com/x 503", anywhere=True) == "aws"


def test_categories() -> None:
    assert find_category("Stripe") == "payments"
    assert find_category("nobody") is None


def test_the_table_names_each_vendor_and_each_host_once() -> None:
    names = [v.name for v in VENDORS]
    hosts = [host for v in VENDORS for host in v.hosts]
    assert len(names) == len(set(names))
    assert len(hosts) == len(set(hosts))


def test_monitoring_tools_are_not_in_the_table() -> None:
    tools = {
        "datadog",
        "grafana",
        "sentry",
        "pagerduty",
        "opsgenie",
        "new relic",
        "prometheus",
        "alertmanager",
        "pingdom",
    }
    assert tools.isdisjoint({alias.casefold() for v in VENDORS for alias in (v.name, *v.aliases, *v.words)})


def test_monitoring_products_are_no_vendors() -> None:
    watching = "datadog grafana prometheus pagerduty opsgenie sentry newrelic dynatrace pingdom uptimerobot statuspage splunk zabbix nagios honeycomb rollbar bugsnag"
    assert [name for name in watching.split() if find_vendor(f"{name} says so", anywhere=True)] == []
    assert [name for name in watching.split() if find_host_vendor(f"app.{name}.com")] == []


def test_the_table_is_large_and_names_nothing_twice() -> None:
    claims = {(name.casefold(), v.name) for v in VENDORS for name in (*v.aliases, *v.words, *v.hosts)}
    assert len(VENDORS) > 200
    assert len({name for name, _ in claims}) == len(claims)
