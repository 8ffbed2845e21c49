"""What the buttons inside the resolve modal do: put in what people wrote in the thread, and show the fields that are seldom
needed. What was typed stays.

Must not read a thread before somebody asks for it, and must not keep or record what it reads: it goes into the modal, where
the person sees it and decides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.text.names import cut
from bot.ports.chat import ThreadMessage
from bot.ports.errors import ChatRejected, ChatUnavailable
from bot.slack import ids
from bot.slack.listeners.context import UseCases, require_member, require_visible
from bot.slack.listeners.recall_question import BoltCall
from bot.slack.listeners.resolve import read_ts, read_user
from bot.slack.views.forms import View
from bot.slack.views.markup import Block, context, prose
from bot.slack.views.resolve_modal import build_more_fields

Body = Mapping[str, Any]
# What an input takes.
MAX_INPUT = 3000
# A line that is longer (a pasted log) is cut: it would push out all others.
MAX_LINE = 600
VIEW_FIELDS = ("type", "callback_id", "title", "submit", "close", "blocks", "private_metadata")
NOTHING_WRITTEN = "People wrote nothing in the thread yet."
NO_THREAD = "This incident has no thread that I can read."
FAILED = "The thread could not be read: {} What you typed is still here."


def register(app: AsyncApp, deps: UseCases) -> None:
    """Register the buttons; before the catch-alls."""

    @app.action(re.compile(rf"{re.escape(ids.FROM_THREAD)}\..*"))
    async def from_thread(ack: BoltCall, body: dict[str, Any], action: dict[str, Any], client: Any) -> None:
        await ack()
        target = str(action.get("action_id")).removeprefix(f"{ids.FROM_THREAD}.")
        await update_modal(client, body, await fill_from_thread(deps, body, target))

    @app.action(ids.MORE_FIELDS)
    async def more(ack: BoltCall, body: dict[str, Any], client: Any) -> None:
        await ack()
        await update_modal(client, body, add_more_fields(ids.read_object(body, "view")))


async def update_modal(client: AsyncWebClient, body: Body, view: View) -> None:
    """The modal in its new form, in the place of the old one."""
    await client.views_update(view_id=ids.read_text(ids.read_object(body, "view"), "id"), view=view)


async def fill_from_thread(deps: UseCases, body: Body, target: str) -> View:
    """The modal with what people wrote in the thread, behind what was typed in the input `target`; or with the reason why
    there is nothing. Raises IncidentNotFound, NotAllowedHere for who may not see it (any more)."""
    view = ids.read_object(body, "view")
    try:
        place = await find_thread(deps, ids.decode(view.get("private_metadata")), read_user(body))
        said = await deps.chat.read_thread(*place) if place else ()
    except (ChatRejected, ChatUnavailable) as problem:
        return add_note(view, FAILED.format(problem))
    if place is None:
        return add_note(view, NO_THREAD)
    return fill_lines(view, target, [one for one in said if one.ts != place[1]])


async def find_thread(deps: UseCases, metadata: Mapping[str, Any], user: str) -> tuple[str, str] | None:
    """The thread that a modal is about: the one in which it was opened, else that of the incident's brief."""
    incident_id, channel = (ids.read_text(metadata, key) or "" for key in ("i", "c"))
    root = read_ts(metadata)
    if not incident_id:
        await require_member(deps.chat, channel, user)
        return (channel, root) if channel and root else None
    await require_visible(deps, incident_id, channel, user)
    if channel and root:
        return channel, root
    briefs = sorted(await deps.store.list_briefs(incident_id), key=lambda b: b.channel != channel)
    return (briefs[0].channel, briefs[0].root_ts) if briefs else None


def fill_lines(view: Mapping[str, Any], target: str, said: Sequence[ThreadMessage]) -> View:
    """The modal with these lines behind what was typed: the newest that fit, in their order, none twice."""
    block = next((b for b in _list_blocks(view) if ids.read_block_base(str(b.get("block_id"))) == target), None)
    if block is None:
        return add_note(view, NO_THREAD)
    typed = read_typed(view, str(block["block_id"]))
    known = set(typed.splitlines())
    lines = (cut(line, MAX_LINE) for one in said for line in one.text.splitlines())
    fresh = [line for line in lines if line not in known]
    if not fresh:
        return add_note(view, NOTHING_WRITTEN)
    put = pick_newest(fresh, MAX_INPUT - len(typed) - 1)
    left_out = f" {len(fresh) - len(put)} older ones did not fit." if len(put) < len(fresh) else ""
    filled = _replace_text(view, block, "\n".join([*([typed] if typed else []), *put]))
    return add_note(filled, f"{len(put)} lines of the thread are in. Take out what is not part of it.{left_out}")


def pick_newest(lines: Sequence[str], room: int) -> list[str]:
    """The last lines that fit into so many characters, line breaks included."""
    found: list[str] = []
    for line in reversed(lines):
        room -= len(line) + 1
        if room < 0:
            break
        found.insert(0, line)
    return found


def read_typed(view: Mapping[str, Any], block_id: str) -> str:
    """What stands in an input now."""
    values = ids.read_object(ids.read_object(view, "state"), "values")
    return ids.read_text(ids.read_object(ids.read_object(values, block_id), ids.INPUT), "value") or ""


def add_more_fields(view: Mapping[str, Any]) -> View:
    """The modal with the fields that are seldom needed, in the place of the button that asked for them."""
    return _replace_blocks(view, {ids.MORE_FIELDS: build_more_fields()})


def add_note(view: Mapping[str, Any], text: str) -> View:
    """The modal with a line under the buttons that says what they did."""
    note = {**context(prose(text, 300)), "block_id": ids.THREAD_NOTE}
    if any(b.get("block_id") == ids.THREAD_NOTE for b in _list_blocks(view)):
        return _replace_blocks(view, {ids.THREAD_NOTE: [note]})
    buttons = [b for b in _list_blocks(view) if b.get("block_id") == ids.FROM_THREAD]
    return _replace_blocks(view, {ids.FROM_THREAD: [*buttons, note]})


def _replace_text(view: Mapping[str, Any], block: Mapping[str, Any], text: str) -> View:
    """The input filled anew, under a new id: under the old one Slack keeps showing what was typed."""
    block_id = str(block["block_id"])
    base, _, number = block_id.partition("#")
    following = int(number) + 1 if number.isdecimal() else 1
    element = {**ids.read_object(block, "element"), "initial_value": text}
    return _replace_blocks(view, {block_id: [{**block, "block_id": f"{base}#{following}", "element": element}]})


def _replace_blocks(view: Mapping[str, Any], others: Mapping[str, Sequence[Block]]) -> View:
    """The modal with other blocks in the place of some, by id; in the form in which a view is updated."""
    blocks = [new for b in _list_blocks(view) for new in others.get(str(b.get("block_id")), [b])]
    return {key: view[key] for key in VIEW_FIELDS if view.get(key)} | {"blocks": blocks}


def _list_blocks(view: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    blocks = view.get("blocks")
    return [b for b in blocks if isinstance(b, Mapping)] if isinstance(blocks, list) else []
