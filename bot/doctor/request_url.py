"""Check in HTTP mode that Slack's Request URL leads to the bot, by asking as Slack does when the URL is entered."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
import secrets
import ssl
import time
from urllib.parse import urlsplit

import aiohttp

from bot.doctor.finding import Finding
from bot.doctor.slack import PAGE
from bot.settings import Settings

CHECK = "Public URL"
WITHIN_S = 5.0
PATH = "/slack/events"
NOT_SET = "PUBLIC_URL is not set: whether Slack reaches the bot was not tried"
FORM = f"Set PUBLIC_URL to the Request URL of Event Subscriptions: https://HOST{PATH}"
CERTIFICATE = (
    "Give the host a certificate that everybody trusts, of this very name and with its whole chain (Let's Encrypt:"
    " fullchain.pem)."
)
SAME = f"{PAGE} Event Subscriptions → Request URL must be the same; “Retry” there says what Slack sees."
SAYS = {
    401: (
        "the bot there refuses the signature: it runs with another SLACK_SIGNING_SECRET, or its clock is wrong",
        f"{PAGE} Basic Information → App Credentials → Signing Secret: copy it to SLACK_SIGNING_SECRET of the bot that runs"
        " there and to this one's; restart it.",
    ),
    403: (
        "what is in front of the bot lets nobody in",
        "Let POST requests to this path through the firewall or the proxy.",
    ),
    404: ("nothing is at this path", f"The path must be {PATH}, here, in Slack, and in what the proxy passes on."),
    405: ("what answers takes no POST there", f"Let the proxy pass POST {PATH} on to the bot's port."),
    502: (
        "a proxy answers, and does not reach the bot",
        "Start the bot, or correct host and port in the proxy (PORT, HOST).",
    ),
    503: (
        "it is starting, stopping, or a proxy does not reach it",
        "Run this again in a minute; then look at the bot's log.",
    ),
    504: ("a proxy answers, and gets no answer of the bot", "Correct host and port in the proxy (PORT, HOST)."),
}


async def check_public_url(settings: Settings) -> tuple[Finding, ...]:
    """Check the Request URL as Slack would. Return nothing unless the bot is in HTTP mode."""
    if settings.slack_app_token or not settings.slack_signing_secret:
        return ()
    if not settings.public_url:
        return (Finding(CHECK, None, NOT_SET, f"{FORM}, to have it tried."),)
    if problem := _check_form(settings):
        return (problem,)
    url, challenge = settings.public_url, secrets.token_hex(16)
    try:
        status, said = await _post_challenge(url, settings.slack_signing_secret.get_secret_value(), challenge)
    except aiohttp.ClientConnectorDNSError:
        fix = "Make the DNS record of the host, or correct PUBLIC_URL (and the Request URL in Slack)."
        return (_build_failure(url, f"the name {urlsplit(url).hostname} is not known", fix),)
    except (aiohttp.ClientConnectorCertificateError, aiohttp.ClientConnectorSSLError, ssl.SSLError) as problem:
        return (_build_failure(url, f"Slack refuses its certificate ({_explain_tls_error(problem)})", CERTIFICATE),)
    except aiohttp.ClientConnectorError:
        fix = "Start the bot or the proxy in front of it, and open the port in the firewall."
        return (_build_failure(url, "nothing listens there (connection refused)", fix),)
    except (TimeoutError, aiohttp.ClientError):
        fix = "Slack waits three seconds: open the port in the firewall, and look at the proxy's log."
        return (_build_failure(url, f"no answer within {WITHIN_S:g} s", fix),)
    return (_judge_answer(url, status, said, challenge),)


def _judge_answer(url: str, status: int, said: str, challenge: str) -> Finding:
    if status == 200 and challenge in said:
        return Finding(CHECK, True, f"{url} answers Slack's question, signed with SLACK_SIGNING_SECRET. {SAME}")
    if 300 <= status < 400:
        return _build_failure(
            url,
            f"it redirects (HTTP {status}), which Slack does not follow",
            "Set PUBLIC_URL, and the Request URL in Slack, to the address that it leads to.",
        )
    if status == 200:
        return _build_failure(
            url, "something else than the bot answers there", f"Let the proxy pass {PATH} on to the bot's port."
        )
    why, fix = SAYS.get(
        status, ("the bot does not answer as it should", "Look at the log of the bot and of the proxy.")
    )
    return _build_failure(url, f"{why} (HTTP {status})", fix)


def _build_failure(url: str, said: str, fix: str) -> Finding:
    return Finding(CHECK, False, f"{url}: {said}", fix)


def _check_form(settings: Settings) -> Finding | None:
    """Check the address itself. A local address is fine for a local Slack."""
    url = settings.public_url or ""
    parts = urlsplit(url)
    if not parts.hostname or parts.scheme not in {"http", "https"}:
        return _build_failure(url, "that is no address", f"{FORM}.")
    if _is_local(urlsplit(settings.slack_api_url).hostname or ""):
        return None
    if parts.scheme != "https":
        return _build_failure(url, "Slack calls https:// only", f"{FORM}, with a certificate.")
    if _is_local(parts.hostname):
        return _build_failure(
            url,
            "this address is of this machine or network: Slack cannot reach it",
            f"{FORM}, a name of the internet; or use Socket Mode.",
        )
    return None


def _is_local(host: str) -> bool:
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return host == "localhost" or host.endswith((".local", ".internal", ".localhost"))


async def _post_challenge(url: str, secret: str, challenge: str) -> tuple[int, str]:
    body = json.dumps({"type": "url_verification", "token": "doctor", "challenge": challenge})
    stamp = str(int(time.time()))
    signed = hmac.new(secret.encode(), f"v0:{stamp}:{body}".encode(), hashlib.sha256).hexdigest()
    headers = {
        "Content-Type": "application/json",
        "X-Slack-Request-Timestamp": stamp,
        "X-Slack-Signature": f"v0={signed}",
    }
    timeout = aiohttp.ClientTimeout(total=WITHIN_S)
    async with (
        aiohttp.ClientSession(timeout=timeout, trust_env=False) as session,
        session.post(url, data=body.encode(), headers=headers, allow_redirects=False) as answer,
    ):
        return answer.status, (await answer.content.read(4096)).decode("utf-8", "replace")


def _explain_tls_error(problem: Exception) -> str:
    cause = getattr(problem, "certificate_error", None) or getattr(problem, "os_error", None) or problem
    return str(getattr(cause, "verify_message", "") or getattr(cause, "reason", "") or "no TLS")
