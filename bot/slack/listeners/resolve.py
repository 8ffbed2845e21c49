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
from bot.ports import IncidentNotFound, RecordRejected
from bot.slack import ids
from bot.slack.listeners.context import (
    Listening,
    asker_in,
    channel_of_record,
    open_incidents,
    require_member,
    require_visible,
)
from bot.slack.views import resolve_modal
from bot.slack.views.forms import View, answers
from bot.slack.views.markup import clean, reading
from bot.workflows.resolutions.resolve import Outcome, Recorded, Resolution, ResolveForm, Subject

Body = Mapping[str, Any]

# Slack's trigger to open a modal is good for three seconds.
OPEN_WITHIN_S = 2.5
_PERMALINK = re.compile(r"<?https?://[\w.-]+/archives/([A-Z0-9]+)/p(\d{10})(\d{6})(?:\?\S*?thread_ts=(\d+\.\d+))?\S*")
_NUMBER = re.compile(r"(?:inc-)?(\d+)", re.IGNORECASE)
_DOMAIN = re.compile(r"[a-z0-9][a-z0-9-]{0,60}")
_TS = re.compile(r"\d{1,11}\.\d{1,6}", re.ASCII)
NOT_KNOWN = "This is about no incident I know. Use the message menu on the alert: Record resolution."
UNREADABLE = "Slack sent this without what I need to answer it. Please do it once more."


async def open_from_command(deps: Listening, client: AsyncWebClient, body: Body) -> None:
    """`/resolve`: the incident that is named, else the picker."""
    said, channel_id, trigger = str(body.get("text") or "").strip(), channel_id_of(body), trigger_of(body)
    async with asyncio.timeout(OPEN_WITHIN_S):
        viewer = await asker_in(deps.chat, channel_id)
        if said:
            incident_id = await named(deps, said)
            view = await view_for(deps, incident_id, channel_id, user_of(body), said=said)
        else:
            view = resolve_modal.pick_view(await open_incidents(deps, viewer), {"c": channel_id})
        await client.views_open(trigger_id=trigger, view=view)


async def named(deps: Listening, said: str) -> str:
    """The incident that an argument names: an id, or a link to one of its messages; "" for a link to anything else.
    Whether the asker may know of it is not asked here."""
    link = _PERMALINK.match(said)
    if link is None:
        number = _NUMBER.fullmatch(said)
        return f"INC-{number[1]}" if number else said
    return await incident_of(deps, link[1], f"{link[2]}.{link[3]}", link[4]) or ""


async def incident_of(deps: Listening, channel_id: str, ts: str, thread_ts: str | None) -> str | None:
    """The incident of a message, or of the thread it stands in."""
    found = await deps.store.incident_at(channel_id, ts)
    if found is None and thread_ts and thread_ts != ts:
        found = await deps.store.incident_at(channel_id, thread_ts)
    return found


