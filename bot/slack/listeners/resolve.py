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

from bot.domain.alerts.alert import Alert, AlertState, Severity
from bot.domain.incidents.opening import symptom_words
from bot.domain.text.redaction import mask
from bot.ports.errors import IncidentNotFound, RecordRejected
from bot.slack import ids
from bot.slack.listeners.context import (
    UseCases,
    list_open_incidents,
    require_member,
    require_recordable_channel,
    require_viewer,
    require_visible,
)
from bot.slack.views import resolve_modal
from bot.slack.views.forms import View, read_answers
from bot.slack.views.markup import clean, decode_text
from bot.workflows.resolutions.resolve import FixOutcome, RecordedResolution, Resolution, ResolveForm, Subject

Body = Mapping[str, Any]

# Slack's trigger to open a modal is good for three seconds.
OPEN_WITHIN_S = 2.5
_PERMALINK = re.compile(r"<?https?://[\w.-]+/archives/([A-Z0-9]+)/p(\d{10})(\d{6})(?:\?\S*?thread_ts=(\d+\.\d+))?\S*")
_NUMBER = re.compile(r"(?:inc-)?(\d+)", re.IGNORECASE)
_DOMAIN = re.compile(r"[a-z0-9][a-z0-9-]{0,60}")
_TS = re.compile(r"\d{1,11}\.\d{1,6}", re.ASCII)
NOT_KNOWN = "This is about no incident I know. Use the message menu on the alert: Record resolution."
UNREADABLE = "Slack sent this without what I need to answer it. Please do it once more."


async def open_from_command(deps: UseCases, client: AsyncWebClient, body: Body) -> None:
    """`/resolve`: the incident that is named, else the picker."""
    said, channel_id, trigger = str(body.get("text") or "").strip(), read_channel_id(body), read_trigger(body)
    async with asyncio.timeout(OPEN_WITHIN_S):
        viewer = await require_viewer(deps.chat, channel_id)
        if said:
            incident_id = await read_incident_id(deps, said)
            view = await load_resolve_view(deps, incident_id, channel_id, read_user(body), said=said)
        else:
            view = resolve_modal.build_pick_view(await list_open_incidents(deps, viewer), {"c": channel_id})
        await client.views_open(trigger_id=trigger, view=view)


async def read_incident_id(deps: UseCases, said: str) -> str:
    """The incident that an argument names: an id, or a link to one of its messages; "" for a link to anything else.
    Whether the asker may know of it is not asked here."""
    link = _PERMALINK.match(said)
    if link is None:
        number = _NUMBER.fullmatch(said)
        return f"INC-{number[1]}" if number else said
    return await find_incident(deps, link[1], f"{link[2]}.{link[3]}", link[4]) or ""


async def find_incident(deps: UseCases, channel_id: str, ts: str, thread_ts: str | None) -> str | None:
    """The incident of a message, or of the thread it stands in."""
    found = await deps.store.find_incident(channel_id, ts)
    if found is None and thread_ts and thread_ts != ts:
        found = await deps.store.find_incident(channel_id, thread_ts)
    return found


async def load_resolve_view(
    deps: UseCases,
    incident_id: str,
    channel_id: str,
    user_id: str,
    root: str | None = None,
    *,
    said: str | None = None,
) -> View:
    """The modal for an incident that this person may see from this channel. `root`: the thread in which it was asked
    for; `said`: what a refusal calls the incident."""
    await require_visible(deps, incident_id, channel_id, user_id, said=said)
    form = await deps.resolve.open_form(incident_id)
    metadata: dict[str, Any] = {"i": incident_id, "c": channel_id, "ts": root}
    if form.record and form.record.attempts:
        metadata["n"] = len(form.record.attempts)
    return resolve_modal.build_resolve_view(form, metadata)


def read_attempts_shown(body: Body) -> int:
    """How many attempts the record had when the modal was opened."""
    count = ids.decode(ids.read_object(body, "view").get("private_metadata")).get("n")
    return count if isinstance(count, int) and count >= 0 else 0


async def open_from_button(deps: UseCases, client: AsyncWebClient, body: Body, value: str) -> None:
    """ "Record…" under a brief."""
    incident_id = ids.read_text(ids.decode(value), "i") or ""
    async with asyncio.timeout(OPEN_WITHIN_S):
        root = read_root(ids.read_object(body, "message"))
        view = await load_resolve_view(deps, incident_id, read_channel_id(body), read_user(body), root)
        await client.views_open(trigger_id=read_trigger(body), view=view)


