"""Checks of an installation: each finding says what is wrong and what to do. Must not change anything.

A check that cannot be made because an earlier one failed is left out, so that one cause gives one finding.
"""

from __future__ import annotations

import stat
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import SecretStr
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from bot.adapters.embedding import OnnxEmbedder, find_model
from bot.bootstrap.bot import client_of
from bot.bootstrap.configuration import read_configuration
from bot.bootstrap.doctor_metrics import metrics
from bot.bootstrap.doctor_model import language_model
from bot.bootstrap.doctor_sources import sources
from bot.bootstrap.finding import Finding
from bot.bootstrap.memory import Memory, open_bank, open_memory
from bot.bootstrap.system import RandomIds, SystemClock
from bot.domain.dependency import span
from bot.domain.query import OPERATOR
from bot.ports import ChatUnavailable, ConfigurationRejected, EmbeddingUnavailable, PrecedentError
from bot.ports.clock import Clock
from bot.settings import Settings
from bot.slack.outbound import SlackChat
from bot.workflows.status import LAST_ALERTS_DAYS, events_line, owed_line

MEND_MODEL = "Run `make` again, or point EMBEDDING_MODEL_DIR at a folder with model.onnx and tokenizer.json."
SHORTEST_TOKEN = 16
NEEDED_SCOPES = (
    "app_mentions:read",
    "channels:history",
    "channels:read",
    "chat:write",
    "commands",
    "groups:history",
    "groups:read",
    "im:history",
    "im:write",
    "reactions:read",
    "reactions:write",
    "users:read",
)


async def examine(settings: Settings) -> tuple[Finding, ...]:
    """All findings, in the order in which an operator mends them."""
    found = [
        time_zone(settings),
        configuration(settings),
        webhooks(settings),
        *database_file(settings),
        *await database(settings),
    ]
    found += [finding async for finding in slack(settings)]
    found.append(await hindsight(settings))
    found += await metrics(settings, SystemClock().now())
    found += await sources(settings, SystemClock().now())
    found += [await embeddings(settings), await language_model(settings)]
    return tuple(found)


async def hindsight(settings: Settings) -> Finding:
    """The Hindsight server answers, has a version that the bot knows, and the bank can be used."""
    async with open_bank(settings, SystemClock()) as bank:
        if bank is None:
            return Finding("Hindsight", None, "not configured: the embedded memory is used")
        status = await bank.status()
    where = f"{settings.hindsight_url}, bank {status.bank}"
    if status.problem:
        return Finding(
            "Hindsight",
            False,
            f"{where}: {status.problem}",
            "Until it is mended the local index answers and nothing is lost; without a server unset HINDSIGHT_URL.",
        )
    return Finding("Hindsight", True, f"{where}, version {status.version}")


async def embeddings(settings: Settings) -> Finding:
    """The embedding model is there and works, or why memory works by words."""
    by_words = "memory works by words and parts of words (lexical mode)"
    if settings.embeddings == "off":
        return Finding("Embeddings", None, f"EMBEDDINGS=off: {by_words}")
    try:
        with closing(OnnxEmbedder(find_model(settings.embedding_model_dir))) as embedder:
            await embedder.question("does it work")
    except EmbeddingUnavailable as problem:
        wanted = settings.embedding_model_dir is not None
        return Finding("Embeddings", False if wanted else None, f"{problem} Until then {by_words}.", MEND_MODEL)
    return Finding("Embeddings", True, f"{embedder.name} works; memory compares meaning as well as words")


def configuration(settings: Settings) -> Finding:
    """The file of PRECEDENT_CONFIG can be used."""
    if settings.precedent_config is None:
        return Finding(
            "Configuration", None, "PRECEDENT_CONFIG is not set: the maintained table of vendors is used alone"
        )
    try:
        found = read_configuration(settings.precedent_config)
    except ConfigurationRejected as problem:
        return Finding("Configuration", False, str(problem), "Correct that key in the file, then run this again.")
    counts = f"{len(found.vendors)} vendors, {len(found.services)} services"
    return Finding("Configuration", True, f"{settings.precedent_config}: {counts}")


def webhooks(settings: Settings) -> Finding:
    """Direct intake is off, or has a token that nobody guesses and a channel."""
    if settings.webhook_token is None:
        return Finding("Webhooks", None, "WEBHOOK_TOKEN is not set: alerts are taken from Slack alone")
    if len(settings.webhook_token.get_secret_value()) < SHORTEST_TOKEN:
        return Finding("Webhooks", False, "WEBHOOK_TOKEN is short enough to be guessed", "Use `openssl rand -hex 32`.")
    channel = settings.webhook_channel or "the channel that each webhook names with ?channel="
    return Finding(
        "Webhooks", True, f"POST /webhook/alertmanager and /webhook/generic, to {channel}; deploys to /webhook/deploy"
    )


def time_zone(settings: Settings) -> Finding:
    """TIMEZONE names a zone."""
    try:
        return Finding("Time zone", True, str(ZoneInfo(settings.timezone)))
    except (ZoneInfoNotFoundError, ValueError):
        return Finding(
            "Time zone",
            False,
            f"TIMEZONE={settings.timezone} is no time zone",
            "Use an IANA name such as Europe/Berlin.",
        )


