"""Opening the resolve modal from wherever a person asks for it, and reading what comes back.

Must not record: that is the workflow `Resolve`. Who may act on an incident is asked again on submission.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.alert import Alert, AlertState, Severity
from bot.domain.opening import symptom_words
from bot.ports import IncidentNotFound, RecordRejected
from bot.slack import ids, modals
from bot.slack.listening import Listening, channel_of_record, open_incidents, require_visible, viewer_in
from bot.slack.markup import clean, reading
from bot.workflows.resolve import Outcome, Recorded, Resolution, ResolveForm, Subject

Body = Mapping[str, Any]

# Slack's trigger to open a modal is good for three seconds.
OPEN_WITHIN_S = 2.5
_PERMALINK = re.compile(r"<?https?://[\w.-]+/archives/([A-Z0-9]+)/p(\d{10})(\d{6})(?:\?\S*?thread_ts=(\d+\.\d+))?\S*")
_NUMBER = re.compile(r"(?:inc-)?(\d+)", re.IGNORECASE)
_DOMAIN = re.compile(r"[a-z0-9][a-z0-9-]{0,60}")
NOT_KNOWN = "This is about no incident I know. Use the message menu on the alert: Record resolution."


async def open_from_command(deps: Listening, client: AsyncWebClient, body: Body) -> None:
    """`/resolve`: the incident that is named, else the picker."""
    said, channel_id = str(body.get("text") or "").strip(), str(body["channel_id"])
    async with asyncio.timeout(OPEN_WITHIN_S):
        if said:
            view = await view_for(deps, await named(deps, said), channel_id)
        else:
            rows = await open_incidents(deps, await viewer_in(deps.chat, channel_id))
            view = modals.pick_view(rows, {"c": channel_id})
        await client.views_open(trigger_id=str(body["trigger_id"]), view=view)


async def named(deps: Listening, said: str) -> str:
    """The incident that an argument names: an id, or a link to one of its messages. Raises IncidentNotFound."""
    link = _PERMALINK.match(said)
    if link is None:
        number = _NUMBER.fullmatch(said)
        return f"INC-{number[1]}" if number else said
    found = await incident_of(deps, link[1], f"{link[2]}.{link[3]}", link[4])
    if found is None:
        raise IncidentNotFound(NOT_KNOWN)
    return found


async def incident_of(deps: Listening, channel_id: str, ts: str, thread_ts: str | None) -> str | None:
    """The incident of a message, or of the thread it stands in."""
    found = await deps.store.incident_at(channel_id, ts)
    if found is None and thread_ts and thread_ts != ts:
        found = await deps.store.incident_at(channel_id, thread_ts)
    return found


async def view_for(deps: Listening, incident_id: str, channel_id: str, root: str | None = None) -> modals.View:
    """The modal for an incident that people in this channel may see. `root`: the thread in which it was asked for."""
    await require_visible(deps, incident_id, channel_id)
    metadata = {"i": incident_id, "c": channel_id, "ts": root}
    return modals.resolve_view(await deps.resolve.form(incident_id), metadata)


async def open_from_button(deps: Listening, client: AsyncWebClient, body: Body, value: str) -> None:
    """ "Record…" under a brief."""
    incident_id = ids.text_of(ids.decode(value), "i") or ""
    async with asyncio.timeout(OPEN_WITHIN_S):
        view = await view_for(deps, incident_id, channel_id_of(body), root_of(body.get("message") or {}))
        await client.views_open(trigger_id=str(body["trigger_id"]), view=view)


async def open_from_message(deps: Listening, client: AsyncWebClient, body: Body) -> None:
    """ "Record resolution" in a message's menu: its incident, or the message itself if it has none."""
    message, channel_id = body["message"], channel_id_of(body)
    async with asyncio.timeout(OPEN_WITHIN_S):
        found = await incident_of(deps, channel_id, str(message["ts"]), message.get("thread_ts"))
        if found:
            view = await view_for(deps, found, channel_id, root_of(message))
        else:
            await channel_of_record(deps.chat, channel_id)
            title, metadata = about_message(deps, body)
            view = modals.resolve_view(ResolveForm(None, title), metadata)
        await client.views_open(trigger_id=str(body["trigger_id"]), view=view)


def channel_id_of(body: Body) -> str:
    """The channel an interaction happened in."""
    channel = body.get("channel") or {}
    return str(channel.get("id") or (body.get("container") or {}).get("channel_id") or "")


def root_of(message: Body) -> str | None:
    """The ts of the thread that a message stands in or would begin."""
    return str(message.get("thread_ts") or message.get("ts") or "") or None


def event_of(body: Body) -> dict[str, Any]:
    """The message of a message shortcut, in the form in which events carry messages."""
    return {**body["message"], "type": "message", "channel": channel_id_of(body)}


