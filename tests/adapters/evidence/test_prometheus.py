"""A metrics server over its HTTP API: the alert's own rule, the signals that exist, and every answer that is no number."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from bot.adapters.evidence.http_source import HttpSource
from bot.adapters.evidence.metric_templates import MetricTemplate
from bot.adapters.evidence.prometheus import MetricsServer
from bot.adapters.evidence.prometheus_api import PrometheusApi, _read_pair
from bot.adapters.evidence.selectors import Selectors
from bot.bootstrap.config.file import read_configuration
from bot.bootstrap.wiring.evidence_metrics import build_metrics_servers
from bot.doctor.examine import check_configuration
from bot.doctor.metrics import NOTHING, RULES, check_metrics
from bot.domain.evidence.items import Evidence, EvidenceKind, Observed, Unavailable
from bot.ports.errors import ConfigurationRejected, EvidenceUnavailable
from bot.settings import Settings
from tests.adapters.evidence.prometheus_server import FAULTS, Prom, rule, serving
from tests.builders import NOW, an_alert

ALERT = an_alert(title="PaymentErrorRateHigh", labels={"alertname": "PaymentErrorRateHigh", "service": "payments-api"})
CLASSIC = ("http_requests_total", "http_request_duration_seconds_bucket")
VALUES = {
    "errors:ratio": ("0.182", "0.004", "0.003", "0.191"),
    "http_requests_total": ("0.182", "0.004", "0.003", "0.191"),
}


def source(prom: Prom, **more) -> MetricsServer:
    labels = Selectors(default={"service": ("{service}",)})
    pods = Selectors(default={"container": ("{service}",)})
    return replace(MetricsServer("main", HttpSource(prom.url, timeout_s=2), None, (), labels, pods), **more)


def by_signal(found) -> dict[str, Evidence]:
    return {item.signal: item for item in found}


def compared(item: Evidence) -> dict[str, float]:
    assert isinstance(item, Observed)
    return {c.label: round(c.value, 4) for c in item.compared}


def reason(item: Evidence) -> str:
    assert isinstance(item, Unavailable), item
    return item.reason


async def test_the_alerts_own_rule_with_its_value_then_and_now() -> None:
    async with serving(Prom(metrics=CLASSIC, values=VALUES, rules=[rule()])) as prom:
        found = by_signal(await source(prom).observe(ALERT, NOW))
        own = found["rule:PaymentErrorRateHigh"]
        assert isinstance(own, Observed)
        assert (own.kind, own.value, own.text) == (EvidenceKind.ALERT_RULE, 0.182, "firing since 11:55 UTC")
        assert compared(own) == {"30 min ago": 0.004, "peak": 0.191, "threshold": 0.05, "yesterday": 0.003}
        assert own.url == f"{prom.url}/graph?g0.expr=errors%3Aratio&g0.tab=0"
        errors = found["error_ratio"]
        assert isinstance(errors, Observed)
        assert (round(errors.value or 0, 3), errors.unit, errors.window) == (18.2, "%", "5 min")
        assert compared(errors) == {"30 min ago": 0.4, "peak": 19.1, "yesterday": 0.3}
        assert reason(found["p95"]) == "no data"
        assert list(found) == ["rule:PaymentErrorRateHigh", "error_ratio", "p95", "traffic"]
        assert all(form["timeout"] == "2s" for path, form in prom.asked if "query" in path)
        assert all(
            'service="payments-api"' in form["query"] or form["query"] == "errors:ratio"
            for path, form in prom.asked
            if "query" in path
        )
        assert prom.most_at_once <= 5


async def test_rules_are_matched_by_name_and_labels_and_states_are_told() -> None:
    other = rule(query="other > 1", labels={"service": "web"})
    like = rule(query="errors:ratio < 0.05", labels={"service": "payments-api"}, alerts=None)
    pending = {"labels": {"alertname": "PaymentErrorRateHigh"}, "state": "pending", "activeAt": "yesterday"}
    async with serving(
        Prom(values={"errors:ratio": (({"pod": "a"}, "0.2"), ({"pod": "b"}, "0.01"))}, rules=[rule(), other, like])
    ) as prom:
        prom.alerts = [pending, {"labels": {"alertname": "Other"}, "state": "firing"}]
        (own,) = await source(prom, labels=Selectors()).observe(ALERT, NOW)
        assert isinstance(own, Observed)
        assert (own.value, own.text) == (0.01, "pending, not firing since a time that cannot be read")
        assert compared(own) == {"30 min ago": 0.01, "lowest": 0.01, "threshold": 0.05}
        prom.alerts = None  # as vmalert writes an empty list
        (own,) = await source(prom, labels=Selectors()).observe(ALERT, NOW)
        assert isinstance(own, Observed)
        assert own.text == "not firing now"
        prom.rules = [other]
        (none,) = await source(prom, labels=Selectors()).observe(ALERT, NOW)
        assert reason(none) == "no rule of this name and these labels"
        assert await source(prom, labels=Selectors(), is_only=False).observe(ALERT, NOW) == ()
        nameless = replace(ALERT, labels={}, tool="datadog", title="Errors are high")
        assert await source(prom, labels=Selectors()).observe(nameless, NOW) == ()
        assert await source(prom, labels=Selectors()).observe(replace(nameless, title=None), NOW) == ()


async def test_a_rule_without_a_value_still_says_whether_it_fires() -> None:
    async with serving(Prom(values={"a and b": ("NaN", "1", "1", "1")}, rules=[rule(query="a and b")])) as prom:
        state, value = await source(prom, labels=Selectors()).observe(ALERT, NOW)
        assert isinstance(state, Observed)
        assert (state.value, state.text) == (None, "firing since 11:55 UTC")
        assert reason(value).startswith("not a number (NaN)")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ((), "no data"),
        (("NaN", "1", "1", "1"), "not a number (NaN): nothing was counted in the window, as where there was no request"),
        (("+Inf", "1", "1", "1"), "infinite: it divides by zero"),
    ],
)  # fmt: skip
async def test_what_is_no_number_is_named(values, said: str) -> None:
    async with serving(Prom(metrics=CLASSIC, values={"http_requests_total": values})) as prom:
        assert reason(by_signal(await source(prom).observe(ALERT, NOW))["error_ratio"]) == said


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("422", "HTTP 422: cannot execute: 11 of password=[masked:secret]"),
        ("400", 'HTTP 400: invalid parameter "query"'),
        ("11,000", "HTTP 400: exceeded maximum resolution of 11,000 points per timeseries"),
        ("401", "HTTP 401: the key is missing or wrong"),
        ("404", "HTTP 404: not found"),
        ("503", "HTTP 503"),
        ("redirect", "HTTP 302: it redirects, which is not followed; configure where it leads"),
        ("html", "the answer is text/html, not application/json: is the address right?"),
        ("not json", "the answer is not JSON that can be read"),
        ("too big", "the answer is larger than 1 MiB"),
        ("not prometheus", "the answer is none of a Prometheus: is the address right?"),
        ("said error", "error: query timed out"),
        ("string", "the answer is of type string, not numbers"),
        ("no number", "a value in the answer is not a number"),
        ("too many lines", "more than 1000 lines: let the query say less"),
    ],
)  # fmt: skip
async def test_every_failure_is_named_and_the_other_signals_stand(fault: str, said: str) -> None:
    assert fault in FAULTS
    async with serving(Prom(metrics=CLASSIC, values=VALUES, rules=[rule()], fault=fault, faulty="_bucket{")) as prom:
        found = by_signal(await source(prom).observe(ALERT, NOW))
        assert reason(found["p95"]) == said
        assert isinstance(found["error_ratio"], Observed)
        prom.faulty = "count by (__name__)"
        with pytest.raises(EvidenceUnavailable) as whole:
            await source(prom).observe(ALERT, NOW)
        if fault not in {"no number", "too many lines"}:
            assert str(whole.value) == said


async def test_a_server_that_is_down_or_slow_is_unavailable_as_a_whole() -> None:
    async with serving(Prom(metrics=CLASSIC, slow_s=1)) as prom:
        slow = source(prom, server=HttpSource(prom.url, timeout_s=0.05))
        with pytest.raises(EvidenceUnavailable, match=r"no answer within 0.05 s"):
            await slow.observe(ALERT, NOW)
    with pytest.raises(EvidenceUnavailable, match=r"cannot be reached \(.*connect"):
        await source(prom).observe(ALERT, NOW)
    (own,) = await source(prom, labels=Selectors()).observe(ALERT, NOW)
    assert reason(own).startswith("cannot be reached")


async def test_rules_that_cannot_be_had_do_not_hide_the_signals() -> None:
    async with serving(Prom(metrics=CLASSIC, values=VALUES, fault="404", faulty="rules")) as prom:
        found = by_signal(await source(prom).observe(ALERT, NOW))
        assert reason(found["rule:PaymentErrorRateHigh"]) == "HTTP 404: not found"
        assert isinstance(found["error_ratio"], Observed)
        unknown = by_signal(await source(prom).observe(replace(ALERT, labels={}, tool="datadog"), NOW))
        assert "rule:PaymentErrorRateHigh" not in unknown


async def test_a_partial_answer_says_so_and_the_worst_of_several_lines_is_told() -> None:
    own = {
        "payments api": (MetricTemplate("pool", "pool", "%", "pool{$labels}", scale=100, threshold=90, window=None),)
    }
    lines = (({"instance": "a"}, "0.4"), ({"instance": "b"}, "0.97"), ({"instance": "c"}, "NaN"))
    async with serving(Prom(values={"pool{": lines}, warnings=True)) as prom:
        (item,) = await source(prom, own=own).observe(replace(ALERT, labels={}, tool="x"), NOW)
        assert isinstance(item, Observed)
        assert (item.value, item.text, item.truncated) == (97, "highest of 3", True)
        assert compared(item) == {"30 min ago": 97, "peak": 97, "threshold": 90}


async def test_lines_that_ended_are_no_data_now() -> None:
    class Ended(Prom):
        def _data(self, path, form):
            at = float(form.get("end") or form["time"]) - 600
            return (
                {"resultType": "matrix", "result": [{"metric": {}, "values": [[at, "1"]]}]}
                if path.endswith("range")
                else super()._data(path, form)
            )

    async with serving(Ended(metrics=CLASSIC)) as prom:
        found = by_signal(await source(prom).observe(ALERT, NOW))
        assert reason(found["error_ratio"]) == "no data now, the last was at 11:50:00 UTC"


async def test_an_environment_that_the_server_does_not_know_is_not_looked_up() -> None:
    async with serving(Prom(metrics=CLASSIC, values=VALUES, rules=[rule()])) as prom:
        here = source(prom, environments=("staging", "qa"))
        assert await here.observe(replace(ALERT, environment="prod"), NOW) == ()
        assert await here.observe(replace(ALERT, environment="stg"), NOW)
        assert await source(prom).observe(replace(ALERT, service=None, labels={}, tool="x", title="y"), NOW) == ()


async def test_a_scalar_is_a_value_and_what_an_alert_links_to_is_never_fetched() -> None:
    async with serving(Prom(metrics=CLASSIC, values=VALUES, rules=[rule()])) as prom, serving(Prom()) as hostile:
        links = {"generatorURL": f"{hostile.url}/graph?g0.expr=up", "dashboard": hostile.url}
        await source(prom).observe(replace(ALERT, links=links), NOW)
        assert hostile.asked == []
        prom.fault = "scalar"
        FAULTS_SCALAR = {"status": "success", "data": {"resultType": "scalar", "result": [1, "0.5"]}}

        class Scalar(HttpSource):
            async def read_json(self, path, params=(), form=None):
                await asyncio.sleep(0)
                return FAULTS_SCALAR

        assert (await PrometheusApi(Scalar(prom.url)).query_instant("1", NOW)).points[0].value == 0.5


CONFIG = """
[prometheus.main]
url = "https://prometheus.example/prom"
environments = ["production"]
token_env = "PROM_TOKEN"
[prometheus.edge]
url = "http://10.0.0.8:8428"
rules_url = "http://10.0.0.8:8880"
user = "bot"
password_env = "EDGE_PASSWORD"
selector = { job = ["{service}", "x"] }
[services.payments-api]
aliases = ["Payments"]
metrics.labels = { job = "pay" }
metrics.pods = { namespace = "pay" }
[services.payments-api.metrics.signals.cache_latency]
query = "max(cache_latency_seconds{$labels})"
unit = "ms"
scale = 1000
threshold = 300
"""


def configured(folder: Path, text: str, secrets: dict[str, str] | None = None):
    path = folder / "precedent.toml"
    path.write_text(text)
    return build_metrics_servers(read_configuration(path), (secrets or {}).get)


def test_the_configuration_becomes_servers(tmp_path: Path) -> None:
    main, edge = configured(tmp_path, CONFIG, {"PROM_TOKEN": "t0ken", "EDGE_PASSWORD": "geheim"})
    assert (main.server.key, main.server.scheme, main.environments, main.rules) == (
        "t0ken",
        "Bearer",
        ("production",),
        None,
    )
    assert (edge.server.scheme, edge.server.key) == ("Basic", "Ym90OmdlaGVpbQ==")
    assert edge.rules is not None
    assert not main.is_only
    assert edge.rules.base == "http://10.0.0.8:8880"
    assert main.labels.by_service["payments"] == {"job": ("pay",)}
    assert main.pods.by_service["payments api"] == {"namespace": ("pay",)}
    assert edge.labels.default == {"job": ("{service}", "x")}
    (signal,) = main.own["payments"]
    assert (signal.what, signal.scale, signal.threshold) == ("cache latency", 1000, 300)
    assert "t0ken" not in repr(main)
    assert "geheim" not in repr(edge)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[prometheus]\nurl = "http://h:1"', "prometheus: give the server a name: [prometheus.main]"),
        ('[prometheus.main]\nurl = "ftp://h"', "prometheus.main.url: ftp://h is no address"),
        ('[prometheus.main]\nurl = "http://169.254.169.254"', "metadata, which is never asked"),
        ('[prometheus.main]\nurl = "http://h:1"\nuser = "x"', "prometheus.main: user and password_env go together"),
        ('[prometheus.main]\nurl = "http://h:1"\nuser = "x"\npassword_env = "P"\ntoken_env = "T"', "not both"),
        ('[prometheus.main]\nurl = "https://h:1"\ntoken_env = "T"', "prometheus.main.token_env: T is not set where the bot runs."),
        ('[prometheus.main]\nurl = "http://8.8.8.8"\ntoken_env = "PROM"', "its key would go unencrypted over the internet"),
        ('[services.pay.metrics.signals.X]\nquery = "a"', "services.pay.metrics.signals.X: is no name of a signal"),
        ('[services.pay.metrics]\nlabel = { a = "b" }', "services.pay.metrics.label: is not known here"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_the_configuration_is_told_with_its_key(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigurationRejected) as refused:
        configured(tmp_path, text, {"PROM": "x", "P": "p"})
    assert said in str(refused.value)


def test_a_secrets_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    path = tmp_path / "precedent.toml"
    path.write_text('[prometheus.main]\nurl = "https://h:1"\ntoken_env = "T"')

    def unreadable(_name: str) -> str:
        raise FileNotFoundError(2, "No such file or directory")

    with pytest.raises(ConfigurationRejected, match=r"prometheus\.main\.token_env: T_FILE: No such file"):
        build_metrics_servers(read_configuration(path), unreadable)


async def test_doctor_asks_each_server_for_each_service_and_says_the_fix(tmp_path: Path) -> None:
    path = tmp_path / "precedent.toml"

    async def said(text: str) -> dict[str, tuple[bool | None, str, str]]:
        path.write_text(text)
        found = await check_metrics(check_configuration(Settings(precedent_config=path))[1], NOW)
        return {f.check: (f.ok, f.detail, f.fix) for f in found}

    async with serving(Prom(metrics=("http_requests_total",), values=VALUES | {"vector(1)": ()})) as prom:
        server = f'[prometheus.main]\nurl = "{prom.url}"\n'
        found = await said(f"{server}[services.payments-api]\n")
        assert found["Metrics main"] == (True, f"{prom.url} answers", "")
        assert found["Metrics main payments-api"][:2] == (True, "error_ratio, traffic")
        prom.metrics = ()
        assert (await said(f"{server}[services.payments-api]\n"))["Metrics main payments-api"] == (
            False,
            "no metric of a known name has its labels",
            NOTHING,
        )
        own = "[services.payments-api.metrics.signals.cache]\nquery = 'cache'\n"
        found = await said(server + own)
        assert found["Metrics main payments-api"][1] == "cache: no data"
        prom.fault, prom.faulty = "404", "rules"
        assert (await said(server))["Metrics main rules"][2] == RULES
        prom.fault, prom.faulty = "401", "vector(1)"
        assert (await said(server))["Metrics main"] == (
            False,
            f"{prom.url}: HTTP 401: the key is missing or wrong",
            "Put a key that may read this into the variable that [prometheus.main] token_env (or password_env) names.",
        )
    assert "cannot be reached" in (await said(server))["Metrics main"][1]
    assert (await said('[prometheus.main]\nurl = "https://h:1"\ntoken_env = "NOT_SET"'))["Metrics"][0] is False
    assert (await said(""))["Metrics"][0] is None
    assert await said("[nothing]") == {}
    assert [f.ok for f in await check_metrics(check_configuration(Settings())[1], NOW)] == [None]


async def test_a_rule_fires_since_the_earliest_of_its_times_whatever_zone_they_are_written_in() -> None:
    at: list[dict[str, object]] = [
        {"labels": {}, "state": "firing", "activeAt": when}
        for when in ("2026-11-29T17:12:00.123456789+05:30", "2026-11-29T11:50:00Z")
    ]
    async with serving(Prom(values={"errors:ratio": (0.2, 0.1, 0.1)}, rules=[rule(alerts=at)])) as prom:
        (own,) = await source(prom, labels=Selectors()).observe(ALERT, NOW)
    assert isinstance(own, Observed)
    assert own.text == "firing since 11:42 UTC"


@pytest.mark.parametrize("pair", [[1e300, "1"], [-1, "1"], ["NaN", "1"], [1, 10**400], [1, [2]], 3])
def test_a_pair_that_is_no_time_and_value_is_named(pair: object) -> None:
    with pytest.raises(EvidenceUnavailable, match=r"^a (?:value|time) in the answer is (?:not a number|none)$"):
        _read_pair(pair)


@pytest.mark.parametrize(
    ("set_by_rule", "lines", "said"),
    [
        ({}, (({"service": "web"}, "0.9"),), "no data of this service: its rule has values of others alone"),
        ({}, (({"service": "web"}, "0.9"), ({"service": "payments-api"}, "0.2")), 0.2),
        ({"service": "payments-api"}, (({"service": "web"}, "0.9"),), 0.9),
        ({}, (({"pod": "other"}, "0.9"),), 0.9),
    ],
)
async def test_a_rules_value_is_never_that_of_another_service(
    set_by_rule: dict[str, str], lines: tuple[tuple[dict[str, str], str], ...], said: object
) -> None:
    held = Prom(values={"errors:ratio": lines}, rules=[rule(labels=set_by_rule)])
    async with serving(held) as prom:
        found = await source(prom, labels=Selectors()).observe(
            replace(ALERT, labels={**ALERT.labels, "pod": "x", "service": "payments-api"}), NOW
        )
    last = found[-1]
    assert (last.value if isinstance(last, Observed) else reason(last)) == said
