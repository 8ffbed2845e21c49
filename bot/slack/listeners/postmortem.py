"""The menu's entry "Post-mortem": who may see the incident here asks for the file. Must not write the post-mortem."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from bot.ports.chat import Message
from bot.slack.listeners.context import Listening
from bot.slack.listeners.details import seen_by
from bot.slack.listeners.resolve import channel_id_of, user_of
from bot.slack.views.brief.sections import MAX_ID
from bot.slack.views.markup import prose
from bot.slack.views.surfaces import note
from bot.workflows.resolutions.postmortem import AskPostmortem

NEEDED = "files:write"
NO_SCOPE = (
    "I cannot post files: the app lacks the scope files:write. Add it under OAuth & Permissions and reinstall the app; "
    "until then the operator has `precedent export --postmortem`."
)


async def asked(deps: Listening, client: AsyncWebClient, body: Mapping[str, Any], incident_id: str) -> Message:
    """Owe the file, and say so. Raises IncidentNotFound, NotAllowedHere."""
    await seen_by(deps, incident_id, body)
    scopes = (await client.auth_test()).headers.get("x-oauth-scopes") or NEEDED
    if NEEDED not in [scope.strip() for scope in scopes.split(",")]:
        return note(NO_SCOPE)
    name = prose(incident_id, MAX_ID)
    if await AskPostmortem(deps.store, deps.clock)(incident_id, channel_id_of(body), user_of(body)):
        return note(f"The post-mortem of *{name}* comes as a file in its thread, with what people said there.")
    return note(f"The post-mortem of *{name}* is in its thread already; nothing was recorded since.")