def about_message(deps: Listening, body: Body) -> tuple[str, dict[str, Any]]:
    """The title and the metadata of a modal about a message that has no incident. What does not fit is left out, the
    least important first; an identity is never cut."""
    message, channel_id = body["message"], channel_id_of(body)
    read = deps.read(event_of(body))
    alert = read if isinstance(read, Alert) else None
    title = (alert.title if alert else None) or clean(reading(str(message.get("text") or ""))) or "Message"
    root = root_of(message) or ""
    base = {"c": channel_id, "ts": root, "t": title[:150], "u": permalink(body, channel_id, root)}
    kept = packed(alert) if alert else {}
    for left_out in ((), ("labels",), ("labels", "text"), tuple(kept)):
        metadata = base | {"a": {k: v for k, v in kept.items() if k not in left_out}}
        if len(ids.encode(metadata, 1_000_000)) < ids.MAX_METADATA:
            break
    return title, metadata


def permalink(body: Body, channel_id: str, ts: str) -> str | None:
    """The message's address, made of what the request says: asking Slack would cost time that a modal has not."""
    domain = str((body.get("team") or {}).get("domain") or "")
    return (
        f"https://{domain}.slack.com/archives/{channel_id}/p{ts.replace('.', '')}"
        if _DOMAIN.fullmatch(domain)
        else None
    )


_PACKED = ("tool", "fingerprint", "title", "service", "environment", "region", "vendor")


def packed(alert: Alert) -> dict[str, Any]:
    """What a record needs of an alert, as JSON values."""
    values: dict[str, Any] = {name: getattr(alert, name) for name in _PACKED if getattr(alert, name)}
    values["severity"] = alert.severity.value if alert.severity else None
    values["labels"] = dict(alert.labels)
    values["text"] = "; ".join(symptom_words(alert))[:500]
    return values


def unpacked(values: Mapping[str, Any]) -> Alert | None:
    """The alert that `packed` wrote, or None if it was left out."""
    tool, fingerprint = ids.text_of(values, "tool"), ids.text_of(values, "fingerprint")
    if not tool or not fingerprint:
        return None
    severity, labels = values.get("severity"), values.get("labels") or {}
    return Alert(
        tool,
        AlertState.FIRING,
        fingerprint,
        title=ids.text_of(values, "title"),
        severity=Severity(severity) if severity in set(Severity) else None,
        service=ids.text_of(values, "service"),
        environment=ids.text_of(values, "environment"),
        region=ids.text_of(values, "region"),
        vendor=ids.text_of(values, "vendor"),
        labels={str(k): str(v) for k, v in labels.items()},
        text=ids.text_of(values, "text") or "",
    )


async def submitted(deps: Listening, body: Body) -> Recorded:
    """Record what the modal says, durably. Raises what `Resolve` raises, RecordRejected with the field."""
    view = body["view"]
    metadata = ids.decode(view.get("private_metadata"))
    incident_id = ids.text_of(metadata, "i")
    known: tuple[str, ...] = ()
    subject: Subject | None = None
    if incident_id:
        await require_visible(deps, incident_id, ids.text_of(metadata, "c") or "")
        known = (await deps.resolve.form(incident_id)).known_fixes
    else:
        subject = await subject_of(deps, metadata)
    said = modals.read_submission(view, known, subject)
    channel_id, root = ids.text_of(metadata, "c"), ids.text_of(metadata, "ts")
    resolution = replace(said, thread=(channel_id, root) if channel_id and root else None)
    return await deps.resolve(resolution, str(body["user"]["id"]), f"view:{view['id']}")


async def subject_of(deps: Listening, metadata: Mapping[str, Any]) -> Subject:
    """The message that a modal without an incident is about."""
    channel_id, ts = ids.text_of(metadata, "c"), ids.text_of(metadata, "ts")
    if not channel_id or not ts:
        raise IncidentNotFound(NOT_KNOWN)
    channel = await channel_of_record(deps.chat, channel_id)
    alert = unpacked(metadata.get("a") or {})
    return Subject(channel, ts, ids.text_of(metadata, "t") or "Message", alert, ids.text_of(metadata, "u"))


async def picked(deps: Listening, body: Body) -> modals.View:
    """The modal for the incident chosen in the picker."""
    view = body["view"]
    chosen = modals.answers(view).get(ids.INCIDENT)
    if chosen is None:
        raise RecordRejected("incident", "Choose an incident.")
    return await view_for(deps, chosen, ids.text_of(ids.decode(view.get("private_metadata")), "c") or "")


async def fixed(deps: Listening, body: Body, value: str) -> Recorded:
    """ "This fixed it": the fix that the brief shows, seen to work. Raises RecordRejected if the brief's fix is another by
    now, for nobody may be recorded as having confirmed what they did not see."""
    said, user = ids.decode(value), str(body["user"]["id"])
    incident_id, key = ids.text_of(said, "i") or "", ids.text_of(said, "f") or ""
    await require_visible(deps, incident_id, channel_id_of(body))
    fix = await deps.resolve.suggested_fix(incident_id)
    if fix is None or ids.fix_key(fix) != key:
        raise RecordRejected("", "The recommendation has changed since. Press Record… and choose the fix you mean.")
    resolution = Resolution(Outcome.RECOVERED, incident_id, fix=fix, suggested=True)
    return await deps.resolve(resolution, user, f"fixed:{incident_id}:{user}:{key}")
