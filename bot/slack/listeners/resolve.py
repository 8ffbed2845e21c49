"""Opening the resolve modal from wherever a person asks for it, and recording what comes back.

Who may act on an incident is asked again on submission.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from bot.domain.alerts.alert import Alert, AlertState, Severity
from bot.domain.incidents.opening import describe_symptoms
from bot.domain.text.redaction import mask
from bot.domain.text.tokens import hash_wording
from bot.domain.text.visible import clean
from bot.ports.errors import IncidentNotFound, RecordRejected
from bot.slack import ids
from bot.slack.listeners.context import UseCases
from bot.slack.listeners.interaction import Interaction
from bot.slack.payload import (
    MAX_METADATA,
    Body,
    encode,
    read_channel_id,
    read_message,
    read_object,
    read_root,
    read_text,
    read_ts,
)
from bot.slack.views import resolve_modal
from bot.slack.views.forms import View, read_answers
from bot.slack.views.markup import decode_text
from bot.workflows.resolutions.resolve import FixOutcome, RecordedResolution, Resolution, ResolveForm, Subject

_PERMALINK = re.compile(r"<?https?://[\w.-]+/archives/([A-Z0-9]+)/p(\d{10})(\d{6})(?:\?\S*?thread_ts=(\d+\.\d+))?\S*")
_NUMBER = re.compile(r"(?:inc-)?(\d+)", re.IGNORECASE)
_DOMAIN = re.compile(r"[a-z0-9][a-z0-9-]{0,60}")
NOT_KNOWN = "This is about no incident I know. Use the message menu on the alert: Record resolution."
OUTDATED = "The recommendation has changed since. Press Record… and choose the fix you mean."


async def open_from_command(uses: UseCases, it: Interaction) -> None:
    """Open `/resolve`: the modal of the incident that is named, else the picker."""
    await it.open(_load_from_command(uses, it))


async def _load_from_command(uses: UseCases, it: Interaction) -> View:
    viewer = await uses.access.require_viewer(it.channel_id)
    if it.text:
        incident_id = await read_incident_id(uses, it.text)
        return await load_resolve_view(uses, incident_id, it.channel_id, it.user, called=it.text)
    return resolve_modal.build_pick_view(await uses.list_open_incidents(viewer), {"c": it.channel_id})


async def read_incident_id(uses: UseCases, text: str) -> str:
    """Return the incident that an argument names: an id, or a link to one of its messages; "" for a link to anything else.
    Does not ask whether the asker may know of it."""
    link = _PERMALINK.match(text)
    if link is None:
        number = _NUMBER.fullmatch(text)
        return f"INC-{number[1]}" if number else text
    return await uses.find_incident(link[1], f"{link[2]}.{link[3]}", link[4]) or ""


async def load_resolve_view(
    uses: UseCases, incident_id: str, channel_id: str, user: str, root: str | None = None, *, called: str = ""
) -> View:
    """Return the modal for an incident that this person may see from this channel. `root`: the thread in which it was
    asked for; `called`: what a refusal calls the incident."""
    await uses.access.require_visible(incident_id, channel_id, user, called=called)
    form = await uses.resolve.open_form(incident_id)
    metadata: dict[str, object] = {"i": incident_id, "c": channel_id, "ts": root}
    if form.record and form.record.attempts:
        metadata["n"] = len(form.record.attempts)
    return resolve_modal.build_resolve_view(form, metadata)


async def open_from_button(uses: UseCases, it: Interaction) -> None:
    """Open the modal behind "Record…" under a brief."""
    root = read_root(read_object(it.body, "message"))
    await it.open(load_resolve_view(uses, it.incident_id, it.channel_id, it.user, root))


async def open_from_message(uses: UseCases, it: Interaction) -> None:
    """Open "Record resolution" of a message's menu: for its incident, or for the message itself if it has none."""
    await it.open(_load_from_message(uses, it))


async def _load_from_message(uses: UseCases, it: Interaction) -> View:
    message, channel_id = read_message(it.body), it.channel_id
    incident_id = await uses.find_incident(channel_id, str(message["ts"]), read_text(message, "thread_ts"))
    if incident_id:
        root = read_root(message)
        return await load_resolve_view(uses, incident_id, channel_id, it.user, root, called="of this message")
    await uses.access.require_channel(channel_id)
    await uses.access.require_member(channel_id, it.user)
    found = uses.read(build_event(it.body))
    title, metadata = describe_message(it.body, found if isinstance(found, Alert) else None)
    return resolve_modal.build_resolve_view(ResolveForm(None, title), metadata)


def build_event(body: Body) -> dict[str, object]:
    """Return the message of a message shortcut in the form in which events carry messages."""
    return {**read_message(body), "type": "message", "channel": read_channel_id(body)}