async def open_from_message(deps: UseCases, client: AsyncWebClient, body: Body) -> None:
    """ "Record resolution" in a message's menu: its incident, or the message itself if it has none."""
    message, channel_id, user = read_message(body), read_channel_id(body), read_user(body)
    async with asyncio.timeout(OPEN_WITHIN_S):
        found = await find_incident(deps, channel_id, str(message["ts"]), message.get("thread_ts"))
        if found:
            view = await load_resolve_view(deps, found, channel_id, user, read_root(message), said="of this message")
        else:
            await require_recordable_channel(deps.chat, channel_id)
            await require_member(deps.chat, channel_id, user)
            title, metadata = describe_message(deps, body)
            view = resolve_modal.build_resolve_view(ResolveForm(None, title), metadata)
        await client.views_open(trigger_id=read_trigger(body), view=view)


def read_channel_id(body: Body) -> str:
    """The channel that a command or an interaction comes from; "" where Slack names none."""
    of_interaction = ids.read_text(ids.read_object(body, "channel"), "id")
    return (
        of_interaction
        or ids.read_text(ids.read_object(body, "container"), "channel_id")
        or ids.read_text(body, "channel_id")
        or ""
    )


def read_user(body: Body) -> str:
    """The id of the person who acts; raises RecordRejected where Slack names nobody."""
    return _require_text(ids.read_text(ids.read_object(body, "user"), "id") or ids.read_text(body, "user_id"))


def read_trigger(body: Body) -> str:
    """What opens a modal; raises RecordRejected where it is missing."""
    return _require_text(ids.read_text(body, "trigger_id"))


def read_message(body: Body) -> Mapping[str, Any]:
    """The message of a message shortcut; raises RecordRejected where it is missing or is no message."""
    message = ids.read_object(body, "message")
    _require_text(ids.read_text(message, "ts"))
    return message


def _require_text(text: str | None) -> str:
    if text is None:
        raise RecordRejected("", UNREADABLE)
    return text


def read_root(message: Body) -> str | None:
    """The ts of the thread that a message stands in or would begin."""
    return str(message.get("thread_ts") or message.get("ts") or "") or None


def build_event(body: Body) -> dict[str, Any]:
    """The message of a message shortcut, in the form in which events carry messages."""
    return {**read_message(body), "type": "message", "channel": read_channel_id(body)}


def describe_message(deps: UseCases, body: Body) -> tuple[str, dict[str, Any]]:
    """The title and the metadata of a modal about a message that has no incident. What does not fit is left out, the
    least important first; an identity is never cut."""
    message, channel_id = read_message(body), read_channel_id(body)
    read = deps.read(build_event(body))
    alert = read if isinstance(read, Alert) else None
    said = mask(clean(decode_text(str(message.get("text") or ""))))[0]  # a reader masks an alert's title itself
    title = (alert.title if alert else None) or said or "Message"
    root = read_root(message) or ""
    base = {"c": channel_id, "ts": root, "t": title[:150], "u": build_permalink(body, channel_id, root)}
    kept = pack_alert(alert) if alert else {}
    for left_out in ((), ("labels",), ("labels", "text"), tuple(kept)):
        metadata = base | {"a": {k: v for k, v in kept.items() if k not in left_out}}
        if len(ids.encode(metadata, 1_000_000)) < ids.MAX_METADATA:
            break
    return title, metadata


def build_permalink(body: Body, channel_id: str, ts: str) -> str | None:
    """The message's address, made of what the request says: asking Slack would cost time that a modal has not."""
    domain = ids.read_text(ids.read_object(body, "team"), "domain") or ""
    return (
        f"https://{domain}.slack.com/archives/{channel_id}/p{ts.replace('.', '')}"
        if _DOMAIN.fullmatch(domain)
        else None
    )


_PACKED = ("tool", "fingerprint", "title", "service", "environment", "region", "vendor")


def pack_alert(alert: Alert) -> dict[str, Any]:
    """What a record needs of an alert, as JSON values."""
    values: dict[str, Any] = {name: getattr(alert, name) for name in _PACKED if getattr(alert, name)}
    values["severity"] = alert.severity.value if alert.severity else None
    values["labels"] = dict(alert.labels)
    values["text"] = "; ".join(symptom_words(alert))[:500]
    return values