def database_file(settings: Settings) -> tuple[Finding, ...]:
    """An SQLite file is readable by its owner only."""
    try:
        url = make_url(settings.store_url)
    except ArgumentError:
        return ()
    path = Path(url.database) if url.get_backend_name() == "sqlite" and url.database else None
    if path is None or not path.is_file():
        return ()
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        return (
            Finding("Database file", False, f"{path} can be read by other users (mode {mode:o})", f"chmod 600 {path}"),
        )
    return (Finding("Database file", True, f"{path}, readable by its owner only"),)


async def database(settings: Settings) -> tuple[Finding, ...]:
    """The store opens, has this version's schema, and takes a write; and what is owed and when alerts were seen, from it."""
    mend = "Correct DATABASE_URL or the rights of its folder."
    clock = SystemClock()
    try:
        async with open_memory(settings, clock, RandomIds()) as memory:
            status = await memory.health.status()
            if not status.writable:
                fix = "Give the bot's user the right to write, or free disk space."
                return (Finding("Database", False, status.problem or "not writable", fix),)
            told = f"writable, schema {status.schema}, {status.records} incidents"
            return (Finding("Database", True, told), *await _owed(memory, clock), await _last_alert(memory, clock))
    except PrecedentError as problem:
        return (Finding("Database", False, str(problem), mend),)


async def _owed(memory: Memory, clock: Clock) -> tuple[Finding, ...]:
    """What waits to be delivered or worked on."""
    owed = owed_line(await memory.outbox.counts(), await memory.outbox.oldest_pending_at(), clock.now())
    events = events_line(await memory.store.inbox_desk.counts())
    fix = "See that `precedent serve` runs, then look at `precedent outbox list` and `precedent inbox list`."
    return tuple(Finding(line.name, line.ok, line.detail, "" if line.ok else fix) for line in (owed, events))


async def _last_alert(memory: Memory, clock: Clock) -> Finding:
    """When an alert was seen last."""
    now = clock.now()
    seen = await memory.store.traces.last_alerts(OPERATOR, now - timedelta(days=LAST_ALERTS_DAYS), 1)
    if not seen:
        return Finding("Last alert", None, f"none in {LAST_ALERTS_DAYS} days")
    channel, at = seen[0]
    return Finding("Last alert", True, f"{span((now - at).total_seconds())} ago in {channel}")


TOKENS = (
    (
        "Bot token",
        "SLACK_BOT_TOKEN",
        "xoxb-",
        "Create the app from manifest.yml and install it. It is on the app's page under OAuth & Permissions, and begins"
        " with xoxb-.",
        True,
    ),
    (
        "App token",
        "SLACK_APP_TOKEN",
        "xapp-",
        "It is under Basic Information → App-Level Tokens, with the scope connections:write, and begins with xapp-.",
        False,
    ),
)


async def slack(settings: Settings) -> AsyncIterator[Finding]:
    """Tokens are of the right kind, Slack accepts them, and the app has the scopes that the bot needs."""
    bad = token_kinds(settings)
    for finding in bad:
        yield finding
    if any(f.ok is False for f in bad):
        return
    chat = SlackChat(client_of(settings), SystemClock())
    try:
        identity, scopes = await chat.identity(), await chat.scopes()
    except ChatUnavailable as problem:
        mend = "Check the network, a proxy (HTTPS_PROXY) and SLACK_API_URL; the token was not looked at."
        yield Finding("Slack", False, str(problem), mend)
        return
    except PrecedentError as problem:
        yield Finding("Slack", False, str(problem), "Reinstall the app and copy the bot token again.")
        return
    yield Finding("Slack", True, f"connected to {identity.team} as {identity.user_id}")
    missing = [s for s in NEEDED_SCOPES if scopes and s not in scopes]
    if missing:
        yield Finding(
            "Scopes",
            False,
            f"missing: {', '.join(missing)}",
            "Update the app from manifest.yml, then reinstall it to the workspace.",
        )
    if scopes and "files:write" not in scopes:
        without = "digests come without their picture, and post-mortems cannot be posted"
        yield Finding("Files", None, f"the scope files:write is not granted: {without}")
    elif scopes:
        yield Finding("Scopes", True, "all that are needed")


def token_kinds(settings: Settings) -> tuple[Finding, ...]:
    """Each token by its prefix (the three are easily confused), and how Slack is reached."""
    wrong = tuple(
        Finding(what, False, f"{name} {problem}", where)
        for what, name, prefix, where, needed in TOKENS
        if (problem := _trouble(getattr(settings, name.lower()), prefix, needed=needed))
    )
    if any(finding.check == "App token" for finding in wrong):
        return wrong
    if settings.slack_app_token:
        return (*wrong, Finding("Connection", True, "Socket Mode"))
    if settings.slack_signing_secret:
        return (*wrong, Finding("Connection", True, f"signed HTTP on port {settings.port}, path /slack/events"))
    neither = Finding(
        "Connection",
        False,
        "neither SLACK_APP_TOKEN nor SLACK_SIGNING_SECRET is set",
        "Put SLACK_APP_TOKEN (xapp-…, with connections:write; on the app's page under Basic Information → App-Level Tokens) "
        "into .env: Socket Mode. Or SLACK_SIGNING_SECRET: HTTP.",
    )
    return (*wrong, neither)


def _trouble(token: SecretStr | None, prefix: str, *, needed: bool) -> str | None:
    """What is wrong with a token, as far as its look tells."""
    value = token.get_secret_value() if token else ""
    if not value:
        return "is not set" if needed else None
    if not value.startswith(prefix):
        return f"begins with {value[:5]}, which is another kind of token"
    return "is still the example's: put your own in" if "..." in value or "…" in value else None
