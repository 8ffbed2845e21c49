"""The Bolt app: middleware that writes events down before they are acknowledged, the listeners, and one error handler.

The one place of the Slack layer where an unknown failure becomes words for a person.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import re
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import replace

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.error import BoltUnhandledRequestError
from slack_bolt.response import BoltResponse
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.observability import EVENTS, get_logger, set_correlation_id
from bot.ports.delivery.inbox import ReceivedEvent
from bot.ports.errors import IncidentNotFound, NotAllowedHere, PrecedentError, RecordRejected, StoreUnavailable
from bot.slack.client.chat import read_error_code
from bot.slack.inbound.events import OwnIdentity, is_event, read_reply, receive
from bot.slack.listeners import routes, shadow
from bot.slack.listeners.app_events import HANDLERS
from bot.slack.listeners.context import UseCases
from bot.slack.payload import Body, BoltCall, read_object, read_text
from bot.slack.views import resolve_modal
from bot.slack.views.markup import prose

__all__ = ["HANDLERS", "UseCases", "build_app", "build_correlation_id"]

log = get_logger("slack")
TOO_LATE = frozenset({"expired_trigger_id", "exchanged_trigger_id", "trigger_expired", "trigger_exchanged"})
# Bolt looks for the acknowledgement every 10 ms, and forgets one that an error follows sooner: then Slack would get none,
# and the next listener would run, too.
ACK_SEEN_S = 0.05
Next = Callable[[], Awaitable[object]]


def build_app(client: AsyncWebClient, signing_secret: str | None, uses: UseCases) -> AsyncApp:
    """Return the app with all its listeners. Without a signing secret only Socket Mode can carry requests: over HTTP no
    request passes for Slack's."""
    app = AsyncApp(
        name="precedent",
        client=client,
        signing_secret=signing_secret or secrets.token_hex(32),
        logger=_build_bolt_logger(),
        before_authorize=_build_recorder(uses),
        raise_error_for_unhandled_request=True,
    )
    app.event(re.compile(".*"))(_acknowledge)
    app.error(_handle_error)
    routes.register(app, uses)
    return app


def _build_bolt_logger() -> logging.Logger:
    """Return Bolt's own log, for errors only: below that it writes whole requests."""
    bolt = logging.getLogger("bot.slack.bolt")
    bolt.setLevel(logging.ERROR)
    return bolt


def build_correlation_id(body: Body) -> str:
    """Return the id under which everything about a request is logged: the event's own, else a hash of the request."""
    known = body.get("event_id")
    if isinstance(known, str):
        return known
    return hashlib.sha256(json.dumps(body, sort_keys=True, default=str).encode("utf-8", "replace")).hexdigest()[:10]


def _build_recorder(uses: UseCases) -> Callable[..., Awaitable[None]]:
    """Return the middleware that puts events into the inbox.

    It runs after the signature check and before Bolt asks Slack who we are: where Slack does not answer that, Bolt
    acknowledges an event and drops it, and by then it must be in the inbox.
    """
    us = OwnIdentity(uses.identity.bot_id, uses.identity.user_id) if uses.identity else None

    async def record_event(body: dict[str, object], context: AsyncBoltContext, next: Next) -> None:  # noqa: A002  # Bolt injects by this name
        context["correlation"] = build_correlation_id(body)
        set_correlation_id(context["correlation"])
        if is_event(body):
            received = await _recognize_answer(uses, body, receive(body, uses.read, us))
            new = received is not None and await uses.inbox.receive(received)
            kind = received.kind if received else "own"
            EVENTS.labels(kind, "new" if new else "known").inc()
        else:
            await shadow.redirect_press(body, uses.find_shadowed)
        await next()

    return record_event


async def _recognize_answer(uses: UseCases, body: Body, received: ReceivedEvent | None) -> ReceivedEvent | None:
    """Return what was received; a person's answer to what the bot asked them in a thread becomes a message to the bot."""
    if received is None or received.body is not None or received.kind != "message" or uses.converse is None:
        return received
    facts = read_reply(body)
    if facts is None:
        return received
    place = (str(facts.get(key)) for key in ("channel", "thread_ts", "user", "ts"))
    if not await uses.converse.is_awaited(*place):
        return received
    return replace(received, kind="app_mention", body={"event": facts, "team_id": body.get("team_id")})


async def _acknowledge() -> None:
    """Let Bolt acknowledge every type of event; the inbox has the work."""


async def _handle_error(
    error: Exception, body: dict[str, object], context: AsyncBoltContext, respond: BoltCall
) -> BoltResponse | None:
    """Tell the person in one sentence, in the place they look at; the log gets the rest. Events are not acknowledged, so
    that Slack delivers them again."""
    reference = context.get("correlation", "-")
    if isinstance(error, BoltUnhandledRequestError):
        log.info("nothing is done about this request", request_type=str(body.get("type"))[:80])
        return BoltResponse(status=200, body="")
    if is_event(body):
        event_type = read_text(read_object(body, "event"), "type")
        log.warning("event not acknowledged", error=repr(error), event_type=event_type)
        EVENTS.labels(str(event_type), "refused").inc()
        return BoltResponse(status=503, body="")
    sentence = format_error(error, reference)
    if sentence.startswith("Something"):
        log.error("listener failed", error=repr(error), exc_info=error)
    if body.get("type") == "view_submission":
        return _show_in_modal(error, sentence, body)
    return await _answer_ephemerally(sentence, body, context, respond)


def format_error(error: Exception, reference: str) -> str:
    """Return what a person is told about a failure."""
    if isinstance(error, SlackApiError) and read_error_code(error) in TOO_LATE:  # its answer may be none of Slack's
        return "That took longer than Slack waits. Please try again."
    if isinstance(error, TimeoutError):
        return "That took too long, and nothing was changed. Please try again."
    if isinstance(error, StoreUnavailable):
        return f"Not saved: {error}"
    if isinstance(error, PrecedentError):
        return str(error)
    return (
        f"Something went wrong here; nothing was saved. Please try again, or tell the operator: reference {reference}."
    )


def _show_in_modal(error: Exception, sentence: str, body: Body) -> BoltResponse:
    """Return the error for the modal, which keeps what was typed."""
    field, text = (error.field, error.reason) if isinstance(error, RecordRejected) else ("", sentence)
    if field == "" and not isinstance(error, RecordRejected | IncidentNotFound | NotAllowedHere):
        text = f"{sentence.rstrip('.')}. Your text is still here: try again."
    errors = {resolve_modal.find_block(field, read_object(body, "view")): text[:2000]}
    return BoltResponse(status=200, body={"response_action": "errors", "errors": errors})


async def _answer_ephemerally(
    sentence: str, body: Body, context: AsyncBoltContext, respond: BoltCall
) -> BoltResponse | None:
    """Answer the person alone: with the acknowledgement if a command still waits for it, else beside the message."""
    text = prose(sentence, 600)
    acknowledged = context.ack.response is not None
    if acknowledged:
        await asyncio.sleep(ACK_SEEN_S)
    if not acknowledged and body.get("command"):
        return BoltResponse(status=200, body={"response_type": "ephemeral", "text": text})
    try:
        if body.get("response_url"):
            thread = read_text(read_object(body, "message"), "thread_ts")
            await respond(text=text, response_type="ephemeral", replace_original=False, thread_ts=thread)
    except Exception as problem:  # this is the last resort: its own failure can only be logged
        log.warning("could not tell the person", error=repr(problem))
    return None if acknowledged else BoltResponse(status=200, body="")
