"""Wire Slack: the Web API client, and the transport that brings events."""

from __future__ import annotations

from collections.abc import Callable

from aiohttp import web
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.ports.errors import ChatAuthRejected
from bot.settings import Settings
from bot.slack.client.chat import build_web_client
from bot.slack.inbound.transport import HttpTransport, SocketTransport, Transport


def build_slack_client(settings: Settings) -> AsyncWebClient:
    """Build the Web API client. Raises ChatAuthRejected without a token."""
    if settings.slack_bot_token is None:
        raise ChatAuthRejected(
            "SLACK_BOT_TOKEN is not set: install the app from manifest.yml and put its xoxb- token into .env. "
            "`precedent doctor` names all that is missing."
        )
    return build_web_client(settings.slack_bot_token.get_secret_value(), add_final_slash(settings.slack_api_url))


def read_signing_secret(settings: Settings) -> str | None:
    """Return the signing secret, if one is set."""
    return settings.slack_signing_secret.get_secret_value() if settings.slack_signing_secret else None


def add_final_slash(url: str) -> str:
    """Return the address with the final slash that Slack's client needs."""
    return url if url.endswith("/") else f"{url}/"


def build_transport(
    *, settings: Settings, app: AsyncApp, server: web.Application, on_connected: Callable[[], None]
) -> Transport:
    """Use Socket Mode with an app token, or else signed HTTP. Raises ChatAuthRejected if neither is possible."""
    if settings.slack_app_token:
        url = add_final_slash(settings.slack_api_url)
        return SocketTransport(app, settings.slack_app_token.get_secret_value(), url, on_connected)
    secret = read_signing_secret(settings)
    if not secret:  # with an empty one every request would be refused
        raise ChatAuthRejected(
            "Neither SLACK_APP_TOKEN (Socket Mode) nor SLACK_SIGNING_SECRET (HTTP) is set: put one of them into .env."
        )
    return HttpTransport(app, server, secret, on_connected=on_connected)