async def view_for(
    deps: Listening,
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
    form = await deps.resolve.form(incident_id)
    metadata: dict[str, Any] = {"i": incident_id, "c": channel_id, "ts": root}
    if form.record and form.record.attempts:
        metadata["n"] = len(form.record.attempts)
    return resolve_modal.resolve_view(form, metadata)


def attempts_shown(body: Body) -> int:
    """How many attempts the record had when the modal was opened."""
    count = ids.decode(ids.object_of(body, "view").get("private_metadata")).get("n")
    return count if isinstance(count, int) and count >= 0 else 0


async def open_from_button(deps: Listening, client: AsyncWebClient, body: Body, value: str) -> None:
    """ "Record…" under a brief."""
    incident_id = ids.text_of(ids.decode(value), "i") or ""
    async with asyncio.timeout(OPEN_WITHIN_S):
        root = root_of(ids.object_of(body, "message"))
        view = await view_for(deps, incident_id, channel_id_of(body), user_of(body), root)
        await client.views_open(trigger_id=trigger_of(body), view=view)


async def open_from_message(deps: Listening, client: AsyncWebClient, body: Body) -> None:
    """ "Record resolution" in a message's menu: its incident, or the message itself if it has none."""
    message, channel_id, user = message_of(body), channel_id_of(body), user_of(body)
    async with asyncio.timeout(OPEN_WITHIN_S):
        found = await incident_of(deps, channel_id, str(message["ts"]), message.get("thread_ts"))
        if found:
            view = await view_for(deps, found, channel_id, user, root_of(message), said="of this message")
        else:
            await channel_of_record(deps.chat, channel_id)
            await require_member(deps.chat, channel_id, user)
            title, metadata = about_message(deps, body)
            view = resolve_modal.resolve_view(ResolveForm(None, title), metadata)
        await client.views_open(trigger_id=trigger_of(body), view=view)


def channel_id_of(body: Body) -> str:
    """The channel that a command or an interaction comes from; "" where Slack names none."""
    of_interaction = ids.text_of(ids.object_of(body, "channel"), "id")
    return (
        of_interaction
        or ids.text_of(ids.object_of(body, "container"), "channel_id")
        or ids.text_of(body, "channel_id")
        or ""
    )


def user_of(body: Body) -> str:
    """The id of the person who acts; raises RecordRejected where Slack names nobody."""
    return _needed(ids.text_of(ids.object_of(body, "user"), "id") or ids.text_of(body, "user_id"))


def trigger_of(body: Body) -> str:
    """What opens a modal; raises RecordRejected where it is missing."""
    return _needed(ids.text_of(body, "trigger_id"))


def message_of(body: Body) -> Mapping[str, Any]:
    """The message of a message shortcut; raises RecordRejected where it is missing or is no message."""
    message = ids.object_of(body, "message")
    _needed(ids.text_of(message, "ts"))
    return message


def _needed(text: str | None) -> str:
    if text is None:
        raise RecordRejected("", UNREADABLE)
    return text


def root_of(message: Body) -> str | None:
    """The ts of the thread that a message stands in or would begin."""
    return str(message.get("thread_ts") or message.get("ts") or "") or None


def event_of(body: Body) -> dict[str, Any]:
    """The message of a message shortcut, in the form in which events carry messages."""
    return {**message_of(body), "type": "message", "channel": channel_id_of(body)}


def about_message(deps: Listening, body: Body) -> tuple[str, dict[str, Any]]:
    """The title and the metadata of a modal about a message that has no incident. What does not fit is left out, the
    least important first; an identity is never cut."""
    message, channel_id = message_of(body), channel_id_of(body)
    read = deps.read(event_of(body))
    alert = read if isinstance(read, Alert) else None
    said = mask(clean(reading(str(message.get("text") or ""))))[0]  # a reader masks an alert's title itself
    title = (alert.title if alert else None) or said or "Message"
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
    domain = ids.text_of(ids.object_of(body, "team"), "domain") or ""
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
    severity, labels = ids.text_of(values, "severity"), ids.object_of(values, "labels")
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
    view, user = ids.object_of(body, "view"), user_of(body)
    view_id, metadata = _needed(ids.text_of(view, "id")), ids.decode(view.get("private_metadata"))
    incident_id, channel_id = ids.text_of(metadata, "i"), ids.text_of(metadata, "c")
    form, subject = resolve_modal.NOTHING, None
    if incident_id:
        await require_visible(deps, incident_id, channel_id or "", user)
        form = await deps.resolve.form(incident_id)
    else:
        subject = await subject_of(deps, metadata, user)
    said = resolve_modal.read_submission(view, form, subject)
    root = ts_of(metadata)
    resolution = replace(said, thread=(channel_id, root) if channel_id and root else None)
    return await deps.resolve(resolution, user, f"view:{view_id}")


def ts_of(metadata: Mapping[str, Any]) -> str | None:
    """The message's time in a modal's metadata, if it is one."""
    ts = ids.text_of(metadata, "ts")
    return ts if ts and _TS.fullmatch(ts) else None


async def subject_of(deps: Listening, metadata: Mapping[str, Any], user_id: str) -> Subject:
    """The message that a modal without an incident is about, if this person may (still) see it."""
    channel_id, ts = ids.text_of(metadata, "c"), ts_of(metadata)
    if not channel_id or not ts:
        raise IncidentNotFound(NOT_KNOWN)
    channel = await channel_of_record(deps.chat, channel_id)
    await require_member(deps.chat, channel_id, user_id)
    alert = unpacked(ids.object_of(metadata, "a"))
    return Subject(channel, ts, ids.text_of(metadata, "t") or "Message", alert, ids.text_of(metadata, "u"))


async def picked(deps: Listening, body: Body) -> View:
    """The modal for the incident chosen in the picker."""
    view = ids.object_of(body, "view")
    chosen = answers(view).get(ids.INCIDENT)
    if chosen is None:
        raise RecordRejected("incident", "Choose an incident.")
    channel_id = ids.text_of(ids.decode(view.get("private_metadata")), "c") or ""
    return await view_for(deps, chosen, channel_id, user_of(body))


async def fixed(deps: Listening, body: Body, value: str, channel_id: str | None = None) -> Recorded:
    """ "This fixed it": the fix that the brief shows, seen to work; `channel_id` is the brief's where the button stands
    elsewhere. Raises RecordRejected if the brief's fix is another by now, for nobody may be recorded as having confirmed
    what they did not see."""
    said, user = ids.decode(value), user_of(body)
    incident_id, key = ids.text_of(said, "i") or "", ids.text_of(said, "f") or ""
    await require_visible(deps, incident_id, channel_id or channel_id_of(body), user)
    shown = await deps.resolve.suggested_fix(incident_id)
    if shown is None or ids.fix_key(shown) != key:
        raise RecordRejected("", "The recommendation has changed since. Press Record… and choose the fix you mean.")
    form = await deps.resolve.form(incident_id)
    fix = form.known_fixes[0]
    runbook = resolve_modal.carried(fix, form.runbooks)
    resolution = Resolution(Outcome.RECOVERED, incident_id, fix=fix.fix, suggested=True, runbook=runbook)
    return await deps.resolve(resolution, user, f"fixed:{incident_id}:{user}:{key}")
