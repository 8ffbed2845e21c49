"""Read what people paste during `precedent setup`; for something else, say what it is and where to find the right
thing.

No message repeats a secret.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

BOT, APP, SIGNING = "SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET"
MOST_CHANNEL_NAME = 80
EVENTS_PATH = "/slack/events"


class AnswerRejected(ValueError):  # its message goes to the person who answered
    """An answer that cannot be used. The message tells its author why, and what to do."""


# Whatever is wanted, these are recognised: by what they begin with or look like. First match wins.
LOOKS = (
    (re.compile(r"xoxb-"), "a bot token", BOT),
    (re.compile(r"xapp-"), "an app-level token", APP),
    (re.compile(r"xoxp-"), "a user token", ""),
    (re.compile(r"xoxe"), "a token of token rotation or of app configuration", ""),
    (re.compile(r"xox[a-z]-"), "a token of another kind", ""),
    (re.compile(r"https?://"), "an address", ""),
    (re.compile(r"gsk_"), "a key of Groq", ""),
    (re.compile(r"[0-9]+\.[0-9]+$"), "the Client ID", ""),
    (re.compile(r"A[A-Z0-9]{7,}$"), "the App ID", ""),
    (re.compile(r"[0-9a-f]{32}$"), "a signing secret or client secret", SIGNING),
    (re.compile(r"[A-Za-z0-9]{24}$"), "the Verification Token", ""),
)
WHERE = {
    BOT: "The bot token begins with xoxb- and stands under OAuth & Permissions, as Bot User OAuth Token.",
    APP: "The app-level token begins with xapp- and stands under Basic Information, App-Level Tokens.",
    SIGNING: "The signing secret (32 digits of 0-9a-f) stands under Basic Information, App Credentials: press Show.",
}
_WHOLE_TOKEN = re.compile(r"x(?:oxb|app)-[A-Za-z0-9-]{8,}")
_CHANNEL_ID = re.compile(r"[CG][A-Z0-9]{6,}")
_CHANNEL_LINK = re.compile(r"https://\S+/(?:archives|client/[A-Z0-9]+)/([CG][A-Z0-9]{6,})\S*")
_MENTION = re.compile(r"<#([CG][A-Z0-9]{6,})(?:\|[^>]*)?>")
_NO_NAME = re.compile(r"[\s.,:/@<>A-Z]")
_FILE = re.compile(r"\.{0,2}/.+|[^~].*\.(?:db|sqlite3?)")
DRIVERS = {
    "postgres": "postgresql+asyncpg",
    "postgresql": "postgresql+asyncpg",
    "postgresql+asyncpg": "postgresql+asyncpg",
    "sqlite": "sqlite+aiosqlite",
    "sqlite+aiosqlite": "sqlite+aiosqlite",
}


def clean_answer(name: str, answer: str) -> str:
    """Return a pasted value without what is often copied along: `NAME=`, quotes, surrounding space."""
    value = answer.strip()
    for before in ("export ", f"{name}="):
        value = value.removeprefix(before).strip()
    return value[1:-1].strip() if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'`" else value


def check_storable(name: str, answer: str) -> str:
    """Return a value that every reader of `.env` files reads back unchanged. Raises AnswerRejected."""
    value = clean_answer(name, answer)
    if re.search(r"\s|[\x00-\x1f\x7f]", value):
        raise AnswerRejected("There is white space within it: copy it once more, whole and alone.")
    if "${" in value or value[:1] in {'"', "'", "#"}:
        raise AnswerRejected(f"A .env file cannot hold this as it is: set {name} in the environment, or {name}_FILE.")
    return value


def check_slack_secret(name: str, answer: str) -> str:
    """Return one of Slack's three secrets. Raises AnswerRejected for another one, or an incomplete one."""
    value = check_storable(name, answer)
    if not value:
        raise AnswerRejected("Nothing was entered. What you paste is not shown; press Enter after it.")
    if "..." in value or "…" in value:
        raise AnswerRejected(f"That is the example, or was cut short on the page. {WHERE[name]}")
    what, belongs = next(((what, to) for look, what, to in LOOKS if look.match(value)), ("", ""))
    if what and belongs != name:
        raise AnswerRejected(f"That is {what}. {WHERE[name]}")
    if not what:
        raise AnswerRejected(f"That is nothing that Slack gives out. {WHERE[name]}")
    if name != SIGNING and not _WHOLE_TOKEN.fullmatch(value):
        raise AnswerRejected(f"It begins as it should, but is not whole: use the button Copy. {WHERE[name]}")
    return value


def parse_address(answer: str) -> str:
    """Return the bot's public address without the events path and final slash. Raises AnswerRejected."""
    text = answer.strip()
    try:
        parts = urlsplit(text if "://" in text else f"https://{text}")
        host, _ = parts.hostname or "", parts.port
    except ValueError as wrong:
        raise AnswerRejected("That is no address: write it like https://precedent.example.com.") from wrong
    if parts.scheme != "https":
        raise AnswerRejected("Slack calls https addresses alone: put a TLS proxy before the bot, and give its address.")
    if parts.username or parts.query or parts.fragment or re.search(r"[\s\"'<>]", text) or not host:
        raise AnswerRejected("Give the address alone, like https://precedent.example.com: no user, ? or #.")
    if not _is_public(host):
        raise AnswerRejected(f"Slack cannot reach {host} from outside. Without a public address use Socket Mode.")
    path = parts.path.rstrip("/").removesuffix(EVENTS_PATH).rstrip("/")
    return f"https://{parts.netloc}{path}"


def _is_public(host: str) -> bool:
    try:
        return ip_address(host).is_global
    except ValueError:
        return "." in host and not host.endswith((".local", ".localhost", ".internal", ".lan"))


def parse_database(answer: str) -> str:
    """Return the database's address with the bot's driver; a file's path means SQLite. Raises AnswerRejected."""
    value = check_storable("DATABASE_URL", answer)
    scheme, separator, rest = value.partition("://")
    if not separator:
        if not _FILE.fullmatch(value):
            raise AnswerRejected(
                "Give a file such as /var/lib/precedent.db, or an address: postgresql://user@host/precedent."
            )
        return f"sqlite+aiosqlite:///{value}"
    if scheme not in DRIVERS:
        raise AnswerRejected(f"{scheme} cannot be used: SQLite (a file) and PostgreSQL (postgresql://…) can.")
    return f"{DRIVERS[scheme]}://{rest}"


def parse_hindsight(answer: str) -> str:
    """Return the address of a Hindsight server. Raises AnswerRejected."""
    value = check_storable("HINDSIGHT_URL", answer)
    if not re.fullmatch(r"https?://[^/\s]+.*", value):
        raise AnswerRejected("Give its address with http:// or https://, like http://127.0.0.1:8888.")
    return value


@dataclass(frozen=True, slots=True)
class NamedChannel:
    """A channel as a person named it."""

    name: str  # the id until Slack provides the name
    id: str | None = None


def parse_channel(answer: str) -> NamedChannel:
    """Return the channel that an answer names: `#alerts`, `alerts`, its id, or a link to it. Raises AnswerRejected."""
    text = answer.strip()
    for look in (_MENTION, _CHANNEL_LINK):
        if found := look.fullmatch(text):
            return NamedChannel(found[1], found[1])
    if _CHANNEL_ID.fullmatch(text):
        return NamedChannel(text, text)
    name = text.removeprefix("#")
    if not name or len(name) > MOST_CHANNEL_NAME or _NO_NAME.search(name):
        raise AnswerRejected(
            "That is no name of a channel: write it as Slack shows it, such as #alerts, or paste its link."
        )
    return NamedChannel(name)
