"""Look-ups: the answer to a question or to a vendor's name, its pages, and sharing it. Each press asks memory again.

The answer that is shared is the one that its new readers would get: nothing shows where people may not see it.
"""

from __future__ import annotations

from bot.domain.access.visibility import Viewer
from bot.domain.alerts.alert import Alert
from bot.domain.incidents.opening import describe_symptoms
from bot.domain.recall.question import MAX_TEXT, RecallQuestion, read_question
from bot.domain.text.redaction import mask
from bot.domain.text.visible import clean
from bot.ports.chat import ChatMessage
from bot.ports.errors import ChatRejected, NotAllowedHere, RecordRejected, require_readable
from bot.slack import ids
from bot.slack.listeners.context import UseCases
from bot.slack.listeners.interaction import Interaction
from bot.slack.payload import UNREADABLE, Body, read_message, read_text
from bot.slack.views.forms import read_conversation
from bot.slack.views.help import render_recall_usage
from bot.slack.views.markup import decode_text
from bot.slack.views.recall import add_page_buttons, build_share_view, count_listed, render_page, render_vendor
from bot.slack.views.surfaces import render_note

MAX_PAGE = 10
NO_TEXT = "This message has no text to recall by. Use `/recall` and say what is happening."


async def recall(uses: UseCases, it: Interaction) -> None:
    """Answer `/recall` with similar past incidents, or what is known of a vendor."""
    viewer = await uses.access.require_viewer(it.channel_id)
    await it.whisper(await answer_text(uses, it.text, viewer))


async def answer_text(
    uses: UseCases, text: str, viewer: Viewer, page: int = 1, shared_by: str | None = None
) -> ChatMessage:
    """Return the answer to what was typed, for this viewer; a shared one has no buttons. Raises RecordRejected."""
    question = require_readable(read_question(text, uses.clock.now(), decode_text))
    given = set(question.filters)
    if not question.text and not given & {"vendor", "service", "region"}:
        return render_recall_usage()
    if not question.text and given <= {"vendor", "since", "limit"}:
        profile = await uses.profile_vendor(question.filters["vendor"], viewer, question.since)
        message = render_vendor(profile, question.limit, shared_by)
        return message if shared_by or not profile.incidents else add_page_buttons(message, text, 1, more=False)
    if page > 1:
        recalled = await uses.ask_memory.recall(question, viewer)
        return render_page(recalled, question.wording, text, question.limit, page)
    brief, recalled = await uses.ask_memory(question, viewer)
    message = uses.surfaces.render_recalled(brief, question.wording, question.limit, shared_by)
    return message if shared_by else add_page_buttons(message, text, 1, more=count_listed(recalled) > question.limit)


async def turn_page(uses: UseCases, it: Interaction) -> None:
    """Show another page, to a person who may see it from here now."""
    text, page = read_text(it.value, "q"), it.value.get("p")
    if text is None or not isinstance(page, int) or not 1 <= page <= MAX_PAGE:
        raise RecordRejected("", UNREADABLE)
    await uses.access.require_member(it.channel_id, it.user)
    viewer = await uses.access.require_viewer(it.channel_id)
    await it.whisper(await answer_text(uses, text, viewer, page), replaces=True)


async def ask_where_to_share(uses: UseCases, it: Interaction) -> None:
    """Open the modal that asks for a channel."""
    text = read_text(it.value, "q")
    if text is None:
        raise RecordRejected("", UNREADABLE)
    await it.open_loaded(build_share_view(text))


async def share(uses: UseCases, it: Interaction) -> None:
    """Ask again for the people of the chosen channel, and post the answer there once. Raises RecordRejected for a place
    where it cannot go."""
    text, target = read_text(it.metadata, "q"), read_conversation(it.view, ids.TARGET)
    if text is None or target is None:
        raise RecordRejected("", UNREADABLE)
    try:
        channel = await uses.access.require_channel(target)
        await uses.access.require_member(target, it.user)
    except (ChatRejected, NotAllowedHere) as refused:
        raise RecordRejected(ids.TARGET, str(refused)) from refused
    if not channel.is_joined:
        raise RecordRejected(ids.TARGET, "Invite me to that channel first: /invite @Precedent.")
    message = await answer_text(uses, text, channel.viewer, shared_by=it.user)
    await uses.share_answer(message, target, it.view_id)


async def recall_message(uses: UseCases, it: Interaction) -> None:
    """Answer the shortcut "Recall similar" on a message."""
    message = read_message(it.body)
    viewer = await uses.access.require_viewer(it.channel_id)
    found = uses.read({**message, "type": "message", "channel": it.channel_id})
    alert = found if isinstance(found, Alert) else None
    question = build_question(message, alert)
    if not question.text:
        await it.whisper(render_note(NO_TEXT))
        return
    own = await uses.find_incident(it.channel_id, str(message["ts"]), read_text(message, "thread_ts"))
    brief, _ = await uses.ask_memory(question, viewer, alert=alert, without=own)
    await it.whisper(uses.surfaces.render_recalled(brief, question.wording, question.limit))


def build_question(message: Body, alert: Alert | None) -> RecallQuestion:
    """Return what a message asks memory: an alert's title and signs, or what was written."""
    if alert is None:
        return RecallQuestion(mask(clean(decode_text(str(message.get("text") or ""))))[0][:MAX_TEXT])
    names = {"vendor": alert.vendor, "service": alert.service, "region": alert.region}
    words = " ".join(w for w in (alert.title, *describe_symptoms(alert)) if w)
    return RecallQuestion(clean(words)[:MAX_TEXT], {k: v for k, v in names.items() if v})
