"""The menu's entry "Post-mortem": who may see the incident here asks for the file. Must not write the post-mortem."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from bot.ports.chat import ChatMessage
from bot.slack.listeners.context import UseCases
from bot.slack.listeners.details import require_reader
from bot.slack.listeners.resolve import read_channel_id, read_user
from bot.slack.views.brief.sections import MAX_ID
from bot.slack.views.markup import prose
from bot.slack.views.surfaces import render_note
from bot.workflows.resolutions.postmortem import RequestPostmortem

NEEDED = "files:write"
NO_SCOPE = (
    "I cannot post files: the app lacks the scope files:write. Add it under OAuth & Permissions and reinstall the app; "
    "until then the operator has `precedent export --postmortem`."
)


async def ask_postmortem(
    deps: UseCases, client: AsyncWebClient, body: Mapping[str, Any], incident_id: str
) -> ChatMessage:
    """Owe the file, and say so. Raises IncidentNotFound, NotAllowedHere."""
    await require_reader(deps, incident_id, body)
    scopes = (await client.auth_test()).headers.get("x-oauth-scopes") or NEEDED
    if NEEDED not in [scope.strip() for scope in scopes.split(",")]:
        return render_note(NO_SCOPE)
    name = prose(incident_id, MAX_ID)
    if await RequestPostmortem(deps.store, deps.clock)(incident_id, read_channel_id(body), read_user(body)):
        return render_note(f"The post-mortem of *{name}* comes as a file in its thread, with what people said there.")
    return render_note(f"The post-mortem of *{name}* is in its thread already; nothing was recorded since.")