def describe_message(body: Body, alert: Alert | None) -> tuple[str, dict[str, object]]:
    """Return the title and the metadata of a modal about a message that has no incident.

    What does not fit into the metadata is left out, the least important first; a fingerprint is never cut.
    """
    message, channel_id = read_message(body), read_channel_id(body)
    text = mask(clean(decode_text(str(message.get("text") or ""))))[0]  # a parser masks an alert's title itself
    title = (alert.title if alert else None) or text or "Message"
    root = read_root(message) or ""
    base: dict[str, object] = {
        "c": channel_id,
        "ts": root,
        "t": title[:150],
        "u": build_permalink(body, channel_id, root),
    }
    packed = pack_alert(alert) if alert else {}
    for left_out in ((), ("labels",), ("labels", "text"), tuple(packed)):
        metadata = base | {"a": {k: v for k, v in packed.items() if k not in left_out}}
        if len(encode(metadata, 1_000_000)) < MAX_METADATA:
            break
    return title, metadata


def build_permalink(body: Body, channel_id: str, ts: str) -> str | None:
    """Return the message's address, made of what the request holds: asking Slack would cost time that a modal has not."""
    domain = read_text(read_object(body, "team"), "domain") or ""
    if not _DOMAIN.fullmatch(domain):
        return None
    return f"https://{domain}.slack.com/archives/{channel_id}/p{ts.replace('.', '')}"


_PACKED = ("tool", "fingerprint", "title", "service", "environment", "region", "vendor")


def pack_alert(alert: Alert) -> dict[str, object]:
    """Return what a record needs of an alert, as JSON values."""
    values: dict[str, object] = {name: getattr(alert, name) for name in _PACKED if getattr(alert, name)}
    values["severity"] = alert.severity.value if alert.severity else None
    values["labels"] = dict(alert.labels)
    values["text"] = "; ".join(describe_symptoms(alert))[:500]
    return values


def unpack_alert(values: Mapping[str, object]) -> Alert | None:
    """Return the alert that `pack_alert` wrote, or None if it was left out."""
    tool, fingerprint = read_text(values, "tool"), read_text(values, "fingerprint")
    if not tool or not fingerprint:
        return None
    severity, labels = read_text(values, "severity"), read_object(values, "labels")
    return Alert(
        tool,
        AlertState.FIRING,
        fingerprint,
        title=read_text(values, "title"),
        severity=Severity(severity) if severity in set(Severity) else None,
        service=read_text(values, "service"),
        environment=read_text(values, "environment"),
        region=read_text(values, "region"),
        vendor=read_text(values, "vendor"),
        labels={str(k): str(v) for k, v in labels.items()},
        text=read_text(values, "text") or "",
    )


async def pick(uses: UseCases, it: Interaction) -> View:
    """Return the modal for the incident chosen in the picker."""
    chosen = read_answers(it.view).get(ids.INCIDENT)
    if chosen is None:
        raise RecordRejected("incident", "Choose an incident.")
    return await load_resolve_view(uses, chosen, read_text(it.metadata, "c") or "", it.user)


async def record(uses: UseCases, it: Interaction) -> View | None:
    """Record what the modal holds, durably; return what the person should know. Raises what `Resolve` raises,
    RecordRejected with the field."""
    view_id, metadata, (incident_id, channel_id) = it.view_id, it.metadata, it.place
    form, subject = resolve_modal.NOTHING, None
    if incident_id:
        await uses.access.require_visible(incident_id, channel_id, it.user)
        form = await uses.resolve.open_form(incident_id)
    else:
        subject = await _read_subject(uses, it)
    root = read_ts(metadata)
    thread = (channel_id, root) if channel_id and root else None
    resolution = replace(resolve_modal.read_submission(it.view, form, subject), thread=thread)
    recorded = await uses.resolve(resolution, it.user, f"view:{view_id}")
    count = metadata.get("n")
    known = count if isinstance(count, int) and count >= 0 else 0
    return resolve_modal.build_recorded_view(recorded, it.user, known)


async def _read_subject(uses: UseCases, it: Interaction) -> Subject:
    """Return the message that a modal without an incident is about, if this person may (still) see it."""
    metadata, (_, channel_id) = it.metadata, it.place
    ts = read_ts(metadata)
    if not channel_id or not ts:
        raise IncidentNotFound(NOT_KNOWN)
    channel = await uses.access.require_channel(channel_id)
    await uses.access.require_member(channel_id, it.user)
    alert = unpack_alert(read_object(metadata, "a"))
    return Subject(channel, ts, read_text(metadata, "t") or "Message", alert, read_text(metadata, "u"))


async def record_suggested_fix(uses: UseCases, it: Interaction, channel_id: str) -> RecordedResolution:
    """Record the fix that the brief in this channel shows as seen to work. Raises RecordRejected if the brief's fix is
    another by now: nobody may be recorded as having confirmed what they did not see."""
    key = read_text(it.value, "f") or ""
    await uses.access.require_visible(it.incident_id, channel_id, it.user)
    shown = await uses.resolve.find_suggested_fix(it.incident_id)
    if shown is None or hash_wording(shown) != key:
        raise RecordRejected("", OUTDATED)
    form = await uses.resolve.open_form(it.incident_id)
    fix = form.known_fixes[0]
    runbook = resolve_modal.find_carried_runbook(fix, form.runbooks)
    resolution = Resolution(FixOutcome.RECOVERED, it.incident_id, fix=fix.fix, suggested=True, runbook=runbook)
    return await uses.resolve(resolution, it.user, f"fixed:{it.incident_id}:{it.user}:{key}")
