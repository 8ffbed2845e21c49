"""The recall query: dense text, recognised names, signs."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.access.visibility import Viewer
from bot.domain.alerts.alert import Symptom
from bot.domain.recall.query import OPERATOR, TEXT_LIMIT, KnownNames, build_query, build_text_query
from tests.builders import an_alert

KNOWN = KnownNames(frozenset({"razorpay", "stripe"}), frozenset({"payments-api", "search"}), frozenset({"ap-south-1"}))


def test_the_text_is_vendor_service_region_title_symptoms_and_the_words_of_codes() -> None:
    query = build_query(an_alert())
    assert query.text == (
        "razorpay payments-api ap-south-1 PaymentGatewayErrorRateHigh payment_gateway_error_ratio 504 timeout"
    )
    assert query.error_codes == {"504"}
    assert query.symptom_names == {"payment_gateway_error_ratio"}
    assert (query.fingerprint, query.title) == ("fp-1", "PaymentGatewayErrorRateHigh")
    assert (query.vendor, query.service, query.region) == ("razorpay", "payments-api", "ap-south-1")
    assert query.environment == "prod"


def test_without_a_vendor_the_text_says_internal_and_the_field_stays_unknown() -> None:
    query = build_query(an_alert(vendor=None))
    assert query.text.startswith("internal payments-api")
    assert query.vendor is None


def test_repeated_words_are_kept() -> None:
    query = build_query(an_alert(symptoms=(Symptom("error", text="timeout timeout", code="504"),)))
    assert query.text.split().count("timeout") == 3


def test_values_are_left_out_of_the_text() -> None:
    assert "22%" not in build_query(an_alert()).text


def test_a_post_of_which_only_the_text_could_be_read_is_recalled_by_it() -> None:
    query = build_query(an_alert(title=None, symptoms=(), text="captures fail with HTTP 503\nsince noon"))
    assert "captures fail with HTTP 503 since noon" in query.text
    assert query.error_codes == {"503"}


def test_names_the_records_know_are_recognised_in_the_alerts_text() -> None:
    text = "Captures via RAZORPAY from payments-api fail in ap-south-1."
    alert = an_alert(vendor=None, service=None, region=None, fingerprint="", symptoms=(), title=None, text=text)
    query = build_query(alert, KNOWN, frozenset({"INC-9"}))
    assert (query.vendor, query.service, query.region) == ("razorpay", "payments-api", "ap-south-1")
    assert query.fingerprint is None
    assert query.exclude == {"INC-9"}


def test_names_are_recognised_in_parted_titles_metric_names_and_labels() -> None:
    quiet = {"vendor": None, "service": None, "region": None, "symptoms": ()}
    assert build_query(an_alert(**quiet, title="RazorpayErrorRateHigh"), KNOWN).vendor == "razorpay"
    metric = (Symptom("metric", name="stripe_http_errors"),)
    assert build_query(an_alert(**{**quiet, "symptoms": metric}), KNOWN).vendor == "stripe"
    assert build_query(an_alert(**quiet, labels={"gateway": "stripe"}), KNOWN).vendor == "stripe"


def test_of_two_names_none_is_taken() -> None:
    assert build_text_query("razorpay fails, stripe works", KNOWN).vendor is None


def test_a_name_in_a_host_a_path_or_a_longer_name_is_not_recognised() -> None:
    for text in (
        "see https://razorpay.example/x",
        "api.razorpay.com",
        "razorpay-sim is up",
        "/etc/razorpay",
        "a@stripe",
    ):
        assert build_text_query(text, KNOWN).vendor is None


def test_a_service_called_like_an_ordinary_word_is_not_recognised() -> None:
    assert build_text_query("search is slow", KNOWN).service is None


def test_the_alerts_own_fields_go_before_recognised_names() -> None:
    assert build_query(an_alert(vendor="paytm", text="razorpay"), KNOWN).vendor == "paytm"


def test_words_of_a_person() -> None:
    query = build_text_query(
        "captures hang, HTTP 504, payment_error_ratio", KNOWN, vendor="razorpay", environment="prod"
    )
    assert query.text == "razorpay captures hang, HTTP 504, payment_error_ratio timeout"
    assert (query.vendor, query.service, query.environment, query.title) == (
        "razorpay",
        None,
        "prod",
        "captures hang, HTTP 504, payment_error_ratio",
    )
    assert query.error_codes == {"504"}
    assert query.symptom_names == {"payment_error_ratio"}
    assert "internal" not in query.text
    assert build_text_query("x", service="a", region="b", exclude=frozenset({"c"})).exclude == {"c"}


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.text(max_size=300))
def test_any_text_gives_a_query_of_bounded_length(text: str) -> None:
    assert len(build_text_query(text * 100, KNOWN).text) <= TEXT_LIMIT
    assert len(build_query(an_alert(title=text * 100, text=text), KNOWN).text) <= TEXT_LIMIT


def test_labels_in_another_order_give_the_same_query() -> None:
    one, other = an_alert(labels={"a": "1", "b": "2"}), an_alert(labels={"b": "2", "a": "1"})
    assert repr(build_query(one)) == repr(build_query(other))


def test_who_may_see_what() -> None:
    assert Viewer().may_see("public")
    assert not Viewer().may_see("private:C1")
    assert Viewer(frozenset({"private:C1"})).may_see("private:C1")
    assert OPERATOR.may_see("private:C1")
