"""Small values that workflows share: how owed Slack calls are named. Must not render or deliver anything."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from bot.ports.chat import Posting
from bot.ports.store import Destination, Owed

# Edits of one message that follow each other closer than this are sent as one.
EDIT_EVERY_S = 3.0


def owed(
    posting: Posting,
    *,
    key: str,
    urgent: bool = False,
    replaces: bool = False,
    target: str | None = None,
    every_s: float = 0.0,
) -> Owed:
    """The outbox row for a Slack call. `target` is the delivery id whose message the call edits or deletes; its ts is
    looked up when the row is delivered, for it may not exist yet."""
    payload: dict[str, Any] = {k: v for k, v in asdict(posting).items() if v not in (None, "", (), {})}
    if target:
        payload["target"] = target
    return Owed(
        Destination.SLACK,
        posting.operation,
        key,
        posting.delivery_id,
        payload,
        urgent=urgent,
        replaces=replaces,
        every_s=every_s,
    )
