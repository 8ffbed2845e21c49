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
from bot.ports import ChatRejected, ChatUnavailable
from bot.ports.chat import Said
from bot.slack import ids
from bot.slack.listeners.context import Listening, require_member, require_visible
from bot.slack.listeners.recall_question import Answer
from bot.slack.listeners.resolve import ts_of, user_of
from bot.slack.views.forms import View
from bot.slack.views.markup import Block, context, prose
from bot.slack.views.resolve_modal import more_fields

Body = Mapping[str, Any]
# What an input takes.
MAX_INPUT = 3000
# A line that is longer (a pasted log) is cut: it would push out all others.
MAX_LINE = 600
KEPT_OF_VIEW = ("type", "callback_id", "title", "submit", "close", "blocks", "private_metadata")
NOTHING_SAID = "People wrote nothing in the thread yet."
NO_THREAD = "This incident has no thread that I can read."
FAILED = "The thread could not be read: {} What you typed is still here."


def listen(app: AsyncApp, deps: Listening) -> None:
    """Register the buttons; before the catch-alls."""

    @app.action(re.compile(rf"{re.escape(ids.FROM_THREAD)}\..*"))
    async def from_thread(ack: Answer, body: dict[str, Any], action: dict[str, Any], client: Any) -> None:
        await ack()
        target = str(action.get("action_id")).removeprefix(f"{ids.FROM_THREAD}.")
        await show(client, body, await with_thread(deps, body, target))

    @app.action(ids.MORE_FIELDS)
    async def more(ack: Answer, body: dict[str, Any], client: Any) -> None:
        await ack()
        await show(client, body, with_more(ids.object_of(body, "view")))


async def show(client: AsyncWebClient, body: Body, view: View) -> None:
    """The modal in its new form, in the place of the old one."""
    await client.views_update(view_id=ids.text_of(ids.object_of(body, "view"), "id"), view=view)


async def with_thread(deps: Listening, body: Body, target: str) -> View:
    """The modal with what people wrote in the thread, behind what was typed in the input `target`; or with the reason why
    there is nothing. Raises IncidentNotFound, NotAllowedHere for who may not see it (any more)."""
    view = ids.object_of(body, "view")
    try:
        place = await thread_of(deps, ids.decode(view.get("private_metadata")), user_of(body))
        said = await deps.chat.thread(*place) if place else ()
    except (ChatRejected, ChatUnavailable) as problem:
        return with_note(view, FAILED.format(problem))
    if place is None:
        return with_note(view, NO_THREAD)
    return with_said(view, target, [one for one in said if one.ts != place[1]])


async def thread_of(deps: Listening, metadata: Mapping[str, Any], user: str) -> tuple[str, str] | None:
    """The thread that a modal is about: the one in which it was opened, else that of the incident's brief."""
    incident_id, channel = (ids.text_of(metadata, key) or "" for key in ("i", "c"))
    root = ts_of(metadata)
    if not incident_id:
        await require_member(deps.chat, channel, user)
        return (channel, root) if channel and root else None
    await require_visible(deps, incident_id, channel, user)
    if channel and root:
        return channel, root
    briefs = sorted(await deps.store.briefs(incident_id), key=lambda b: b.channel != channel)
    return (briefs[0].channel, briefs[0].root_ts) if briefs else None


def with_said(view: Mapping[str, Any], target: str, said: Sequence[Said]) -> View:
    """The modal with these lines behind what was typed: the newest that fit, in their order, none twice."""
    block = next((b for b in _blocks(view) if ids.base_of(str(b.get("block_id"))) == target), None)
    if block is None:
        return with_note(view, NO_THREAD)
    typed = typed_in(view, str(block["block_id"]))
    known = set(typed.splitlines())
    lines = (cut(line, MAX_LINE) for one in said for line in one.text.splitlines())
    fresh = [line for line in lines if line not in known]
    if not fresh:
        return with_note(view, NOTHING_SAID)
    put = newest_fitting(fresh, MAX_INPUT - len(typed) - 1)
    left_out = f" {len(fresh) - len(put)} older ones did not fit." if len(put) < len(fresh) else ""
    filled = _with_text(view, block, "\n".join([*([typed] if typed else []), *put]))
    return with_note(filled, f"{len(put)} lines of the thread are in. Take out what is not part of it.{left_out}")


def newest_fitting(lines: Sequence[str], room: int) -> list[str]:
    """The last lines that fit into so many characters, line breaks included."""
    found: list[str] = []
    for line in reversed(lines):
        room -= len(line) + 1
        if room < 0:
            break
        found.insert(0, line)
    return found


def typed_in(view: Mapping[str, Any], block_id: str) -> str:
    """What stands in an input now."""
    values = ids.object_of(ids.object_of(view, "state"), "values")
    return ids.text_of(ids.object_of(ids.object_of(values, block_id), ids.INPUT), "value") or ""


def with_more(view: Mapping[str, Any]) -> View:
    """The modal with the fields that are seldom needed, in the place of the button that asked for them."""
    return _with_blocks(view, {ids.MORE_FIELDS: more_fields()})


def with_note(view: Mapping[str, Any], text: str) -> View:
    """The modal with a line under the buttons that says what they did."""
    note = {**context(prose(text, 300)), "block_id": ids.THREAD_NOTE}
    if any(b.get("block_id") == ids.THREAD_NOTE for b in _blocks(view)):
        return _with_blocks(view, {ids.THREAD_NOTE: [note]})
    buttons = [b for b in _blocks(view) if b.get("block_id") == ids.FROM_THREAD]
    return _with_blocks(view, {ids.FROM_THREAD: [*buttons, note]})


def _with_text(view: Mapping[str, Any], block: Mapping[str, Any], text: str) -> View:
    """The input filled anew, under a new id: under the old one Slack keeps showing what was typed."""
    block_id = str(block["block_id"])
    base, _, number = block_id.partition("#")
    following = int(number) + 1 if number.isdecimal() else 1
    element = {**ids.object_of(block, "element"), "initial_value": text}
    return _with_blocks(view, {block_id: [{**block, "block_id": f"{base}#{following}", "element": element}]})


def _with_blocks(view: Mapping[str, Any], others: Mapping[str, Sequence[Block]]) -> View:
    """The modal with other blocks in the place of some, by id; in the form in which a view is updated."""
    blocks = [new for b in _blocks(view) for new in others.get(str(b.get("block_id")), [b])]
    return {key: view[key] for key in KEPT_OF_VIEW if view.get(key)} | {"blocks": blocks}


def _blocks(view: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    blocks = view.get("blocks")
    return [b for b in blocks if isinstance(b, Mapping)] if isinstance(blocks, list) else []
