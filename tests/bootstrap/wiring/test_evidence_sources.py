"""Sources of evidence in the configuration file: what is taken, how a slip is told, and how doctor asks each."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.bootstrap.config.file import read_configuration
from bot.bootstrap.wiring.evidence_sources import build_source_providers
from bot.doctor.evidence import ELSE, check_sources, suggest_fix
from bot.doctor.examine import check_configuration
from bot.ports.errors import ConfigurationRejected
from bot.settings import Settings, read_secret
from tests.adapters.evidence.logs_files_support import line, write
from tests.adapters.evidence.servers import AT, SOURCES, Says, provider, served

WHOLE = """
[logs.loki]
kind = "loki"
url = "https://loki.example/base/"
tenant = "team-a"
token_env = "LOKI_TOKEN"
selector = { app = "{service}", env = ["{environment}", "x"] }
filter = '|= "boom"'

[logs.hosts]
kind = "journald"
url = "http://127.0.0.1:19531"
priorities = [0, 1, 2, 3, 4]

[logs.app]
kind = "files"
folder = "/var/log"
links_into = ["/srv/log"]

[deploys.github]
kind = "github"
token_env = "GITHUB_TOKEN"

[deploys.argo]
kind = "argocd"
url = "https://argo.example"

[deploy_posts]
channels = ["C0DEPLOYS"]

[vendors.razorpay]
status_page = "https://status.razorpay.com/"

[vendors.stripe]

[services.checkout-api]
aliases = ["Checkout"]
repository = "acme/checkout"
argocd = "checkout-prod"
logs.loki = { app = "checkout" }
logs.hosts = { _SYSTEMD_UNIT = ["checkout.service", "checkout-worker.service"] }
logs.app = ["checkout/*.jsonl", "checkout/*.jsonl.1"]

