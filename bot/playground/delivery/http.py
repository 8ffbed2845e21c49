"""HTTP mode: signed requests to the app's address. Makes one attempt each; the courier retries."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout
from slack_sdk.signature import SignatureVerifier

from bot.playground.delivery.courier import EVENT, INTERACTIVE, Ack, Parcel
from bot.playground.delivery.knobs import Knobs
from bot.playground.workspace.state import JSON


@dataclass(slots=True)
class HttpSender:
    """Post to the request URL as Slack's servers do."""

    target: str
    signing_secret: str
    session: ClientSession
    knobs: Knobs
    now: Callable[[], float]
    ack_timeout_s: float = 3.0

    async def attempt(self, parcel: Parcel) -> Ack:
        """Make one signed request; status 200 within the timeout is the acknowledgment."""
        content_type, body = _encode(parcel)
        headers = self._headers(content_type, body)
        if parcel.attempt and self.knobs.retry_headers:
            headers |= {"X-Slack-Retry-Num": str(parcel.attempt), "X-Slack-Retry-Reason": parcel.reason}
        try:
            async with self._post(body, headers) as response:
                return await _read(response)
        except TimeoutError:
            return Ack(ok=False, reason="http_timeout")
        except ClientError:
            return Ack(ok=False, reason="connection_failed")

    async def verify_url(self) -> bool:
        """Do the url_verification handshake. Return whether the app returned the challenge."""
        challenge = "local-challenge"
        body = json.dumps({"token": "verification-token", "challenge": challenge, "type": "url_verification"})
        async with self._post(body, self._headers("application/json", body)) as response:
            return response.status == 200 and challenge in await response.text()

    def _headers(self, content_type: str, body: str) -> dict[str, str]:
        timestamp = str(int(self.now()))
        signature = SignatureVerifier(self.signing_secret).generate_signature(timestamp=timestamp, body=body)
        return {
            "Content-Type": content_type,
            "User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
            "X-Slack-Request-Timestamp": timestamp,
            "X-Slack-Signature": signature or "",
        }

    def _post(self, body: str, headers: dict[str, str]) -> Any:
        timeout = ClientTimeout(total=self.ack_timeout_s)
        return self.session.post(self.target, data=body.encode(), headers=headers, timeout=timeout)


def _encode(parcel: Parcel) -> tuple[str, str]:
    if parcel.kind == EVENT:
        return "application/json", json.dumps(parcel.payload)
    form: JSON = {"payload": json.dumps(parcel.payload)} if parcel.kind == INTERACTIVE else parcel.payload
    return "application/x-www-form-urlencoded", urlencode(form)


async def _read(response: ClientResponse) -> Ack:
    text = await response.text()
    if response.status != 200:
        no_retry = response.headers.get("X-Slack-No-Retry") == "1"
        return Ack(ok=False, reason="http_error", no_retry=no_retry)
    if "json" in response.content_type:
        return Ack(ok=True, body=json.loads(text) if text else None)
    return Ack(ok=True, body=text or None)
