"""Every source of evidence that is asked over HTTP, held to the same promises, against servers that keep and break them."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.evidence.addresses import find_server_problem
from bot.adapters.evidence.http_source import GuardedResolver, HttpSource, clean_text
from bot.adapters.evidence.logs_loki import _read_lines as lines_of
from bot.adapters.evidence.logs_loki import build_query
from bot.adapters.evidence.selectors import Selectors
from bot.adapters.evidence.vendor_status import format_status
from bot.domain.alerts.alert import Alert, AlertState
from bot.domain.evidence.items import Evidence, Observed
from bot.ports.errors import EvidenceUnavailable
from tests.adapters.evidence.servers import ALERT, AT, KEY, SECRET, SOURCES, Says, Source, ago, iso, provider, served
from tests.builders import an_alert

HUGE = b"[" + b" " * (1024 * 1024 + 10) + b"]"
BAD = {
    "wrong type": (Says(b"<html>not found</html>", kind="text/html"), "the answer is text/html"),
    "empty": (Says(b""), "not JSON"),
    "no JSON": (Says(b'{"status": '), "not JSON"),
    "deep": (Says(b"[" * 100_000), "not JSON"),
    "another shape": (Says({"hello": "world"}), "the answer"),
    "huge": (Says(HUGE), "larger than 1 MiB"),
    "redirect": (Says(status=302, headers={"Location": "http://127.0.0.1:9/"}), "HTTP 302: it redirects"),
    "unauthorised": (Says({"message": f"bad key {KEY}"}, status=401), "HTTP 401: the key is missing or wrong"),
    "forbidden": (Says({}, status=403), "HTTP 403: the key may not see this"),
    "rate limit": (Says({}, status=403, headers={"X-RateLimit-Remaining": "0"}), "it asks for fewer questions"),
    "too many": (Says({}, status=429, headers={"Retry-After": "60"}), "HTTP 429: it asks for fewer questions"),
    "not there": (Says({}, status=404), "HTTP 404: not found"),
    "broken": (Says(b"<h1>oops</h1>", status=503, kind="text/html"), "HTTP 503"),
    "told why": (Says({"error": f"parse error\n{KEY} password={SECRET} " + "x" * 500}, status=400), "HTTP 400: parse error [masked:key] password=[masked:secret] x"),
    "told in plain text": (Says(b"parse error at line 1, col 7\n", status=400, kind="text/plain; charset=utf-8"), "HTTP 400: parse error at line 1, col 7"),
    "slow": (Says({}, delay_s=4), "no answer within"),
    "compressed": (Says(gzip.compress(b"{}"), headers={"Content-Encoding": "gzip"}), "compressed"),
}  # fmt: skip


async def asked(
    folder: Path, source: Source, answer: Any, alert: Alert = ALERT
) -> tuple[tuple[Evidence, ...], str, Any]:
    """What it shows, or the reason why it cannot; and the server that was asked."""
    async with served(answer) as (local, url):
        try:
            found = await provider(folder, source.toml.format(url=url)).observe(alert, AT)
        except EvidenceUnavailable as problem:
            return (), str(problem), local
        return tuple(found), "", local


@pytest.mark.parametrize("name", SOURCES)
async def test_what_it_shows_is_masked_and_of_the_service(tmp_path: Path, name: str) -> None:
    source = SOURCES[name]
    found, problem, local = await asked(tmp_path, source, source.good)
    shown = repr(found)
    assert problem == ""
    assert [part for part in source.shows if part not in shown] == []
    assert SECRET not in shown
    assert KEY not in shown
    sent = {request.headers.get("Authorization") for request in local.asked}
    assert sent == ({f"Bearer {KEY}"} if source.keyed else {None})
    assert all(isinstance(one, Observed) for one in found)


@pytest.mark.parametrize("name", SOURCES)
async def test_a_server_that_misbehaves_is_named_and_not_hidden(tmp_path: Path, name: str) -> None:
    source = SOURCES[name]
    # a journal's answer is a list of lines, with tests of their own; a status page has the timeout of the others
    but = {"journald": {"empty", "huge", "deep", "no JSON", "another shape"}, "statuspage": {"slow", "told why"}}
    now = [Says()]
    async with served(lambda _: now[0]) as (local, url):
        one = provider(tmp_path, source.toml.format(url=url))
        for case in BAD.keys() - but.get(name, set()):
            now[0], words = BAD[case]
            local.asked.clear()
            with pytest.raises(EvidenceUnavailable) as told:
                await one.observe(ALERT, AT)
            problem = str(told.value)
            assert words in problem, case
            assert KEY not in problem
            assert SECRET not in problem
            assert len(problem) < 250
            assert len(local.asked) == 1


@pytest.mark.parametrize("name", SOURCES)
async def test_a_server_that_is_not_there(tmp_path: Path, name: str) -> None:
    one = provider(tmp_path, SOURCES[name].toml.format(url="http://127.0.0.1:9"))
    with pytest.raises(EvidenceUnavailable, match="cannot be reached"):
        await one.observe(ALERT, AT)


@pytest.mark.parametrize("name", SOURCES)
async def test_of_an_alert_that_nothing_is_configured_for_nothing_is_asked(tmp_path: Path, name: str) -> None:
    stranger = Alert(
        "x", AlertState.FIRING, "f", labels={"url": "http://127.0.0.1:9"}, links={"source": "http://127.0.0.1:9"}
    )
    found, problem, local = await asked(tmp_path, SOURCES[name], SOURCES[name].good, stranger)
    assert (found, problem, local.asked) == ((), "", [])


async def test_a_service_is_found_by_each_of_its_names_and_no_other(tmp_path: Path) -> None:
    for service, shown in (("CHECKOUT", True), ("checkout_api", True), ("ledger", False)):
        alert = Alert("x", AlertState.FIRING, "f", service=service)
        found, _, _ = await asked(tmp_path, SOURCES["github"], SOURCES["github"].good, alert)
        assert bool(found) is shown


async def test_the_latest_deploys_of_the_hour_and_that_there_was_none(tmp_path: Path) -> None:
    found, _, _ = await asked(tmp_path, SOURCES["github"], SOURCES["github"].good)
    (one,) = found
    assert isinstance(one, Observed)
    assert one.at == ago(minutes=12)
    none, _, _ = await asked(tmp_path, SOURCES["github"], lambda _: Says([]))
    assert [(e.signal, getattr(e, "count", None)) for e in none] == [("deploy_none", 0)]
    many = [
        {"id": n, "ref": f"v{n}", "sha": "", "environment": "", "created_at": iso(ago(minutes=n))} for n in range(1, 11)
    ]
    cut, _, local = await asked(
        tmp_path, SOURCES["github"], lambda path: Says([] if path.endswith("statuses") else many)
    )
    assert [getattr(e, "text", "")[:2] for e in cut] == ["v1", "v2", "v3"]
    assert all(getattr(e, "truncated", False) for e in cut)
    assert len(local.asked) == 4


async def test_a_deployment_whose_state_cannot_be_had_is_still_shown(tmp_path: Path) -> None:
    good = SOURCES["github"].good
    found, _, _ = await asked(
        tmp_path, SOURCES["github"], lambda p: Says({}, status=500) if p.endswith("statuses") else good(p)
    )
    assert "state unknown" in repr(found)


async def test_loki_is_asked_for_the_window_and_nothing_in_a_label_escapes(tmp_path: Path) -> None:
    hostile = Alert("x", AlertState.FIRING, "f", service='a"} |= "x" or {app="\\\n')
    found, _, local = await asked(tmp_path, SOURCES["loki"], lambda _: Says({"status": "success", "data": {"resultType": "streams", "result": []}}), hostile)  # fmt: skip
    query = local.asked[0].query
    assert query["query"].startswith('{app="a\\"} |= \\"x\\" or {app=\\"\\\\ "} |~ "(?i)')
    assert int(query["end"]) - int(query["start"]) == 15 * 60 * 10**9
    assert [(e.signal, getattr(e, "text", "")) for e in found] == [("log_none", "none")]
    assert build_query({"app": ("a.b", "c"), "env": ("prod",)}, "") == '{app=~"a\\\\.b|c", env="prod"}'


async def test_more_lines_than_were_asked_for_are_said_to_be_more(tmp_path: Path) -> None:
    ns = int(ago(seconds=5).timestamp()) * 10**9
    stream = {"stream": {}, "values": [[str(ns), f"error {n}"] for n in range(1000)]}
    answer = {"status": "success", "data": {"resultType": "streams", "result": [stream]}}
    found, _, _ = await asked(tmp_path, SOURCES["loki"], lambda _: Says(answer))
    assert [(getattr(e, "count", 0), getattr(e, "truncated", False)) for e in found] == [(1000, True)]


@pytest.mark.parametrize("entry", [["x", "y"], [], "text", [str(10**40), "y"]])
async def test_lines_of_an_unknown_form_are_named(tmp_path: Path, entry: Any) -> None:
    answer = {"status": "success", "data": {"resultType": "streams", "result": [{"values": [entry]}]}}
    _, problem, _ = await asked(tmp_path, SOURCES["loki"], lambda _: Says(answer))
    assert problem == "the answer holds lines of an unknown form"


async def test_a_journal_says_nothing_or_too_much_or_nonsense(tmp_path: Path) -> None:
    source = SOURCES["journald"]
    none, _, local = await asked(tmp_path, source, lambda _: Says(b""))
    assert [e.signal for e in none] == ["log_none"]
    assert local.asked[0].query.getall("PRIORITY") == ["0", "1", "2", "3"]
    assert local.asked[0].query["_SYSTEMD_UNIT"] == "checkout-api.service"
    assert local.asked[0].headers["Range"] == "entries=:-500:501"
    at = str(int(ago(seconds=9).timestamp() * 10**6))
    line = json.dumps({"__REALTIME_TIMESTAMP": at, "MESSAGE": "failed " + "x" * 3000}).encode() + b"\n"
    much, _, _ = await asked(tmp_path, source, lambda _: Says(line * 500))
    assert getattr(much[0], "truncated", False)
    _, nonsense, _ = await asked(tmp_path, source, lambda _: Says(b'{"a": 1}\nnonsense\n' + b"[" * 50_000))
    assert nonsense == "the answer holds entries of an unknown form"


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ({"status": {"indicator": "none"}}, "operational"),
        ({"status": {"indicator": "none"}, "components": [{"name": "A", "status": "degraded_performance"}]}, "degraded performance: A"),
        ({"status": {"indicator": "none"}, "incidents": [{"name": "Late webhooks", "status": "monitoring"}]}, "operational; open: Late webhooks"),
        ({"status": {"indicator": "minor", "description": "Minor <!channel> Outage"}}, "degraded performance: Minor <!channel> Outage"),
        ({"status": {"indicator": "critical"}, "incidents": [{"name": "x", "status": "resolved"}]}, "major outage"),
        ({"status": {"indicator": "maintenance"}, "components": "none", "incidents": [3]}, "under maintenance"),
    ],
)  # fmt: skip
def test_a_status_page_in_a_few_words(said: Any, text: str) -> None:
    assert format_status(said) == text


@pytest.mark.parametrize(
    "said", [None, [], {}, {"status": "up"}, {"status": {"indicator": 3}}, {"status": {"indicator": "purple"}}]
)
def test_what_is_no_status_page(said: Any) -> None:
    with pytest.raises(EvidenceUnavailable):
        format_status(said)


@pytest.mark.parametrize(
    ("url", "has_key", "problem"),
    [
        ("https://loki.example", True, None),
        ("http://loki:3100/base", True, None),
        ("http://127.0.0.1:3100", True, None),
        ("http://10.1.2.3", True, None),
        ("http://[::1]:3100", True, None),
        ("http://8.8.8.8", False, None),
        ("http://100.80.1.2:3100", True, None),
        ("http://[64:ff9b::808:808]", True, "unencrypted"),
        ("http://[64:ff9b::a9fe:a9fe]", False, "metadata"),
        ("http://[2002:a9fe:a9fe::1]", False, "metadata"),
        ("http://100.100.100.200", False, "metadata"),
        ("http://8.8.8.8", True, "unencrypted"),
        ("http://169.254.169.254", False, "metadata"),
        ("http://[::ffff:169.254.169.254]/", False, "metadata"),
        ("http://[fe80::1]/", False, "metadata"),
        ("http://[fd00:ec2::254]", False, "metadata"),
        ("http://metadata.google.internal/", False, "metadata"),
        ("http://0.0.0.0:80", False, "metadata"),
        ("https://user:pw@loki.example", False, "token_env"),
        ("ftp://loki.example", False, "no address"),
        ("loki:3100", False, "no address"),
        ("http://loki:99999", False, "no address"),
        ("http://", False, "no address"),
        ("http://[::1", False, "no address"),
        ("https://loki.example/?x=1", False, "no ?"),
    ],
)  # fmt: skip
def test_addresses_that_may_be_asked(url: str, has_key: bool, problem: str | None) -> None:
    found = find_server_problem(url, has_key=has_key)
    assert (found is None) if problem is None else (found is not None and problem in found)


async def test_a_name_that_means_a_forbidden_address_is_refused() -> None:
    class Fixed:
        def __init__(self, *hosts: str) -> None:
            self.hosts = hosts

        async def resolve(self, host: str, port: int = 0, family: int = 0) -> Any:
            return [
                {"hostname": host, "host": h, "port": port, "family": 2, "proto": 0, "flags": 0} for h in self.hosts
            ]

        async def close(self) -> None: ...

    async def meant(*hosts: str, private_only: bool = False) -> str:
        resolver = GuardedResolver(private_only, Fixed(*hosts))  # type: ignore[arg-type]  # stands in for aiohttp's own
        try:
            await resolver.resolve("loki.example", 80)
        except EvidenceUnavailable as problem:
            return str(problem)
        return ""

    assert await meant("10.0.0.1", private_only=True) == ""
    assert await meant("93.184.216.34") == ""
    assert "unencrypted" in await meant("93.184.216.34", private_only=True)
    assert "metadata" in await meant("10.0.0.1", "169.254.169.254")
    assert "no known kind" in await meant("what")


async def test_the_guard_stands_in_front_of_the_connection() -> None:
    # the decimal form of 169.254.169.254 is a name for everyone but the system's resolver
    with pytest.raises(EvidenceUnavailable, match=r"metadata|not known|cannot be reached|connection broke"):
        await HttpSource("http://2852039166", timeout_s=2).read_json("/")


async def test_why_a_server_cannot_be_reached() -> None:
    async def why(url: str) -> str:
        with pytest.raises(EvidenceUnavailable) as told:
            await HttpSource(url, "key", timeout_s=5).read_json("/")
        return str(told.value)

    async with served(lambda _: Says({"a": 1})) as (local, url):
        assert await why(url.replace("http:", "https:")) == "cannot be reached (no TLS there: is it http?)"
        assert await why("http://nothing.invalid") == "cannot be reached (its name is not known)"
        assert await why("http://127.0.0.1:9") == "cannot be reached (connection refused)"
        assert local.asked == []
        assert await HttpSource(url.replace("127.0.0.1", "localhost"), "key").read_json("/") == {"a": 1}


async def test_a_key_that_would_break_the_header_is_not_sent() -> None:
    with pytest.raises(EvidenceUnavailable, match="characters that no key has"):
        await HttpSource("http://127.0.0.1:9", "a\r\nX-Evil: 1").read_json("/")


def test_words_of_a_server_are_cleaned() -> None:
    assert clean_text("a\x1b[31mred\x00\u202e b\n\tc") == "ared b c"
    assert len(clean_text("y" * 1000)) == 120


async def test_nothing_is_asked_after_the_hour(tmp_path: Path) -> None:
    source = SOURCES["argocd"]
    async with served(source.good) as (_, url):
        later = await provider(tmp_path, source.toml.format(url=url)).observe(ALERT, AT + timedelta(hours=2))
    assert [e.signal for e in later] == ["deploy_none"]


@pytest.mark.parametrize(
    ("name", "said", "words"),
    [
        ("github", [{"id": 1, "created_at": "some day"}], "a deployment without its time"),
        ("github", ["x"], "no list of deployments"),
        ("argocd", {"status": {"history": [{"revision": "a"}]}}, "a deploy without its time"),
        ("argocd", {"status": {"history": "none"}}, "no application with a status"),
    ],
)
async def test_deploys_of_an_unknown_form_are_named(tmp_path: Path, name: str, said: Any, words: str) -> None:
    _, problem, _ = await asked(tmp_path, SOURCES[name], lambda _: Says(said))
    assert words in problem


async def test_an_application_that_was_never_deployed(tmp_path: Path) -> None:
    found, _, _ = await asked(tmp_path, SOURCES["argocd"], lambda _: Says({"status": {"history": None}}))
    assert [e.signal for e in found] == ["deploy_none"]


async def test_a_journals_texts_in_every_form(tmp_path: Path) -> None:
    at = str(int(ago(seconds=9).timestamp() * 10**6))
    said = [["first", "second failed"], [1, "x"], {"no": "text"}]
    lines = [json.dumps({"__REALTIME_TIMESTAMP": at, "MESSAGE": message}) for message in said]
    found, _, _ = await asked(tmp_path, SOURCES["journald"], lambda _: Says("\n".join(lines).encode()))
    assert sorted(getattr(e, "text", "") for e in found) == ["first second failed", "x"]


async def test_a_label_whose_field_the_alert_lacks_is_left_out(tmp_path: Path) -> None:
    toml = SOURCES["loki"].toml.replace('{{ app = "{{service}}" }}', '{{ app = "{{service}}", region = "{{region}}" }}')
    source = Source(toml, SOURCES["loki"].good, ())
    _, _, local = await asked(tmp_path, source, source.good)
    assert local.asked[0].query["query"].startswith('{app="checkout-api"} |~')


@pytest.mark.parametrize("result", [5, {"a": 1}, [{"values": 7}], [{"values": None}], [3]])
def test_what_loki_lists_is_a_list_or_nothing(result: Any) -> None:
    assert list(lines_of({"status": "success", "data": {"resultType": "streams", "result": result}})) == []


def test_a_pages_component_without_a_readable_state_is_in_operation() -> None:
    odd = {"name": "API", "status": ["down"]}
    said = {"status": {"indicator": "none"}, "components": [odd, {"name": "x"}], "incidents": [odd | {"status": {}}]}
    assert format_status(said) == "operational; open: API"
    group = {"name": "All of Payments", "status": "major_outage", "group": True}
    named = {"name": "Cards", "status": "major_outage"}
    assert format_status({"status": {"indicator": "critical"}, "components": [group, named]}) == "major outage: Cards"


def test_a_service_that_is_called_like_a_field_stays_what_it_is_called() -> None:
    alert = replace(an_alert(), service="{region}", region="eu{service}")
    chosen = Selectors({}, {"app": ("{service}",), "at": ("x-{region}",), "in": ("{namespace}",)}).find(alert)
    assert chosen is not None
    assert chosen.labels == {"app": ("{region}",), "at": ("x-eu{service}",), "in": ("{namespace}",)}
