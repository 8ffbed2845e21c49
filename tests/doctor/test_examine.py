"""`doctor` finds each misconfiguration that can be provoked, says the fix in one finding, prints no secret, changes nothing."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NoReturn

import pytest
from pydantic import SecretStr

from bot.bootstrap.system import StoppedClock, SystemClock
from bot.cli.doctor import format_finding, format_summary
from bot.doctor.bank import check_hindsight
from bot.doctor.examine import NEEDED_SCOPES, check_slack, check_token_kinds
from bot.doctor.finding import Finding, mask_secrets
from bot.doctor.model import check_language_model
from bot.doctor.request_url import check_public_url
from bot.doctor.slack import check_clock, check_scopes
from bot.doctor.store import check_second_bot
from bot.ports.errors import ChatAuthRejected
from bot.settings import Settings, find_proxy
from bot.slack.client.app_info import AppIdentity, read_app_id
from tests.bootstrap.installation import CannotBeProvoked, a_minute_passes, bank, installed
from tests.cli.command import Precedent
from tests.command_lines import INLINE, refused
from tests.doctor.provocations import ALL, Act, Provocation, events_come, heard, provoked, unsubscribed, wrong_before
from tests.doctor.real_provocations import PASSWORD, REAL
from tests.hindsight import banks
from tests.ports import free_port

READING = {
    "auth.test", "bots.info", "apps.connections.open", "users.conversations", "conversations.info", "conversations.history",
    "users.info", "usergroups.list",
}  # fmt: skip
PREPARED: dict[Act | None, bool] = {one.prepare: one.is_slow for one in sorted(ALL, key=lambda one: not one.is_slow)}


def marked(is_slow: bool) -> tuple[pytest.MarkDecorator, ...]:  # a private shorthand
    return (pytest.mark.integration,) if is_slow else ()


def found_in(one: Provocation, found: Sequence[Finding], secrets: Sequence[str]) -> None:
    """The one cause is told once, with its fix, and with nothing that is secret."""
    wrong = [finding for finding in found if finding.ok is False]
    assert tuple(finding.check for finding in wrong) == one.checks
    assert one.says in wrong[0].detail
    assert one.fix in wrong[0].fix
    assert all(finding.fix for finding in wrong)
    printed = "\n".join(format_finding(finding) for finding in found)
    assert [secret for secret in secrets if secret and secret in printed] == []
    assert "itself failed" not in printed
    assert [said for said in INLINE.findall(printed) if refused(said, partly=True)] == []


@pytest.mark.parametrize(
    "prepare",
    [pytest.param(p, marks=marked(slow), id=getattr(p, "__qualname__", "plain")) for p, slow in PREPARED.items()],
)
async def test_nothing_is_wrong_before(prepare: Act | None) -> None:
    assert list(await wrong_before(prepare)) == []


@pytest.mark.parametrize("one", [pytest.param(one, marks=marked(one.is_slow), id=one.name) for one in ALL])
async def test_each_is_found_once_with_its_fix(one: Provocation) -> None:
    try:
        found, secrets = await provoked(one)
    except CannotBeProvoked as why:
        pytest.skip(str(why))
    found_in(one, found, secrets)


@pytest.mark.integration
@pytest.mark.xdist_group("doctor")
@pytest.mark.parametrize("one", REAL, ids=lambda one: one.name)
async def test_of_real_services_too(one: Provocation) -> None:
    try:
        assert list(await wrong_before(one.prepare)) == []
        found, secrets = await provoked(one)
    except CannotBeProvoked as why:
        if os.environ.get("REQUIRE_SERVICES") == "1":
            raise
        pytest.skip(str(why))
    found_in(one, found, [*secrets, PASSWORD])


@pytest.mark.integration
@pytest.mark.xdist_group("hindsight")
async def test_a_real_hindsight_server_is_looked_at_and_no_bank_is_made() -> None:
    async with installed() as at:
        at.given |= {"hindsight_url": banks.url(), "hindsight_bank_id": "doctor-looks"}
        for _ in range(2):  # the second look would find one that the first had made
            (said,) = (f for f in await at.findings() if f.check == "Hindsight")
            assert (said.ok, "version" in said.detail, "is not there yet" in said.detail) == (True, True, True)


async def test_a_good_installation_is_told_in_order() -> None:
    async with installed() as at:
        found = await at.findings()
    assert [f.check for f in found if f.ok is True] == [
        *("Time zone", "Database file", "Database", "Outbox", "Inbox"),
        *("Connection", "Slack", "Clock", "Scopes", "App token", "Channels", "Stewards"),
    ]
    assert {f.check for f in found if f.ok is None} >= {"Events", "Buttons", "Last alert", "Hindsight", "Evidence"}


async def test_nothing_is_changed() -> None:
    async with installed() as at:
        at.given |= {"hindsight_url": await at.served(bank([])), "webhook_channel": "C0ALERTS", "stewards": "U0ALICE"}
        before, files = contents(at.database), sorted(at.database.parent.iterdir())
        found = {f.check: f for f in await at.findings()}
        assert "the bank is not there yet" in found["Hindsight"].detail  # and it was not made: the server knows no PUT
        assert contents(at.database) == before
        assert sorted(at.database.parent.iterdir()) == files
        asked = {name.removeprefix("api:") for name in at.slack.counters() if name.startswith("api:")}
        assert asked <= READING
        assert {"users.conversations", "bots.info"} <= asked
        assert at.slack.deliveries() == []


async def test_no_database_is_made() -> None:
    async with installed() as at:
        at.given["database_url"] = f"sqlite+aiosqlite:///{at.folder}/new/precedent.db"
        found = {f.check: f for f in await at.findings()}
        assert (found["Database"].ok, "the first start makes it" in found["Database"].detail) == (None, True)
        assert not (at.folder / "new").exists()


def contents(path: Path) -> list[str]:
    """All rows but the moment of the last look."""
    with closing(sqlite3.connect(path)) as opened:
        return [row for row in opened.iterdump() if "'checked_at'" not in row]


async def test_a_check_that_fails_itself_does_not_hide_the_others() -> None:
    class Broken:
        def now(self) -> NoReturn:
            raise RuntimeError("xoxb-secret")

    async with installed() as at:
        at.clock = Broken()
        found = await at.findings()
    failed = [f for f in found if f.ok is False]
    assert {"Database", "Slack"} <= {f.check for f in failed}
    assert all("itself failed (RuntimeError)" in f.detail and "report it" in f.fix for f in failed)
    assert {"Time zone", "Hindsight", "Language model"} <= {f.check for f in found if f.ok is not False}
    assert "xoxb" not in str(found)


async def test_of_a_bot_that_does_not_run_nothing_is_said_of_events() -> None:
    async with installed() as at:
        await unsubscribed("message.channels", "#alerts")(at)
        found = {f.check: f for f in await at.findings()}
    assert (found["Events"].ok, "never connected" in found["Events"].detail) == (None, True)


async def test_events_after_the_start_of_a_bot_that_never_got_one() -> None:
    """Nothing came at all: the time since which the bot runs says what should have."""
    async with installed() as at:
        at.given["port"] = free_port()
        at.slack.core.installed.events -= {"message.channels", "message.groups"}
        await heard(await at.at_work())
        for channel in ("#alerts", "#sec-incidents"):
            await at.slack.post(channel, "payments-api is down", user="alice")
        a_minute_passes(at, 100)
        at.clock = StoppedClock(datetime.now(tz=UTC) + timedelta(seconds=100))
        found = await at.findings()
    wrong = [f for f in found if f.ok is False]
    assert [f.check for f in wrong] == ["Events", "Events"]
    assert ["message.channels" in f.fix for f in wrong] == [True, False]
    assert next(f for f in found if f.check == "Port").detail.endswith("store writable, Slack connected")


@pytest.mark.integration
async def test_where_events_come_slacks_warning_is_not_believed() -> None:
    async with installed() as at:
        await events_come(at)
        await at.slack.switch_socket_mode(on=False)
        found = await at.findings()
        (told,) = (f for f in found if f.check == "Connection" and f.ok is None)
        assert "yet events come" in told.detail
        assert [f for f in found if f.ok is False] == []
        at.clock = StoppedClock(datetime.now(tz=UTC) + timedelta(hours=2))
        a_minute_passes(at, 7200)
        assert [f.check for f in await at.findings() if f.ok is False] == ["Connection"]


async def test_what_slack_does_not_tell_now_is_no_fault() -> None:
    async with installed() as at:
        at.given |= {"webhook_channel": "C0ALERTS", "stewards": "U0ALICE", "steward_group": "S0ONCALL"}
        await at.slack.fail("missing_scope", "bots.info", 9)
        asked = ("apps.connections.open", "users.conversations", "conversations.info", "users.info")
        for method in asked:
            await at.slack.limit(1, method)
        first = await at.findings()
        await at.slack.fail("fatal_error", "usergroups.list", 1)
        second = await at.findings()
        await at.slack.limit(1, "auth.test")
        (waits,) = (f for f in await at.findings() if f.ok is False)
        await at.slack.fail("http_500", "auth.test", 1)
        (fails,) = (f for f in await at.findings() if f.ok is False)
    unsure = {"App token", "Channels", "Webhook channel", "Stewards"}
    assert [f for f in (*first, *second) if f.ok is False] == []
    assert {f.check for f in first if f.ok is None} > unsure
    assert {f.check for f in second if f.ok is True} > {"App token", "Channels", "Webhook channel"}
    assert "could not be looked up" in next(f.detail for f in second if f.check == "User groups")
    assert "Run this again in a minute" in waits.fix
    assert "does not answer as Slack does" in fails.detail


@pytest.mark.parametrize("scope", NEEDED_SCOPES)
def test_each_missing_scope_is_named_with_what_it_is_for(scope: str) -> None:
    there = frozenset(NEEDED_SCOPES) - {scope}
    (files, missing) = sorted(check_scopes(AppIdentity("U", "B", "p", "T", "t", there)), key=lambda f: f.check)
    assert (files.ok, missing.ok) == (None, False)
    assert missing.detail.startswith(f"missing: {scope} (")
    assert f": {scope}; then" in missing.fix


def test_scopes_that_slack_does_not_name_are_not_judged() -> None:
    assert check_scopes(AppIdentity("U", "B", "p", "T", "t")) == ()


@pytest.mark.parametrize(
    ("token", "app"), [("xapp-1-A012AB-123-ff", "A012AB"), ("xapp-A012-1", None), ("xoxb-1-A012AB-1-x", None)]
)
def test_the_app_of_an_app_token(token: str, app: str | None) -> None:
    assert read_app_id(token) == app


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("precedent.example.com/slack/events", "no address"),
        ("http://precedent.example.com/slack/events", "https:// only"),
        ("https://localhost:3000/slack/events", "Slack cannot reach it"),
        ("https://10.0.0.7/slack/events", "Slack cannot reach it"),
        (None, "was not tried"),
    ],
)
async def test_an_address_that_slack_cannot_use_is_not_even_tried(url: str | None, says: str) -> None:
    config = Settings(slack_signing_secret=SecretStr("0" * 32), public_url=url)
    (found,) = await check_public_url(config)
    assert says in found.detail
    assert found.ok is (None if url is None else False)
    assert "https://HOST/slack/events" in found.fix
    assert await check_public_url(Settings(slack_app_token=SecretStr("xapp-1"), public_url=url)) == ()


def test_bots_are_counted_by_what_they_hold(tmp_path: Path) -> None:
    database = tmp_path / "precedent.db"
    database.touch()
    for pid, words, holds in (
        (11, "precedent serve", True),
        (12, "precedent serve", False),
        (13, "precedent doctor", True),
    ):
        (tmp_path / f"{pid}" / "fd").mkdir(parents=True)
        (tmp_path / f"{pid}" / "cmdline").write_bytes(words.replace(" ", "\0").encode() + b"\0")
        if holds:
            (tmp_path / f"{pid}" / "fd" / "3").symlink_to(database)
    assert check_second_bot(database, tmp_path) == ()
    (tmp_path / "12" / "fd" / "7").symlink_to(database)
    (found,) = check_second_bot(database, tmp_path)
    assert "processes 11, 12" in found.detail


def test_no_secret_and_no_password_is_left() -> None:
    said = Finding(
        "A", False, "key-of-ours at postgresql://me:pw@host/x", "postgresql+asyncpg://USER:PASSWORD@HOST/NAME"
    )
    (clean,) = mask_secrets(["key-of-ours", ""], [said])
    assert clean.detail == "… at postgresql://host/x"
    assert clean.fix == said.fix


@pytest.mark.integration
async def test_a_proxy_before_the_bank_alone_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://user:hunter22@127.0.0.1:9")
    config = Settings(hindsight_url="http://hindsight.example:8888", groq_api_key=SecretStr("k"))
    (said,) = mask_secrets([], [await check_hindsight(config, SystemClock())])
    assert "cannot be reached through the proxy http://127.0.0.1:9" in said.detail
    assert "NO_PROXY, or correct HTTP_PROXY" in said.fix
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    assert "or correct HTTPS_PROXY (http://127.0.0.1:9)" in (await check_language_model(config)).fix
    monkeypatch.setenv("NO_PROXY", "hindsight.example")
    assert find_proxy(config.hindsight_url or "") is None


async def test_setup_reads_the_same_findings() -> None:
    async with installed() as at:
        assert [f.ok for f in check_token_kinds(at.settings())] == [True]
        assert Counter([f.ok async for f in check_slack(at.settings())])[False] == 0


async def test_an_empty_secret_is_none() -> None:
    """As `.env` has it where a line was left without a value: `serve` says so, and does not start to refuse every request."""
    async with installed() as at:
        at.given |= {"slack_app_token": "", "slack_signing_secret": "", "groq_api_key": "", "webhook_token": ""}
        wrong = [f.check for f in await at.findings() if f.ok is False]
        with pytest.raises(ChatAuthRejected, match="Neither SLACK_APP_TOKEN"):
            await at.at_work()
    assert wrong == ["Connection"]


def test_lines_say_what_to_do() -> None:
    assert format_summary([Finding("A", True, ""), Finding("B", False, "")]) == "1 wrong: B."
    assert format_finding(Finding("A", True, "fine")) == "ok     A: fine"
    assert format_finding(Finding("B", False, "bad", "mend it")).endswith("→ mend it")


def test_the_command_prints_json_and_ends_with_3(tmp_path: Path) -> None:
    ran = Precedent(tmp_path)("doctor", "--json")
    assert ran.returncode == 3
    found = json.loads(ran.stdout)
    assert {tuple(row) for row in found} == {("check", "ok", "detail", "fix")}
    assert [row["check"] for row in found if row["ok"] is False] == ["Bot token", "Connection"]
    said = Precedent(tmp_path)("doctor")
    assert "WRONG  Bot token" in said.stdout
    assert said.stdout.endswith("\n2 wrong; begin with Bot token.\n")


async def test_an_installation_without_a_fault_ends_with_0() -> None:
    async with installed() as at:
        tokens = {"SLACK_BOT_TOKEN": at.slack.bot_token, "SLACK_APP_TOKEN": at.slack.app_token}
        others = {"SLACK_API_URL": at.slack.api_url, "PORT": "0", "DATABASE_URL": f"sqlite+aiosqlite:///{at.database}"}
        ran = await asyncio.to_thread(Precedent(at.folder), "doctor", **tokens, **others)
    assert (ran.returncode, "WRONG" in ran.stdout) == (0, False)
    assert ran.stdout.endswith("\nNothing is wrong.\n")


@pytest.mark.parametrize(("minutes", "how"), [(-11, "11 min behind"), (11, "11 min ahead of")])
def test_a_clock_is_wrong_in_either_direction(minutes: int, how: str) -> None:
    clock = StoppedClock(datetime(2026, 11, 29, 3, 12, tzinfo=UTC))
    own = AppIdentity("U1", "B1", "precedent", "T1", "Us", there=clock.now() - timedelta(minutes=minutes))
    (finding,) = check_clock(Settings(), own, clock)
    assert finding.ok is False
    assert how in finding.detail