[services.ledger]
logs.app = "ledger.jsonl"
"""


def written(folder: Path, text: str) -> Path:
    file = folder / "precedent.toml"
    file.write_text(text)
    return file


def test_each_source_is_made_ready_with_its_key_and_never_shows_it(tmp_path: Path) -> None:
    asked: list[str] = []

    def secret(name: str) -> str:
        asked.append(name)
        return f"value of {name}"

    found = build_source_providers(read_configuration(written(tmp_path, WHOLE)), secret)
    assert [(one.name, one.kind.value) for one in found] == [
        ("loki", "logs"),
        ("hosts", "logs"),
        ("app", "logs"),
        ("github", "deploy"),
        ("argo", "deploy"),
        ("status page", "vendor_status"),
    ]
    assert asked == ["LOKI_TOKEN", "GITHUB_TOKEN"]
    assert "value of" not in repr(found)
    shown = repr(found)
    for part in (
        "https://loki.example/base'",
        "https://api.github.com",
        "'checkout': 'acme/checkout'",
        "'razorpay': HttpSource",
    ):
        assert part in shown
    assert "stripe" not in shown


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[logs.x1]\nkind = 'elastic'", "logs.x1: "),
        ("[logs.x1]\nkind = 'loki'", "logs.x1.url: "),
        ("[logs.x1]\nkind = 'loki'\nurl = 'http://169.254.169.254'", "metadata, which is never asked"),
        ("[logs.x1]\nkind = 'loki'\nurl = 'http://u:p@loki'", "logs.x1.url: http://u:p@loki holds a user or password"),
        ("[logs.x1]\nkind = 'loki'\nurl = 'http://loki'\ntoken = 'abc'", "logs.x1.token: is not known here"),
        ("[logs.x1]\nkind = 'loki'\nurl = 'http://loki'\nselector = {'a b' = 'c'}", "logs.x1.selector"),
        ("[logs.x1]\nkind = 'files'\nfolder = 'var/log'", "logs.x1.folder: must be a whole path"),
        ("[logs.x1]\nkind = 'journald'\nurl = 'http://h'\npriorities = [9]", "logs.x1.priorities.0"),
        ("[services.a1]\nlogs.nope = 'a'", "services.a1.logs.nope: there is no [logs] source of that name"),
        ("[logs.x1]\nkind = 'files'\nfolder = '/v'\n[services.a1]\nlogs.x1 = {app = 'a'}", "takes file patterns"),
        ("[logs.x1]\nkind = 'loki'\nurl = 'http://l'\n[services.a1]\nlogs.x1 = 'a'", "takes a table"),
        ("[logs.x1]\nkind = 'files'\nfolder = '/v'\n[services.a1]\nlogs.x1 = '../x'", "services.a1.logs.x1.0: is a pattern below"),
        ("[logs.x1]\nkind = 'files'\nfolder = '/v'\n[services.a1]\nlogs.x1 = '/etc/passwd'", "is a pattern below"),
        ("[logs.x1]\nkind = 'files'\nfolder = '/v'\n[services.a1]\nlogs.x1 = '**/x'", "may walk a whole disk"),
        ("[services.a1]\nrepository = 'acme'", "services.a1.repository"),
        ("[services.a1]\nrepository = 'acme/../x'", "services.a1.repository"),
        ("[services.a1]\nargocd = '../x'", "services.a1.argocd"),
        ("[vendors.v1]\nstatus_page = 'status.v1.com'", "vendors.v1.status_page: status.v1.com is no address"),
        ("[deploy_posts]\nchannels = ['deploys']", "deploy_posts.channels.0"),
    ],
)  # fmt: skip
def test_a_slip_is_told_with_its_key(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigurationRejected) as told:
        read_configuration(written(tmp_path, text))
    assert said in str(told.value)
    assert "Value error" not in str(told.value)


def test_a_key_that_is_not_there_or_would_go_unencrypted_is_told(tmp_path: Path) -> None:
    loki = '[logs.loki]\nkind = "loki"\nurl = "{}"\ntoken_env = "K"\n'
    with pytest.raises(ConfigurationRejected, match=r"logs\.loki\.token_env: K is not set"):
        provider(tmp_path, loki.format("https://loki.example"), None)
    with pytest.raises(ConfigurationRejected, match=r"logs\.loki\.url: http://8\.8\.8\.8 its key would go unencrypted"):
        provider(tmp_path, loki.format("http://8.8.8.8"))

    def unreadable(_: str) -> str:
        raise PermissionError(13, "Permission denied")

    with pytest.raises(ConfigurationRejected, match="K_FILE: Permission denied"):
        build_source_providers(read_configuration(written(tmp_path, loki.format("https://loki.example"))), unreadable)


def test_where_keys_come_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert read_secret("A_KEY") is None
    (tmp_path / ".env").write_text("A_KEY=from .env\n")
    assert read_secret("A_KEY") == "from .env"
    (tmp_path / "key").write_text("from a file\n")
    monkeypatch.setenv("A_KEY_FILE", str(tmp_path / "key"))
    assert read_secret("A_KEY") == "from a file"
    monkeypatch.setenv("A_KEY", "from the environment")
    assert read_secret("A_KEY") == "from the environment"


async def test_doctor_asks_each_source_and_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("K", "k")
    assert [f.ok for f in await check_sources(check_configuration(Settings(precedent_config=None))[1], AT)] == [None]
    write(tmp_path / "logs/checkout/a.jsonl", line(3, "failed"))
    async with served(lambda path: SOURCES["loki" if "loki" in path else "github"].good(path)) as (local, url):
        text = "".join(SOURCES[name].toml.format(url=url) for name in ("loki", "github", "statuspage"))
        files = f'[logs.app]\nkind = "files"\nfolder = "{tmp_path}/logs"\n[deploy_posts]\nchannels = ["C0D"]\n'
        services = '[services.checkout-api]\nrepository = "acme/checkout"\nlogs.app = "checkout/*"\n[services.ledger]\nlogs.app = "none*"\n'
        settings = Settings(precedent_config=written(tmp_path, text + files + services))
        found = {f.check: f for f in await check_sources(check_configuration(settings)[1], AT)}
        queries = [r.query["query"] for r in local.asked if "loki" in r.path]
    assert sorted(queries) == ['{app="checkout-api"}', '{app="ledger"}']
    assert found["Source loki"].detail == "answers for 2 (checkout-api: 6 lines in 15 min; ledger: 6 lines in 15 min)"
    assert found["Source github"].detail == "answers for 1 (checkout-api: 2 deploys in 60 min)"
    assert (found["Source app"].ok, found["Source app"].detail) == (False, "ledger: no file matches none*")
    assert "below folder" in found["Source app"].fix
    page = found["Source status page"]
    assert (page.ok, page.detail) == (False, "razorpay: the answer is no summary of a status page")
    assert found["Deploy posts"].ok


async def test_doctor_names_what_is_down_and_what_cannot_be_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("K", "k")

    async def told(text: str) -> list[tuple[bool | None, str, str]]:
        settings = Settings(precedent_config=written(tmp_path, text))
        return [(f.ok, f.detail, f.fix) for f in await check_sources(check_configuration(settings)[1], AT)]

    many = "".join(f"[services.s{n}]\n" for n in range(25))
    ((ok, detail, fix),) = await told(SOURCES["loki"].toml.format(url="http://127.0.0.1:9") + many)
    assert (ok, detail.startswith("s0, s1, s2 and 17 more: cannot be reached"), "Start it" in fix) == (
        False,
        True,
        True,
    )
    async with served(SOURCES["journald"].good) as (_, url):
        ((ok, detail, _),) = await told(SOURCES["journald"].toml.format(url=url) + many)
    assert (ok, "5 more not asked" in detail) == (True, True)
    async with served(lambda _: Says({}, status=401)) as (_, url):
        ((ok, _, fix),) = await told(SOURCES["argocd"].toml.format(url=url) + '[services.a1]\nargocd = "a1"\n')
        assert (ok, "token_env" in fix) == (False, True)
        ((ok, detail, _),) = await told(SOURCES["github"].toml.format(url=url) + "[services.a1]\n")
        assert (ok, "nothing in the file says" in detail) == (False, True)
    assert [ok for ok, _, _ in await told("[deploy_posts]\nchannels = ['C0D']\n")] == [None, False]
    assert await told("[oops") == []
    monkeypatch.delenv("K")
    ((ok, detail, _),) = await told(SOURCES["github"].toml.format(url="https://api.github.com"))
    assert (ok, "K is not set" in detail) == (False, True)
    assert suggest_fix("something else") == ELSE
