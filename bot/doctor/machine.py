"""Check the machine: the settings file, the time zone, the port, and the embedding model. Creates no files."""

from __future__ import annotations

import errno
import os
import pwd
import socket
import stat
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import aiohttp
from dotenv import dotenv_values
from pydantic import SecretStr

from bot.adapters.memory.embedding import OnnxEmbedder, find_model
from bot.doctor.finding import Finding
from bot.ports.errors import EmbeddingUnavailable
from bot.settings import SETTINGS_FILE, Settings

MEND_MODEL = "Run `make` again, or point EMBEDDING_MODEL_DIR at a folder with model.onnx and tokenizer.json."
SHORTEST_TOKEN = 16
ANSWERS_WITHIN_S = 5.0
ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  # what is listened on, told apart; nothing listens here
CANNOT_LISTEN = {
    errno.EACCES: ("this user may not listen on it (below 1024 that is for root)", "Set PORT to a number above 1023."),
    errno.EADDRNOTAVAIL: ("HOST is no address of this machine", "Set HOST=127.0.0.1, or 0.0.0.0 for every address."),
    errno.EADDRINUSE: ("another program holds it", "`ss -ltnp` shows which: end it, or set PORT to a free one."),
}
NO_NAME = ("HOST is no name or address", "Set HOST=127.0.0.1, or 0.0.0.0 for every address.")


@dataclass(frozen=True, slots=True)
class RunningBot:
    """What answers on the bot's port."""

    is_bot: bool = False
    # when the bot was started, if it says so
    since: datetime | None = None


def read_user_name() -> str:
    """Return the name of the user who runs this."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def check_settings_file() -> tuple[Finding, ...]:
    """Check that a `.env` with a secret is readable by its owner only."""
    path = Path(SETTINGS_FILE)
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
        given = dotenv_values(path)
    except OSError:
        return ()
    names = [name for name, value in given.items() if value and _is_secret(name)]
    if not names or not mode & 0o007:  # a group of its own is a common way to give the bot its settings
        return ()
    held = f"{names[0]} and {len(names) - 1} more secrets" if len(names) > 1 else names[0]
    detail = f"{path.resolve()} holds {held}, and other users can read it (mode {mode:o})"
    return (Finding("Settings file", False, detail, f"chmod 600 {path.resolve()}"),)


def _is_secret(name: str) -> bool:
    field = Settings.model_fields.get(name.lower())
    return field is not None and "SecretStr" in str(field.annotation)


def list_secrets(settings: Settings) -> list[str]:
    """Return every secret in the settings, to be masked in output."""
    values = (getattr(settings, name) for name in Settings.model_fields)
    return [value.get_secret_value() for value in values if isinstance(value, SecretStr)]


def check_time_zone(settings: Settings) -> Finding:
    """Check that TIMEZONE names a zone."""
    try:
        return Finding("Time zone", True, str(ZoneInfo(settings.timezone)))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        said = f"TIMEZONE={settings.timezone} is no time zone: `serve` does not start"
        return Finding("Time zone", False, said, "Set TIMEZONE to an IANA name such as Europe/Berlin.")


def check_webhooks(settings: Settings) -> Finding:
    """Check that HTTP intake is off, or has a channel and a token that cannot be guessed."""
    if not settings.webhook_token:
        return Finding("Webhooks", None, "WEBHOOK_TOKEN is not set: alerts are taken from Slack alone")
    if len(settings.webhook_token.get_secret_value()) < SHORTEST_TOKEN:
        fix = "Set WEBHOOK_TOKEN to what `openssl rand -hex 32` prints, here and in what calls the webhook."
        return Finding("Webhooks", False, "WEBHOOK_TOKEN is short enough to be guessed", fix)
    channel = settings.webhook_channel or "the channel that each webhook names with ?channel="
    return Finding(
        "Webhooks", True, f"POST /webhook/alertmanager and /webhook/generic, to {channel}; deploys to /webhook/deploy"
    )


async def check_port(settings: Settings) -> tuple[Finding, RunningBot]:
    """Check that the bot's port is free, or that the bot answers there."""
    where = f"{settings.host} port {settings.port}"
    if settings.port == 0:
        return Finding("Port", None, "PORT=0: any free one is taken at the start"), RunningBot()
    said = await _fetch_readiness(settings)
    if said is None:
        why = _find_listen_problem(settings.host, settings.port)
        if why:
            return Finding("Port", False, f"the bot cannot listen on {where}: {why[0]}", why[1]), RunningBot()
        return Finding("Port", None, f"{where} is free; the bot does not run on this machine now"), RunningBot()
    if "ready" not in said or "slack" not in said:
        fix = f"`ss -ltnp 'sport = :{settings.port}'` shows what it is: end it, or set PORT to a free one."
        return Finding("Port", False, f"another program answers on {where}: `serve` cannot start", fix), RunningBot()
    state = f"store {said.get('store')}, Slack {said['slack']}"
    return Finding("Port", True, f"the bot answers on {where}: {state}"), RunningBot(
        is_bot=True, since=_parse_since(said)
    )


async def _fetch_readiness(settings: Settings) -> dict[str, Any] | None:
    """Return what answers on the port: {} for anything but the bot, None for nothing at all."""
    host = ANYWHERE.get(settings.host, settings.host)
    url = f"http://{f'[{host}]' if ':' in host else host}:{settings.port}/readyz"
    timeout = aiohttp.ClientTimeout(total=ANSWERS_WITHIN_S)
    try:
        async with aiohttp.ClientSession(timeout=timeout) as session, session.get(url) as answer:
            said = await answer.json()
            return said if isinstance(said, dict) else {}
    except aiohttp.ClientConnectorError:
        return None
    except (aiohttp.ClientError, TimeoutError, ValueError, OSError):
        return {}


def _parse_since(said: dict[str, Any]) -> datetime | None:
    try:
        return datetime.fromisoformat(str(said.get("since")))
    except ValueError:
        return None


def _find_listen_problem(host: str, number: int) -> tuple[str, str] | None:
    """Return why nothing could listen there, or None. The address is bound for a moment and accepts nothing."""
    try:
        family, kind, proto, _, at = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, proto) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(at)
    except socket.gaierror:
        return NO_NAME
    except OSError as problem:
        return CANNOT_LISTEN.get(problem.errno or 0, (str(problem.strerror), "Set HOST and PORT to what is free."))
    return None


async def check_embeddings(settings: Settings) -> Finding:
    """Check that the embedding model is there and works, or say why memory works by words."""
    by_words = "memory works by words and parts of words (lexical mode)"
    if settings.embeddings == "off":
        return Finding("Embeddings", None, f"EMBEDDINGS=off: {by_words}")
    try:
        with closing(OnnxEmbedder(find_model(settings.embedding_model_dir))) as embedder:
            await embedder.embed_question("does it work")
    except EmbeddingUnavailable as problem:
        wanted = settings.embedding_model_dir is not None
        return Finding("Embeddings", False if wanted else None, f"{problem} Until then {by_words}.", MEND_MODEL)
    return Finding("Embeddings", True, f"{embedder.name} works; memory compares meaning as well as words")
