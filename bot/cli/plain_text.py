"""Format a Slack message as plain text for a terminal, without adding or dropping words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import typer

from bot.observability import escape_terminal_text
from bot.ports.chat import ChatMessage

_DATE = re.compile(r"<!date\^\d+\^[^|>]*\|([^>]*)>")
_LINK = re.compile(r"<(https?://[^|>]+)\|([^>]*)>")
_BARE = re.compile(r"<(https?://[^|>]+)>")
_PERSON = re.compile(r"<@([A-Z0-9]+)>")
_BOLD = re.compile(r"(?<![\w*])\*(\S(?:[^*\n]*\S)?)\*(?![\w*])")


def format_message(message: Mapping[str, Any]) -> str:
    """Return the message's blocks as lines, or its `text` if it has no blocks."""
    blocks = message.get("blocks") or ()
    said = [line for block in blocks for line in _format_block(block)] or [strip_markup(str(message.get("text", "")))]
    return "\n".join(escape_terminal_text(line) for lines in said for line in (lines.splitlines() or [""]))


def _format_block(block: Mapping[str, Any]) -> Iterator[str]:
    match block.get("type"):
        case "header" | "section":
            if block.get("text"):
                yield from strip_markup(str(block["text"]["text"])).splitlines()
            for field in block.get("fields") or ():
                yield strip_markup(str(field["text"]))
        case "context":
            yield " · ".join(
                strip_markup(str(part.get("text", "")))
                for part in block["elements"]
                if isinstance(part.get("text"), str)
            )
        case "actions":
            yield "  ".join(f"[{part['text']['text']}]" for part in block["elements"] if part.get("type") == "button")
        case "divider":
            yield "—" * 20
        case _:
            return


def strip_markup(mrkdwn: str) -> str:
    """Return Slack's mrkdwn without markup and escapes."""
    text = _DATE.sub(r"\1", mrkdwn)
    text = _LINK.sub(r"\2 (\1)", text)
    text = _BARE.sub(r"\1", text)
    text = _PERSON.sub(r"@\1", text)
    text = _BOLD.sub(r"\1", text)
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def print_message(message: ChatMessage) -> None:
    """Print a message as text."""
    typer.echo(format_message({"text": message.text, "blocks": message.blocks}))
