"""Route every command, button, menu entry, shortcut and modal to the listener that answers it.

One Bolt listener for each kind of request looks up its table, so the order of rows and of registration means nothing.
The table of commands also makes the help text.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.ports.errors import RecordRejected
from bot.slack import ids
from bot.slack.listeners import (
    brief_actions,
    channel,
    corrections,
    details,
    memo_reaction,
    nudge,
    preview,
    recall,
    reports,
    resolve,
    resolve_form,
)
from bot.slack.listeners.context import UseCases
from bot.slack.listeners.interaction import Interaction
from bot.slack.payload import Body, BoltCall, read_text
from bot.slack.views.forms import View
from bot.slack.views.help import HelpLine, render_help
from bot.slack.views.nudge import RECORD
from bot.slack.views.surfaces import render_note

Listener = Callable[[UseCases, Interaction], Awaitable[None]]
# Returns the view that takes the place of the submitted modal, or None to close it.
Submission = Callable[[UseCases, Interaction], Awaitable[View | None]]

OLD_BUTTON = "This button belongs to an older message and does nothing any more. `/precedent help` shows what I can do."
OLD_MENU = "This menu is of an older message. /precedent help shows what I can do."


@dataclass(frozen=True, slots=True)
class Command:
    """Slash command, or word of `/precedent`."""

    listener: Listener
    # What may follow it, as the help shows it.
    arguments: str
    # What it does, as the help says it.
    summary: str


async def show_help(uses: UseCases, it: Interaction) -> None:
    """Answer `/precedent help`."""
    await it.whisper(render_help(HELP))


COMMANDS: Mapping[str, Command] = {
    "/recall": Command(
        recall.recall, "<text> [vendor: service: region: since: limit:]", "similar past incidents, shown to you only"
    ),
    "/resolve": Command(resolve.open_from_command, "[INC-… or a message link]", "record what fixed an incident"),
    "/incidents": Command(reports.list_incidents, "", "the open incidents you may see"),
    "/digest": Command(reports.show_digest, "[7d|30d]", "what recurs, shown to you only"),
}
SUBCOMMANDS: Mapping[str, Command] = {
    "channel": Command(channel.show_channel, "", "what is set for this channel, and changing it"),
    "rules": Command(channel.show_rules, "", "what is silenced or set aside here, with Undo"),
    "edit": Command(corrections.open_edit, "INC-…", "correct a record"),
    "retract": Command(corrections.open_retract, "INC-…", "take a record out of memory"),
    "purge": Command(corrections.open_purge, "INC-…", "remove a record for good"),
    "report": Command(reports.show_report, "[30d]", "what became of the briefs: acted on, right or wrong, recorded"),
    "sent": Command(reports.show_sent, "INC-…", "exactly what a language model was sent about an incident"),
    "status": Command(reports.show_status, "", "what the bot depends on, and whether it works"),
    "help": Command(show_help, "", "this text"),
}
HELP: tuple[HelpLine, ...] = tuple(
    HelpLine(f"{name} {command.arguments}".rstrip(), command.summary)
    for name, command in {**COMMANDS, **{f"/precedent {word}": c for word, c in SUBCOMMANDS.items()}}.items()
)


async def run_subcommand(uses: UseCases, it: Interaction) -> None:
    """Answer `/precedent <word> …`; without a word, or with an unknown one, with the help."""
    word = next(iter(it.text.split()), "help").lower()
    command = SUBCOMMANDS.get(word)
    if command is None:
        await it.whisper(render_help(HELP, word))
        return
    await command.listener(uses, it)


async def run_command(uses: UseCases, it: Interaction) -> None:
    """Answer a slash command."""
    name = str(it.body.get("command"))
    if name == "/precedent":
        await run_subcommand(uses, it)
    elif name in COMMANDS:
        await COMMANDS[name].listener(uses, it)
    else:
        await it.whisper(render_help(HELP, name))


async def choose_entry(uses: UseCases, it: Interaction) -> None:
    """Answer the menu under a brief."""
    entry = MENU.get(read_text(it.value, "do") or "")
    if entry is None:
        raise RecordRejected("", OLD_MENU)
    await entry(uses, it)


# By action id, or by what precedes its last dot: what follows it is the answer, which the listener reads.
ACTIONS: Mapping[str, Listener] = {
    ids.FIXED: brief_actions.confirm_fix,
    ids.RECORD: resolve.open_from_button,
    ids.DETAILS: details.open_details,
    ids.NOT_SAME: brief_actions.keep_apart,
    ids.MORE: choose_entry,
    ids.AGAIN: brief_actions.answer_recurrence,
    ids.SAME_FIX: details.merge_fixes,
    ids.OTHER_FIXES: details.separate_fixes,
    ids.ASK_MODEL: details.ask_model,
    ids.FROM_THREAD: resolve_form.fill_from_thread,
    ids.MORE_FIELDS: resolve_form.show_more_fields,
    ids.CHANGE_CHANNEL: channel.change_settings,
    ids.UNDO: channel.undo,
    ids.MEMO: memo_reaction.answer,
    f"{ids.NUDGE}.{RECORD}": nudge.open_resolve,
    ids.NUDGE: nudge.answer,
    ids.PREVIEW: preview.open_preview,
    ids.PAGE: recall.turn_page,
    ids.SHARE: recall.ask_where_to_share,
}
MENU: Mapping[str, Listener] = {
    ids.WRONG: channel.ask_what_is_wrong,
    ids.COMPARE: details.compare,
    ids.MUTE: channel.ask_what_to_mute,
    ids.POSTMORTEM: brief_actions.request_postmortem,
    ids.NOT_ALERT: channel.ask_what_to_learn,
}
SHORTCUTS: Mapping[str, Listener] = {
    ids.RESOLVE_FROM_MESSAGE: resolve.open_from_message,
    ids.RECALL_FROM_MESSAGE: recall.recall_message,
}
SUBMISSIONS: Mapping[str, Submission] = {
    ids.RESOLVE_VIEW: resolve.record,
    ids.PICK_VIEW: resolve.pick,
    ids.CHANNEL_VIEW: channel.save_settings,
    ids.MUTE_VIEW: channel.mute,
    ids.NOT_ALERT_VIEW: channel.dismiss_alert,
    ids.WRONG_VIEW: channel.dismiss_precedent,
    ids.EDIT_VIEW: corrections.edit,
    ids.RETRACT_VIEW: corrections.retract,
    ids.PURGE_VIEW: corrections.purge,
    ids.SHARE_VIEW: recall.share,
}


def find_action(action_id: str) -> Listener | None:
    """Return the listener of a button or a menu."""
    return ACTIONS.get(action_id) or ACTIONS.get(action_id.rpartition(".")[0])


def register(app: AsyncApp, uses: UseCases) -> None:
    """Register one listener for each kind of request. Bolt injects arguments by their names.

    A modal is acknowledged after its work is durable, so that an error keeps what was typed; anything else at once.
    """
    anything = re.compile(".*")

    @app.command(anything)
    async def on_command(ack: BoltCall, body: Body, client: AsyncWebClient, respond: BoltCall) -> None:
        await ack()
        await run_command(uses, Interaction(body, client, respond))

    @app.action(anything)
    async def on_action(ack: BoltCall, body: Body, action: Body, client: AsyncWebClient, respond: BoltCall) -> None:
        await ack()
        it = Interaction(body, client, respond, action)
        listener = find_action(str(action.get("action_id")))
        if listener is not None:
            await listener(uses, it)
        elif not action.get("url"):  # a link button needs no answer
            await it.whisper(render_note(OLD_BUTTON))

    @app.shortcut(anything)
    async def on_shortcut(ack: BoltCall, body: Body, client: AsyncWebClient, respond: BoltCall) -> None:
        await ack()
        listener = SHORTCUTS.get(str(body.get("callback_id")), show_help)
        await listener(uses, Interaction(body, client, respond))

    @app.view(anything)
    async def on_submission(ack: BoltCall, body: Body, client: AsyncWebClient, respond: BoltCall) -> None:
        it = Interaction(body, client, respond)
        submission = SUBMISSIONS.get(str(it.view.get("callback_id")))
        view = await submission(uses, it) if submission else None
        await (ack(response_action="update", view=view) if view else ack())
