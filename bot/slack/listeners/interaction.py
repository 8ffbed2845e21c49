"""Wrap one thing that a person did in Slack, as listeners receive it: a command, a press, a shortcut or a submitted
modal."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, field

from slack_sdk.web.async_client import AsyncWebClient

from bot.ports.chat import ChatMessage
from bot.slack.payload import (
    Body,
    BoltCall,
    decode,
    read_channel_id,
    read_object,
    read_text,
    read_trigger,
    read_user,
    require_text,
    tell,
)
from bot.slack.views.forms import View

# Slack's trigger to open a modal is good for three seconds.
OPEN_WITHIN_S = 2.5


@dataclass(frozen=True, slots=True)
class Interaction:
    """Request of Slack, already acknowledged unless it is a submitted modal."""

    body: Body
    client: AsyncWebClient
    respond: BoltCall
    # The pressed button or the menu of the chosen entry.
    action: Body = field(default_factory=dict)

    @property
    def user(self) -> str:
        """Return the id of the person. Raises RecordRejected where Slack names nobody."""
        return read_user(self.body)

    @property
    def channel_id(self) -> str:
        """Return the channel that it comes from; "" where Slack names none."""
        return read_channel_id(self.body)

    @property
    def text(self) -> str:
        """Return what was typed behind a command."""
        return str(self.body.get("text") or "").strip()

    @property
    def arguments(self) -> str:
        """Return what was typed behind the first word of `/precedent`."""
        return " ".join(self.text.split()[1:])

    @property
    def value(self) -> Body:
        """Return what the pressed button or the chosen menu entry carries."""
        chosen = read_text(read_object(self.action, "selected_option"), "value")
        return decode(self.action.get("value") or chosen)

    @property
    def incident_id(self) -> str:
        """Return the incident that the button or the menu entry names, or an empty string."""
        return read_text(self.value, "i") or ""

    @property
    def answer(self) -> str:
        """Return what follows the last dot of the button's action id: its answer."""
        return str(self.action.get("action_id")).rpartition(".")[2]

    @property
    def view(self) -> Body:
        """Return the modal that was submitted, or in which a button was pressed."""
        return read_object(self.body, "view")

    @property
    def view_id(self) -> str:
        """Return the id of that modal. Raises RecordRejected where Slack names none."""
        return require_text(read_text(self.view, "id"))

    @property
    def metadata(self) -> Body:
        """Return what that modal carries: `i` the incident, `c` the channel, and more by modal."""
        return decode(self.view.get("private_metadata"))

    @property
    def place(self) -> tuple[str, str]:
        """Return the incident and the channel of the metadata, "" where it names none."""
        metadata = self.metadata
        return read_text(metadata, "i") or "", read_text(metadata, "c") or ""

    async def whisper(self, message: ChatMessage, *, replaces: bool = False) -> None:
        """Answer the person alone; `replaces`: in the place of the message they pressed."""
        await tell(self.respond, message, replaces=replaces)

    async def open(self, view: Awaitable[View]) -> str:
        """Load and open a modal, and return its id. Raises TimeoutError where that takes longer than Slack waits."""
        async with asyncio.timeout(OPEN_WITHIN_S):
            return await self.open_loaded(await view)

    async def open_loaded(self, view: View) -> str:
        """Open a modal, and return its id."""
        opened = await self.client.views_open(trigger_id=read_trigger(self.body), view=view)
        return str(opened["view"]["id"])

    async def replace(self, view: View, view_id: str | None = None) -> None:
        """Show a modal in the place of the open one."""
        await self.client.views_update(view_id=view_id or read_text(self.view, "id"), view=view)
