"""The settings, and the only reader of the environment. Whether a value works is for `doctor` to check.

Every setting may be given as NAME, in a `.env` file of the working directory, or as NAME_FILE (a file holding it).
"""

from __future__ import annotations

import os
import re
import urllib.request
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from dotenv import dotenv_values
from pydantic import AfterValidator, Field, SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict
from pydantic_settings.sources import EnvSettingsSource


class FileSecretsSource(EnvSettingsSource):
    """Read NAME_FILE: the path of a file whose content is the value, as orchestrators mount secrets."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """Return the content of the file that <FIELD_NAME>_FILE names, if it is set."""
        path = self.env_vars.get(f"{field_name}_file") or self.env_vars.get(f"{field_name}_FILE".upper())
        if not path:
            return None, field_name, False
        return Path(path).read_text(encoding="utf-8").strip(), field_name, False


def read_secret(name: str) -> str | None:
    """Return the value of a variable that the configuration file names, or None.

    Looked up in this order: NAME in the environment, the file that NAME_FILE names, NAME in `.env`. Raises OSError for
    a file that cannot be read.
    """
    if given := os.environ.get(name):
        return given.strip()
    if path := os.environ.get(f"{name}_FILE"):
        return Path(path).read_text(encoding="utf-8").strip() or None
    return (dotenv_values(SETTINGS_FILE).get(name) or "").strip() or None


SETTINGS_FILE = ".env"


def find_proxy(url: str) -> tuple[str, str] | None:
    """Return the environment variable that sets a proxy for this address, and the proxy, or None. For clients that
    honor NO_PROXY."""
    address = urlsplit(url)
    found = urllib.request.getproxies().get(address.scheme)
    if not found or urllib.request.proxy_bypass(address.hostname or ""):
        return None
    return f"{address.scheme.upper()}_PROXY", found


def _check_channel_id(value: str) -> str:
    if not re.fullmatch(r"[CG][A-Z0-9]{2,30}", value):
        raise PydanticCustomError(
            "channel_id", "not a channel's id (C…); in Slack it stands under the channel's name → About, at the bottom"
        )
    return value


class Settings(BaseSettings):
    """Everything that the operator may set. The defaults work on one machine with SQLite."""

    model_config = SettingsConfigDict(
        env_file=SETTINGS_FILE, env_file_encoding="utf-8", extra="ignore", case_sensitive=False, frozen=True
    )

    slack_bot_token: SecretStr | None = Field(None, description="Bot token (xoxb-…) of the installed app")
    slack_app_token: SecretStr | None = Field(
        None, description="App-level token (xapp-…) with connections:write; given: Socket Mode"
    )
    slack_signing_secret: SecretStr | None = Field(
        None, description="Signing secret; needed without an app token (HTTP mode)"
    )
    slack_api_url: str = Field("https://slack.com/api/", description="Web API base address, with the final slash")
    database_url: str | None = Field(
        None, description="SQLAlchemy address of the store; default: a file in the user's state directory"
    )
    hindsight_url: str | None = Field(None, description="Address of a Hindsight server; unset: the embedded bank")
    hindsight_api_key: SecretStr | None = Field(None, description="Key for the Hindsight server")
    hindsight_bank_id: str = Field("precedent", description="Memory bank used on the Hindsight server")
    groq_api_key: SecretStr | None = Field(None, description="Key for hypotheses by a model; unset: no model")
    groq_models: str = Field("openai/gpt-oss-120b,openai/gpt-oss-20b", description="Models, best first, with commas")
    groq_base_url: str = Field("https://api.groq.com", description="Address of the models' server; it gets the key")
    llm: Literal["on", "off"] = Field("on", description="off: never call a model")
    llm_daily_tokens: Annotated[int, Field(ge=0)] = Field(
        200_000, description="Tokens a day (UTC) after which no model is asked any more"
    )
    embeddings: Literal["on", "off"] = Field("on", description="off: the lexical mode of the embedded bank")
    embedding_model_dir: str | None = Field(
        None, description="Folder with model.onnx and tokenizer.json; unset: the model that the extra `dense` installs"
    )
    precedent_config: Path | None = Field(
        None, description="TOML file with your own vendors and services; unset: the maintained table alone"
    )
    evidence_deadline_s: Annotated[float, Field(gt=0, le=10)] = Field(
        2.0, description="Seconds that a brief waits for metrics, logs and deploys; later ones complete it by an edit"
    )
    webhook_token: SecretStr | None = Field(
        None, description="Bearer token for POST /webhook/…; unset: alerts are taken from Slack alone"
    )
    webhook_channel: str | None = Field(
        None, description="Channel id (C…) for alerts of webhooks that name none with ?channel="
    )
    timezone: str = Field("UTC", description="IANA time zone for dates in digests and for their schedule")
    digest_day: Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"] = Field(
        "mon", description="Day of the weekly digest"
    )
    digest_hour: Annotated[int, Field(ge=0, le=23)] = Field(9, description="Local hour of the weekly digest")
    nudge: Literal["on", "off"] = Field(
        "on", description="off: never ask anybody what fixed an incident that cleared with no recorded fix"
    )
    shadow_channel: Annotated[str, AfterValidator(_check_channel_id)] | None = Field(
        None, description="Channel id (C…): all that the bot would say by itself goes there; unset: shadow mode is off"
    )
    stewards: str = Field("", description="Slack user ids that are stewards beside workspace admins, with commas")
    steward_group: str | None = Field(None, description="Id of a Slack user group whose members are stewards")
    verifier_group: str | None = Field(
        None,
        description="Id of a Slack user group whose members alone confirm that a fix worked; unset: all but guests",
    )
    keep_seen_hours: Annotated[int, Field(ge=24, le=720)] = Field(24, description="Hours for which event ids are kept")
    keep_texts_days: Annotated[int, Field(ge=2, le=3650)] = Field(
        30, description="Days for which delivered messages, unreadable events, deploys and ended silences are kept"
    )
    keep_notices_days: Annotated[int, Field(ge=31, le=3650)] = Field(
        90, description="Days for which the notices of alerts are kept after their incident ended"
    )
    keep_audit_days: Annotated[int, Field(ge=30, le=36500)] = Field(
        400, description="Days for which the audit log is kept"
    )
    keep_sent_days: Annotated[int, Field(ge=1, le=3650)] = Field(
        90, description="Days for which what was sent to a model is kept"
    )
    host: str = Field("127.0.0.1", description="Address that the bot's own HTTP server listens on")
    port: Annotated[int, Field(ge=0, le=65535)] = Field(
        3000, description="Port of the bot's own HTTP server (health, metrics, Slack events in HTTP mode)"
    )
    public_url: str | None = Field(
        None,
        description="HTTP mode: the Request URL that Slack has (https://…/slack/events); `doctor` asks it as Slack does",
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        "INFO", description="Least severe log level written"
    )
    lease_s: Annotated[float, Field(gt=0, le=3600)] = Field(
        30.0, description="Seconds after which work that a dead process had taken is taken up by another"
    )
    workers: Annotated[int, Field(ge=1, le=64)] = Field(4, description="How many Slack events are worked on at once")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Prefer arguments, then the environment, then NAME_FILE, then `.env`."""
        return init_settings, env_settings, FileSecretsSource(settings_cls), dotenv_settings

    @property
    def steward_ids(self) -> frozenset[str]:
        """Return the listed stewards."""
        return frozenset(name.strip() for name in self.stewards.split(",") if name.strip())

    @property
    def model_names(self) -> tuple[str, ...]:
        """Return the ladder of models, best first."""
        return tuple(name.strip() for name in self.groq_models.split(",") if name.strip())

    @property
    def store_url(self) -> str:
        """Return the store's address: DATABASE_URL, or a file under XDG_STATE_HOME (default ~/.local/state)/precedent."""
        if self.database_url:
            return self.database_url
        state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "precedent"
        return f"sqlite+aiosqlite:///{state / 'precedent.db'}"
