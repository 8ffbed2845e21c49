"""Handle what people agree on in a channel: its settings, mutes, "Not an alert", dismissed precedents, and undoing
them.

Who may act is asked again when a modal is submitted.
"""

from __future__ import annotations

from bot.ports.errors import NotAllowedHere, RecordRejected
from bot.slack import ids
from bot.slack.listeners.context import UseCases
from bot.slack.listeners.interaction import Interaction
from bot.slack.payload import read_text
from bot.slack.views.channel import render_channel, render_rules
from bot.slack.views.channel_modal import build_channel_view, read_channel_settings
from bot.slack.views.forms import View
from bot.slack.views.silence_modals import build_mute_view, build_not_alert_view, read_mute, read_reach
from bot.slack.views.wrong_precedent_modal import build_wrong_view, read_wrong_precedent
from bot.workflows.channels.silences import AnsweredAlert


async def show_channel(uses: UseCases, it: Interaction) -> None:
    """Answer `/precedent channel` with what is set here."""
    await it.whisper(render_channel(await uses.channels.show(it.channel_id, it.user)))


async def show_rules(uses: UseCases, it: Interaction) -> None:
    """Answer `/precedent rules [page]` with what is silenced here."""
    await uses.access.require_viewer(it.channel_id)
    page = next(iter(it.arguments.split()), "1")
    if not page.isascii() or not page.isdigit() or not 1 <= int(page[:6]) <= 1000:
        raise RecordRejected("", "Say which page: /precedent rules 2.")
    dismissed = await uses.channels.dismiss_precedent.list_dismissed(it.channel_id)
    await it.whisper(render_rules(await uses.channels.silences(it.channel_id), int(page), dismissed))


async def change_settings(uses: UseCases, it: Interaction) -> None:
    """Open the modal of the channel's settings."""
    await it.open(_load_settings(uses, it))


async def _load_settings(uses: UseCases, it: Interaction) -> View:
    await uses.access.require_member(it.channel_id, it.user)
    view = await uses.channels.show(it.channel_id, it.user)
    if not view.may.allowed:
        raise NotAllowedHere(view.may.refusal)
    return build_channel_view(view, {"c": it.channel_id})


async def ask_what_is_wrong(uses: UseCases, it: Interaction) -> None:
    """Open "Wrong precedent…"."""
    await it.open(_load_wrong_view(uses, it))


async def _load_wrong_view(uses: UseCases, it: Interaction) -> View:
    await _find_answered(uses, it.incident_id, it)
    viewer = await uses.access.require_viewer(it.channel_id)
    form = await uses.channels.dismiss_precedent.open_form(it.incident_id, it.channel_id, viewer)
    if not form.lines:
        raise RecordRejected("", "This brief lists no past incident any more.")
    return build_wrong_view(form, {"i": it.incident_id, "c": it.channel_id})


async def ask_what_to_mute(uses: UseCases, it: Interaction) -> None:
    """Open "Mute…"."""
    await it.open(_load_mute_view(uses, it))


async def _load_mute_view(uses: UseCases, it: Interaction) -> View:
    answered = await _find_answered(uses, it.incident_id, it)
    zone = await uses.channels.show.find_zone(it.channel_id)
    return build_mute_view(answered, {"i": it.incident_id, "c": it.channel_id}, zone)


async def ask_what_to_learn(uses: UseCases, it: Interaction) -> None:
    """Open "Not an alert…"."""
    await it.open(_load_not_alert_view(uses, it))


async def _load_not_alert_view(uses: UseCases, it: Interaction) -> View:
    answered = await _find_answered(uses, it.incident_id, it)
    return build_not_alert_view(answered, {"i": it.incident_id, "c": it.channel_id})


async def undo(uses: UseCases, it: Interaction) -> None:
    """End a rule, a mute or a dismissal, and show what is silenced then."""
    channel_id, number, kind = it.channel_id, it.value.get("n"), read_text(it.value, "k") or ""
    number = number if isinstance(number, int) else 0
    await uses.access.require_member(channel_id, it.user)
    if kind == ids.DISMISSED:
        await uses.channels.dismiss_precedent.take_back(number, channel_id, it.user)
        policy = await uses.channels.silences(channel_id)
    else:
        policy = await uses.channels.undo(kind, number, channel_id, it.user)
    dismissed = await uses.channels.dismiss_precedent.list_dismissed(channel_id)
    await it.whisper(render_rules(policy, 1, dismissed), replaces=True)


async def save_settings(uses: UseCases, it: Interaction) -> None:
    """Save the submitted settings. Raises what `ChangeChannel` raises, RecordRejected with the field."""
    settings, pool = read_channel_settings(it.view)
    _, channel_id = it.place
    await uses.access.require_member(channel_id, it.user)
    await uses.channels.change(channel_id, it.user, settings, pool)


async def mute(uses: UseCases, it: Interaction) -> None:
    """Mute as asked. Raises what `MuteAlerts` raises, RecordRejected with the field."""
    incident_id, channel_id = it.place
    answered = await _find_answered(uses, incident_id, it, channel_id)
    form = read_mute(it.view, uses.clock.now(), await uses.channels.show.find_zone(channel_id))
    await uses.channels.mute(answered, channel_id, it.user, form.what, form.until, form.reason, it.view_id)


async def dismiss_alert(uses: UseCases, it: Interaction) -> None:
    """Delete the brief, dismiss the incident, and learn as asked. Raises what `DismissAlert` raises."""
    incident_id, channel_id = it.place
    answered = await _find_answered(uses, incident_id, it, channel_id)
    await uses.channels.dismiss_alert(answered, channel_id, it.user, read_reach(it.view))


async def dismiss_precedent(uses: UseCases, it: Interaction) -> None:
    """Dismiss a precedent as asked. Raises what `DismissPrecedent` raises, RecordRejected with the field."""
    incident_id, channel_id = it.place
    await _find_answered(uses, incident_id, it, channel_id)
    viewer, wrong = await uses.access.require_viewer(channel_id), read_wrong_precedent(it.view)
    await uses.channels.dismiss_precedent(incident_id, channel_id, viewer, it.user, wrong, it.view_id)


async def _find_answered(
    uses: UseCases, incident_id: str, it: Interaction, channel_id: str | None = None
) -> AnsweredAlert:
    """Return the alert that was answered, for a person who may see it in this channel (default: where they pressed)."""
    here = it.channel_id if channel_id is None else channel_id
    await uses.access.require_visible(incident_id, here, it.user)
    return await uses.channels.find(incident_id, here)
