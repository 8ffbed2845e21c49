"""Everything that `precedent doctor` is to find, each provoked: `python -m tests.doctor.provocations` prints what it says.

Before each, doctor finds nothing wrong in the same installation; afterwards exactly the checks that are named here.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import structlog
from aiohttp import web

from bot.adapters.store import open_store
from bot.bootstrap.application import Application
from bot.bootstrap.modes.seeds import read_seed_incidents
from bot.bootstrap.system import RandomIds, StoppedClock, SystemClock
from bot.cli.doctor import format_finding
from bot.doctor.finding import Finding
from bot.doctor.machine import list_secrets
from bot.domain.delivery.kinds import Operation
from bot.ports.delivery.inbox import ReceivedEvent
from bot.ports.delivery.outbox import Destination, OutboxEntry
from bot.ports.unit_of_work import Changes
from bot.settings import Settings
from tests.adapters.evidence.prometheus_server import Prom, serving
from tests.bootstrap.installation import (
    WITHOUT_RIGHTS,
    CannotBeProvoked,
    Installation,
    a_minute_passes,
    bank,
    installed,
    says,
    self_signed,
)
from tests.ports import free_port

Act = Callable[[Installation], Awaitable[None]]
GROUPS = "usergroups:read"
TRAITS = {"skepticism": 3, "literalism": 3, "empathy": 3}
MODELS = ("openai/gpt-oss-120b", "openai/gpt-oss-20b")


QUICK_ALL_THE_SAME = frozenset(
    {"Request URL: another secret", "an event is not subscribed", "Hindsight: wrong key", "signing secret cut off"}
)


LIKE_ANOTHER = frozenset(
    {
        "a user's token for the bot's", "the example's token", "the app was deactivated", "two scopes are missing", "app token revoked",
        "webhook channel by its name", "webhook channel unknown", "a user group that is not there", "no database at all",
        "the configuration is not there", "DATABASE_URL names a folder", "DATABASE_URL is no address", "an event was given up",
        "a file where a folder is to be", "database folder of another user", "posts are stuck", "model: not reachable",
        "Prometheus not reachable", "HOST of another machine", "PostgreSQL not reachable", "two bots on one file",
    }
)  # fmt: skip


@dataclass(frozen=True)
class Provocation:
    """`prepare` makes a good installation that has what `provoke` breaks. `says` and `fix` are words of the line."""

    name: str
    checks: tuple[str, ...]
    says: str
    fix: str
    provoke: Act
    prepare: Act | None = None

    @property
    def is_slow(self) -> bool:
        """Whether it is for `make integration`: what takes a bot at work or a client that is slow to import, and what goes the
        way that another provocation goes."""
        takes_long = self.prepare in {by_http, events_come, with_bank} and self.name not in QUICK_ALL_THE_SAME
        return takes_long or self.name in LIKE_ANOTHER


def setting(**changes: object) -> Act:
    """Settings as an operator gets them wrong."""

    async def change(at: Installation) -> None:
        at.given |= changes

    return change


async def unchanged(_at: Installation) -> None:
    """Nothing to prepare."""


# Slack


async def other_team(at: Installation) -> None:
    at.given["slack_bot_token"] = "xoxb-1-2-of-another-workspace"


async def uninstalled(at: Installation) -> None:
    await at.slack.uninstall()


async def deactivated(at: Installation) -> None:
    await at.slack.fail("account_inactive", "auth.test", 9)


async def proxied(at: Installation) -> None:
    at.environment(HTTPS_PROXY="http://user:hunter22@127.0.0.1:9")


async def proxied_all(at: Installation) -> None:
    at.environment(HTTP_PROXY="http://user:hunter22@127.0.0.1:9")


async def clock_wrong(at: Installation) -> None:
    at.clock = StoppedClock(SystemClock().now() + timedelta(minutes=11))


def lacks(*scopes: str) -> Act:
    async def refuse(at: Installation) -> None:
        for scope in scopes:
            await at.slack.refuse_scope(scope)

    return refuse


async def socket_mode_off(at: Installation) -> None:
    await at.slack.switch_socket_mode(on=False)


async def by_http(at: Installation) -> None:
    await at.by_http()


async def in_no_channel(at: Installation) -> None:
    for channel in ("#alerts", "#sec-incidents", "#partners"):
        await at.slack.leave(channel)


def webhook_channel(name: str) -> Act:
    async def name_it(at: Installation) -> None:
        at.given["webhook_channel"] = name

    return name_it


async def archived(at: Installation) -> None:
    await at.slack.archive("C0ALERTS")


async def shared(at: Installation) -> None:
    at.slack.core.workspace.channel("C0ALERTS").is_ext_shared = True


async def deploys_read(at: Installation) -> None:
    at.text = '[services.checkout-api]\n[deploy_posts]\nchannels = ["C0PARTNERS"]\n'


async def left_partners(at: Installation) -> None:
    await at.slack.leave("C0PARTNERS")


async def events_come(at: Installation) -> None:
    """A bot at work, which got a post as an event."""
    bot = await at.at_work()
    await at.slack.post("#alerts", "hello", user="alice")
    await at.slack.idle()
    await heard(bot)


async def heard(bot: Application) -> None:
    """Until the bot has noted that it is connected."""
    while await bot.memory.store.watermark.read() is None:  # noqa: ASYNC110  # it writes that down; nothing tells when
        await asyncio.sleep(0.02)


def unsubscribed(event: str, channel: str) -> Act:
    async def act(at: Installation) -> None:
        at.slack.core.installed.events -= {event}
        await at.slack.post(channel, "payments-api is down", user="alice")
        a_minute_passes(at, 100)
        at.clock = StoppedClock(SystemClock().now() + timedelta(seconds=100))

    return act


async def with_group(at: Installation) -> None:
    at.given["steward_group"] = "S0ONCALL"


# the machine


async def taken(at: Installation) -> None:
    url = await at.served(says(200, "hello"))
    at.given["port"] = int(url.rpartition(":")[2])


async def settings_file(at: Installation) -> None:
    path = at.folder / ".env"
    path.write_text(f"SLACK_BOT_TOKEN={at.slack.bot_token}\nGROQ_API_KEY=\nTIMEZONE=UTC\n")
    path.chmod(0o600)


async def readable_settings(at: Installation) -> None:
    (at.folder / ".env").chmod(0o644)


# the Request URL


def leads_to(path: str) -> Act:
    async def act(at: Installation) -> None:
        at.given["public_url"] = str(at.given["public_url"]).replace("/slack/events", path)

    return act


def answers(status: int, text: str = "", **headers: str) -> Act:
    async def act(at: Installation) -> None:
        at.given["public_url"] = f"{await at.served(says(status, text, **headers))}/slack/events"

    return act


async def nobody_there(at: Installation) -> None:
    at.given["public_url"] = f"http://127.0.0.1:{free_port()}/slack/events"


async def untrusted(at: Installation) -> None:
    url = await at.served(says(200), self_signed(at.folder))
    at.given["public_url"] = f"{url}/slack/events"


async def to_another_secret(at: Installation) -> None:
    at.given["slack_signing_secret"] = "0" * 32


# the database


async def others_database(at: Installation) -> None:
    at.folder.joinpath("state").chmod(0o755)
    at.as_user = WITHOUT_RIGHTS


async def others_folder(at: Installation) -> None:
    at.database.parent.chmod(0o700)
    at.as_user = WITHOUT_RIGHTS


async def below_a_file(at: Installation) -> None:
    at.given["database_url"] = f"sqlite+aiosqlite:///{at.database}/new/precedent.db"


async def closed_folder(at: Installation) -> None:
    at.given["database_url"] = f"sqlite+aiosqlite:///{at.folder}/new/precedent.db"
    at.as_user = WITHOUT_RIGHTS


async def readable_database(at: Installation) -> None:
    at.database.chmod(0o644)


async def another_programs(at: Installation) -> None:
    path = at.folder / "photos.db"
    with closing(sqlite3.connect(path)) as opened:
        opened.execute("CREATE TABLE photos (id INTEGER)")
    at.given["database_url"] = f"sqlite+aiosqlite:///{path}"


async def no_database_at_all(at: Installation) -> None:
    path = at.folder / "notes.db"
    path.write_text("these are my notes, and no database\n" * 40)
    path.chmod(0o600)
    at.given["database_url"] = f"sqlite+aiosqlite:///{path}"


def schema(revision: str) -> Act:
    async def act(at: Installation) -> None:
        with closing(sqlite3.connect(at.database)) as opened:
            opened.execute("UPDATE alembic_version SET version_num = ?", (revision,))
            opened.commit()

    return act


async def names_the_folder(at: Installation) -> None:
    at.given["database_url"] = f"sqlite+aiosqlite:///{at.database.parent}"


def mounted(disk: Path) -> bool:
    """Mount a disk of 4 MB."""
    command = ("mount", "-t", "tmpfs", "-o", "size=4m,mode=700", "tmpfs", str(disk))
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


async def on_a_small_disk(at: Installation) -> None:
    disk = at.folder / "disk"
    disk.mkdir()
    if not mounted(disk):
        raise CannotBeProvoked("no small disk can be mounted")
    at.undo.callback(subprocess.run, ("umount", str(disk)), check=False)
    shutil.move(at.database, disk / "precedent.db")
    at.given["database_url"] = f"sqlite+aiosqlite:///{disk}/precedent.db"


async def full_disk(at: Installation) -> None:
    fill(at.folder / "disk" / "backup")


def fill(path: Path) -> None:
    """Write until there is no room."""
    with contextlib.suppress(OSError), path.open("wb", buffering=0) as filled:
        while True:
            filled.write(b"x" * 4096)


async def seeded(at: Installation) -> None:
    records = read_seed_incidents(SystemClock().now())
    store = await open_store(f"sqlite+aiosqlite:///{at.database}", SystemClock(), RandomIds())
    ids = frozenset(record.incident_id for record in records)
    await store.incidents.commit(Changes(records=records, recallable=ids))
    await store.close()


async def owed_for_long(at: Installation) -> None:
    await owed(at, minutes=42, dead=False)


async def refused_for_good(at: Installation) -> None:
    await owed(at, minutes=1, dead=True)


async def owed(at: Installation, *, minutes: int, dead: bool) -> None:
    clock = StoppedClock(SystemClock().now() - timedelta(minutes=minutes))
    store = await open_store(f"sqlite+aiosqlite:///{at.database}", clock, RandomIds())
    post = OutboxEntry(Destination.SLACK, Operation.POST, "C0ALERTS", "d1", {"channel": "C0ALERTS", "text": "a brief"})
    await store.incidents.commit(Changes(deliveries=(post,)))
    if dead:
        (row,) = await store.outbox.claim(Destination.SLACK, 1)
        await store.outbox.dead_letter(row, "channel_not_found")
    await store.close()


async def given_up(at: Installation) -> None:
    store = await open_store(f"sqlite+aiosqlite:///{at.database}", SystemClock(), RandomIds())
    await store.inbox.receive(ReceivedEvent("Ev1", "message/T/C/1", "message", {"type": "event_callback"}))
    (row,) = await store.inbox.claim(1)
    await store.inbox.give_up(row, "cannot be read")
    await store.close()


def holding(path: Path) -> subprocess.Popen[bytes]:
    """A process that is called as the bot is, and has the file open."""
    hold = "import sys; held = open(sys.argv[-1]); print('open', flush=True); sys.stdin.read()"
    command = (sys.executable, "-S", "-c", hold, "serve", str(path))
    started = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert started.stdout
    started.stdout.readline()
    return started


async def one_bot_more(at: Installation) -> None:
    """Two processes that are called as the bot is, and have the file open."""
    for _ in range(2):
        at.undo.callback(holding(at.database).communicate)


# memory, models, evidence


async def with_bank(at: Installation) -> None:
    rows = [{"bank_id": "precedent", "disposition": TRAITS}]
    at.given |= {"hindsight_url": await at.served(bank(rows)), "hindsight_api_key": "hs-key-of-the-tests"}


def bank_is(version: str = "1.1.0", refused: int = 0) -> Act:
    async def act(at: Installation) -> None:
        at.given["hindsight_url"] = await at.served(bank([], version, refused))

    return act


async def no_bank_server(at: Installation) -> None:
    at.given["hindsight_url"] = await at.served(says(200, "<html>welcome</html>"))


async def bank_down(at: Installation) -> None:
    at.given["hindsight_url"] = f"http://127.0.0.1:{free_port()}"


def offering(*models: str, status: int = 200) -> Act:
    async def act(at: Installation) -> None:
        rows = [{"id": name, "object": "model", "created": 1, "owned_by": "x"} for name in models]
        said = {"object": "list", "data": rows} if status == 200 else {"error": {"message": "Invalid API Key"}}

        async def listed(_request: web.Request) -> web.StreamResponse:
            return web.json_response(said, status=status)

        at.given |= {"groq_api_key": "gsk_key-of-the-tests", "groq_base_url": await at.served(listed)}

    return act


async def with_prometheus(at: Installation) -> None:
    values = {"http_requests_total": ("0.182", "0.004", "0.003", "0.191"), "vector(1)": ()}
    prom = await at.undo.enter_async_context(serving(Prom(metrics=("http_requests_total",), values=values)))
    at.text = f'[prometheus.main]\nurl = "{prom.url}"\n[services.payments-api]\n'


def prometheus(path: str = "", status: int = 0) -> Act:
    async def act(at: Installation) -> None:
        url = await at.served(says(status)) if status else f"http://127.0.0.1:{free_port()}"
        at.text = f'[prometheus.main]\nurl = "{url}{path}"\n[services.payments-api]\n'

    return act


def configured(text: str) -> Act:
    async def act(at: Installation) -> None:
        at.text = text

    return act


P = Provocation
ALL: tuple[Provocation, ...] = (
    P("bot token not set", ("Bot token",), "SLACK_BOT_TOKEN is not set", "OAuth & Permissions", setting(slack_bot_token=None)),
    P("a user's token for the bot's", ("Bot token",), "is a user's token: it must begin with xoxb-", "Bot User OAuth Token", setting(slack_bot_token="xoxp-1-2-3")),
    P("the two tokens swapped", ("Bot token", "App token"), "is an app-level token", "Bot User OAuth Token", setting(slack_bot_token="xapp-1-A0PRECEDENT-1-x", slack_app_token="xoxb-1-2-x")),
    P("the example's token", ("Bot token",), "still the example's", "OAuth & Permissions", setting(slack_bot_token="xoxb-...")),
    P("a token with quotes", ("Bot token",), "a space or a quote", "copy", setting(slack_bot_token='xoxb-1-2-x"')),
    P("a token that Slack does not know", ("Slack",), "invalid_auth", "Bot User OAuth Token", other_team),
    P("the app was uninstalled", ("Slack",), "token_revoked", "Reinstall to Workspace", uninstalled),
    P("the app was deactivated", ("Slack",), "account_inactive", "Manage apps", deactivated),
    P("Slack not reachable", ("Slack",), "cannot be reached", "DNS", setting(slack_api_url="http://127.0.0.1:9/api/")),
    P("a proxy in the way of Slack", ("Slack",), "through the proxy", "NO_PROXY", proxied),
    P("a proxy in the way of all", ("Slack",), "through the proxy", "unset all four", proxied_all, with_bank),
    P("the clock is wrong", ("Clock",), "11 min ahead", "set-ntp", clock_wrong),
    P("the clock is wrong, by HTTP", ("Clock",), "refused as too old (401)", "set-ntp", clock_wrong, by_http),
    P("a scope is missing", ("Scopes",), "channels:history (it does not see alerts", "channels:history", lacks("channels:history")),
    P("two scopes are missing", ("Scopes",), "reactions:write", "commands, reactions:write", lacks("reactions:write", "commands")),
    P("app token without its scope", ("App token",), "lacks the scope connections:write", "Generate Token and Scopes", lacks("connections:write")),
    P("app token of another app", ("App token",), "of the app A0OTHER, SLACK_BOT_TOKEN of the app A0PRECEDENT", "apps/A0PRECEDENT/general", setting(slack_app_token="xapp-1-A0OTHER-1-x")),
    P("app token revoked", ("App token",), "invalid_auth", "App-Level Tokens", setting(slack_app_token="xapp-1-A0PRECEDENT-1-revoked")),
    P("Socket Mode is off", ("Connection",), "Socket Mode is not turned on", "Enable Socket Mode", socket_mode_off),
    P("neither socket nor HTTP", ("Connection",), "nothing of Slack reaches the bot", "SLACK_APP_TOKEN", setting(slack_app_token=None)),
    P("signing secret cut off", ("Signing secret",), "has 20 characters", "App Credentials", setting(slack_signing_secret="5167e41bd28ebcb6aa5c"), by_http),
    P("a token for the signing secret", ("Signing secret",), "is a bot token", "App Credentials", setting(slack_signing_secret="xoxb-1-2-x"), by_http),
    P("the bot is in no channel", ("Channels",), "is in no channel", "/invite @precedent", in_no_channel),
    P("webhook channel by its name", ("Webhook channel",), "which is a name", "Channel ID", webhook_channel("#alerts"), webhook_channel("C0ALERTS")),
    P("webhook channel unknown", ("Webhook channel",), "is not there", "correct the id", webhook_channel("C0NOWHERE"), webhook_channel("C0ALERTS")),
    P("webhook channel archived", ("Webhook channel",), "is archived", "Unarchive", archived, webhook_channel("C0ALERTS")),
    P("not in the webhook channel", ("Webhook channel",), "the bot is not in it", "In #random: /invite", webhook_channel("C0RANDOM"), webhook_channel("C0ALERTS")),
    P("not in the shadow channel", ("Shadow channel",), "the bot is not in it", "In #random: /invite", setting(shadow_channel="C0RANDOM"), setting(shadow_channel="C0ALERTS")),
    P("the shadow channel is shared", ("Shadow channel",), "another organisation", "a channel of your own", shared, setting(shadow_channel="C0ALERTS")),
    P("not in a deploy channel", ("Deploy channel",), "the bot is not in it", "/invite", left_partners, deploys_read),
    P("an event is not subscribed", ("Events",), "1 post in #alerts", "message.channels", unsubscribed("message.channels", "#alerts"), events_come),
    P("private channels not subscribed", ("Events",), "in #sec-incidents", "message.groups", unsubscribed("message.groups", "#sec-incidents"), events_come),
    P("a steward who is not there", ("Stewards",), "U0NOBODY", "Copy member ID", setting(stewards="U0ALICE,U0NOBODY"), setting(stewards="U0ALICE")),
    P("a user group that is not there", ("User groups",), "there is no such user group", "Copy group ID", setting(steward_group="S0GONE"), with_group),
    P("a user group without its scope", ("User groups",), "usergroups:read is missing", "Add an OAuth Scope", lacks(GROUPS), with_group),
    P("the port is taken", ("Port",), "another program answers", "ss -ltnp", taken),
    P("HOST of another machine", ("Port",), "HOST is no address", "HOST=127.0.0.1", setting(host="192.0.2.1", port=3000)),
    P("Request URL: nobody listens", ("Public URL",), "connection refused", "firewall", nobody_there, by_http),
    P("Request URL: no such name", ("Public URL",), "is not known", "DNS record", setting(public_url="http://precedent.invalid/slack/events"), by_http),
    P("Request URL: another secret", ("Public URL",), "another SLACK_SIGNING_SECRET", "App Credentials", to_another_secret, by_http),
    P("Request URL: wrong path", ("Public URL",), "nothing is at this path", "/slack/events", leads_to("/slack"), by_http),
    P("Request URL: something else", ("Public URL",), "something else", "proxy", answers(200, "<h1>It works</h1>"), by_http),
    P("Request URL: it redirects", ("Public URL",), "redirects", "leads to", answers(301, Location="https://x.example/"), by_http),
    P("Request URL: proxy without a bot", ("Public URL",), "a proxy answers", "Start the bot", answers(502), by_http),
    P("Request URL: certificate", ("Public URL",), "certificate", "fullchain.pem", untrusted, by_http),
    P(".env readable by others", ("Settings file",), "SLACK_BOT_TOKEN", "chmod 600", readable_settings, settings_file),
    P("time zone", ("Time zone",), "Mars/Base is no time zone", "Europe/Berlin", setting(timezone="Mars/Base")),
    P("a key of the configuration", ("Configuration",), "vendors.acme.alias", "Correct that in the file", configured("[vendors.acme]\nalias = 1\n"), configured("[vendors.acme]\n")),
    P("the configuration is not there", ("Configuration",), "cannot be read", "Correct PRECEDENT_CONFIG", setting(precedent_config=Path("/nosuch/precedent.toml"))),
    P("a variable that is not set", ("Metrics",), "PROM_TOKEN is not set", "Set that variable", configured('[prometheus.main]\nurl = "https://prom.example"\ntoken_env = "PROM_TOKEN"\n'), with_prometheus),
    P("webhook token too short", ("Webhooks",), "short enough to be guessed", "openssl rand", setting(webhook_token="secret"), setting(webhook_token="0123456789abcdef0123456789abcdef")),
    P("database of another user", ("Database",), "cannot be read and written by nobody", "chown", others_database),
    P("database folder not writable", ("Database",), "cannot write in", "sudo install", closed_folder),
    P("database folder of another user", ("Database",), "cannot be looked at by nobody", "sudo chown -R nobody", others_folder),
    P("a file where a folder is to be", ("Database",), "is a file", "Correct the path", below_a_file),
    P("database readable by others", ("Database file",), "mode 644", "chmod 600", readable_database),
    P("another program's database", ("Database",), "belongs to another program", "Set DATABASE_URL", another_programs),
    P("no database at all", ("Database",), "not a Precedent database", "restore", no_database_at_all),
    P("DATABASE_URL names a folder", ("Database",), "is a directory", "Add the file's name", names_the_folder),
    P("DATABASE_URL is no address", ("Database",), "is not an address", "sqlite+aiosqlite", setting(database_url="precedent.db")),
    P("an older schema", ("Database",), "schema 0003, and this version needs", "precedent migrate", schema("0003")),
    P("a newer schema", ("Database",), "of a newer Precedent", "precedent restore FILE --force", schema("0999")),
    P("the disk is full", ("Database",), "the disk is full", "Free space", full_disk, on_a_small_disk),
    P("PostgreSQL not reachable", ("Database",), "server cannot be reached", "Start PostgreSQL", setting(database_url="postgresql+asyncpg://precedent:hunter22@127.0.0.1:9/precedent")),
    P("two bots on one file", ("Database",), "2 bots work on", "kill", one_bot_more),
    P("demo data in a real memory", ("Seeds",), "30 of the demo's", "seq -f INC-%.0f 1 30", seeded),
    P("posts are stuck", ("Outbox",), "oldest 42 min", "precedent serve", owed_for_long),
    P("a post was refused for good", ("Outbox",), "1 refused", "replay --all-dead", refused_for_good),
    P("an event was given up", ("Inbox",), "1 given up", "precedent inbox list", given_up),
    P("Hindsight not reachable", ("Hindsight",), "cannot be reached", "Start the server", bank_down, with_bank),
    P("Hindsight: wrong key", ("Hindsight",), "refuses the key", "HINDSIGHT_API_KEY", bank_is(refused=401), with_bank),
    P("Hindsight: too old", ("Hindsight",), "0.1.0 is too old", "Upgrade", bank_is("0.1.0"), with_bank),
    P("Hindsight: something else", ("Hindsight",), "no Hindsight server", "something else answers", no_bank_server, with_bank),
    P("Hindsight: failing", ("Hindsight",), "failing (HTTP 500)", "log", bank_is(refused=500), with_bank),
    P("model: wrong key", ("Language model",), "key refused", "console.groq.com", offering(status=401), offering(*MODELS)),
    P("model: retired", ("Language model",), "retired, or not offered", "GROQ_MODELS to models that the server offers to this key (other/model)", offering("other/model"), offering(*MODELS)),
    P("model: not reachable", ("Language model",), "cannot be reached", "GROQ_BASE_URL", setting(groq_base_url="http://127.0.0.1:9"), offering(*MODELS)),
    P("Prometheus not reachable", ("Metrics main",), "cannot be reached", "correct its url", prometheus(), with_prometheus),
    P("Prometheus: wrong path", ("Metrics main",), "HTTP 404", "without /api/v1 or /graph", prometheus("/graph", 404), with_prometheus),
    P("Prometheus: wants a key", ("Metrics main",), "HTTP 401", "token_env", prometheus(status=401), with_prometheus),
    P("embedding model not there", ("Embeddings",), "lexical mode", "EMBEDDING_MODEL_DIR", setting(embeddings="on", embedding_model_dir="/nosuch/model")),
)  # fmt: skip


async def wrong_before(prepare: Act | None) -> Sequence[Finding]:
    """What is wrong in an installation that is only prepared."""
    async with installed() as at:
        await (prepare or unchanged)(at)
        return [f for f in await at.findings() if f.ok is False]


async def provoked(one: Provocation) -> tuple[tuple[Finding, ...], list[str]]:
    """What doctor says then, and every secret of that installation. Raises CannotBeProvoked."""
    async with installed() as at:
        await (one.prepare or unchanged)(at)
        await one.provoke(at)
        return await at.findings(), [*list_secrets(at.settings()), *list_secrets(at.before()), "hunter22"]


def table() -> str:
    """What doctor finds, by check, for the documentation."""
    rows: dict[str, list[str]] = {}
    for one in ALL:
        for check in one.checks:
            rows.setdefault(check.removesuffix(" main"), []).append(one.name)
    lines = ["| the line begins with | and is about one of |", "|---|---|"]
    return "\n".join([*lines, *(f"| {check} | {'; '.join(names)} |" for check, names in rows.items())])


def shown(provocations: Sequence[Provocation], *, timed: bool = False) -> Iterator[str]:
    """Each with the lines that doctor prints."""
    for number, one in enumerate(provocations, 1):
        begun = time.monotonic()
        try:
            wrong = [f for f in asyncio.run(provoked(one))[0] if f.ok is False]
        except CannotBeProvoked as why:
            yield f"{number:2}. {one.name}: not provoked here: {why}\n"
            continue
        took = f" ({time.monotonic() - begun:.1f} s)" if timed else ""
        yield f"{number:2}. {one.name}{took}\n" + "".join(f"{format_finding(found)}\n" for found in wrong)


def main() -> int:
    """Print what doctor says of everything here, or with `--real` of real services."""
    for name in Settings.model_fields:
        os.environ.pop(name.upper(), None)
    os.environ["EMBEDDINGS"] = "off"
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    chosen = importlib.import_module("tests.doctor.real_provocations").REAL if "--real" in sys.argv else ALL
    for said in shown(chosen, timed="-v" in sys.argv):
        sys.stdout.write(said)
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
