"""A channel's past, written into a local Slack as its tools and people would have: at the times it is said to be of."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bot.playground import LocalSlack
from bot.playground.workspace import messages

CASES = Path(__file__).parent.parent / "parsers" / "cases"
OWN_FIELDS = {"ts", "event_ts", "channel", "channel_type", "thread_ts", "team"}
FIRING, CLEARED = "alertmanager/default_firing", "alertmanager/default_resolved"


def case(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))
    return loaded


@dataclass
class Past:
    """Writes into one channel. No event tells the bot of it."""

    slack: LocalSlack
    channel: str = "alerts"
    now: datetime = datetime(2026, 11, 29, 3, 0, tzinfo=UTC)

    def ago(self, **by: float) -> datetime:
        return self.now - timedelta(**by)

    def _add(self, fields: dict[str, Any], at: datetime, thread: str | None) -> str:
        workspace = self.slack.core.workspace
        workspace.last_micros = 0  # what is written may be older than what was written last
        channel = workspace.channel(self.channel)
        ts: str = messages.add(workspace, channel, fields, at.timestamp(), thread_ts=thread)["ts"]
        return ts

    def tool(self, name: str, at: datetime, thread: str | None = None, **changes: Any) -> str:
        """A recorded post of a tool."""
        event = case(name)
        event = event.get("message", event)
        fields = {key: copy.deepcopy(value) for key, value in event.items() if key not in OWN_FIELDS}
        fields.pop("edited", None)
        return self._add(fields | {"type": "message", "team": "T04KESTREL"} | changes, at, thread)

    def person(self, text: str, at: datetime, thread: str | None = None, *, user: str | None = None) -> str:
        workspace = self.slack.core.workspace
        who = workspace.user(user) if user else next(u for u in workspace.users.values() if not u.is_bot)
        return self._add(messages.build_person_message(workspace, who, text), at, thread)

    def edited(self, ts: str, name: str, at: datetime) -> None:
        """A tool made of its post what this case says."""
        inner = case(name)["message"]
        kept = {key: copy.deepcopy(value) for key, value in inner.items() if key not in OWN_FIELDS}
        edit = {"edited": {"user": "B0TOOL", "ts": f"{at.timestamp():.6f}"}}
        self.slack.core.workspace.channel(self.channel).messages[ts].update(kept | edit)

    def sort(self) -> None:
        """As Slack keeps it: by time."""
        channel = self.slack.core.workspace.channel(self.channel)
        channel.messages = dict(sorted(channel.messages.items()))