def unpack_alert(values: Mapping[str, Any]) -> Alert | None:
    """The alert that `packed` wrote, or None if it was left out."""
    tool, fingerprint = ids.read_text(values, "tool"), ids.read_text(values, "fingerprint")
    if not tool or not fingerprint:
        return None
    severity, labels = ids.read_text(values, "severity"), ids.read_object(values, "labels")
    return Alert(
        tool,
        AlertState.FIRING,
        fingerprint,
        title=ids.read_text(values, "title"),
        severity=Severity(severity) if severity in set(Severity) else None,
        service=ids.read_text(values, "service"),
        environment=ids.read_text(values, "environment"),
        region=ids.read_text(values, "region"),
        vendor=ids.read_text(values, "vendor"),
        labels={str(k): str(v) for k, v in labels.items()},
        text=ids.read_text(values, "text") or "",
    )


async def record_submission(deps: UseCases, body: Body) -> RecordedResolution:
    """Record what the modal says, durably. Raises what `Resolve` raises, RecordRejected with the field."""
    view, user = ids.read_object(body, "view"), read_user(body)
    view_id, metadata = _require_text(ids.read_text(view, "id")), ids.decode(view.get("private_metadata"))
    incident_id, channel_id = ids.read_text(metadata, "i"), ids.read_text(metadata, "c")
    form, subject = resolve_modal.NOTHING, None
    if incident_id:
        await require_visible(deps, incident_id, channel_id or "", user)
        form = await deps.resolve.open_form(incident_id)
    else:
        subject = await read_subject(deps, metadata, user)
    said = resolve_modal.read_submission(view, form, subject)
    root = read_ts(metadata)
    resolution = replace(said, thread=(channel_id, root) if channel_id and root else None)
    return await deps.resolve(resolution, user, f"view:{view_id}")


def read_ts(metadata: Mapping[str, Any]) -> str | None:
    """The message's time in a modal's metadata, if it is one."""
    ts = ids.read_text(metadata, "ts")
    return ts if ts and _TS.fullmatch(ts) else None


async def read_subject(deps: UseCases, metadata: Mapping[str, Any], user_id: str) -> Subject:
    """The message that a modal without an incident is about, if this person may (still) see it."""
    channel_id, ts = ids.read_text(metadata, "c"), read_ts(metadata)
    if not channel_id or not ts:
        raise IncidentNotFound(NOT_KNOWN)
    channel = await require_recordable_channel(deps.chat, channel_id)
    await require_member(deps.chat, channel_id, user_id)
    alert = unpack_alert(ids.read_object(metadata, "a"))
    return Subject(channel, ts, ids.read_text(metadata, "t") or "Message", alert, ids.read_text(metadata, "u"))


async def load_picked_view(deps: UseCases, body: Body) -> View:
    """The modal for the incident chosen in the picker."""
    view = ids.read_object(body, "view")
    chosen = read_answers(view).get(ids.INCIDENT)
    if chosen is None:
        raise RecordRejected("incident", "Choose an incident.")
    channel_id = ids.read_text(ids.decode(view.get("private_metadata")), "c") or ""
    return await load_resolve_view(deps, chosen, channel_id, read_user(body))


async def record_suggested_fix(
    deps: UseCases, body: Body, value: str, channel_id: str | None = None
) -> RecordedResolution:
    """ "This fixed it": the fix that the brief shows, seen to work; `channel_id` is the brief's where the button stands
    elsewhere. Raises RecordRejected if the brief's fix is another by now, for nobody may be recorded as having confirmed
    what they did not see."""
    said, user = ids.decode(value), read_user(body)
    incident_id, key = ids.read_text(said, "i") or "", ids.read_text(said, "f") or ""
    await require_visible(deps, incident_id, channel_id or read_channel_id(body), user)
    shown = await deps.resolve.find_suggested_fix(incident_id)
    if shown is None or ids.hash_fix(shown) != key:
        raise RecordRejected("", "The recommendation has changed since. Press Record… and choose the fix you mean.")
    form = await deps.resolve.open_form(incident_id)
    fix = form.known_fixes[0]
    runbook = resolve_modal.find_carried_runbook(fix, form.runbooks)
    resolution = Resolution(FixOutcome.RECOVERED, incident_id, fix=fix.fix, suggested=True, runbook=runbook)
    return await deps.resolve(resolution, user, f"fixed:{incident_id}:{user}:{key}")
