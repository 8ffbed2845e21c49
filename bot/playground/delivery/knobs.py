"""The faults that are switched on, and the log of all traffic."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any

from bot.playground.workspace.copies import copy_json
from bot.playground.workspace.state import JSON

EVERY = "*"
_TRAFFIC_KEPT = 2_000


@dataclass(slots=True)
class Knobs:
    """The faults to come. Dictionaries are keyed by Web API method; `*` stands for every method."""

    duplicate: int = 1
    """How many times each event is delivered, with the same event id."""
    retry_headers: bool = True
    """Whether a redelivery says that it is one."""
    drop_acks: int = 0
    """How many of the next acks are treated as if they had never come."""
    validate: bool = True
    """Whether blocks and views over Slack's limits are refused."""
    channel_rate_limit: bool = False
    """Whether a second post to a channel within a second is answered with 429."""
    retry_after_s: int = 1
    limited: dict[str, int] = field(default_factory=dict)
    """429 for the next N calls."""
    errors: dict[str, list[str]] = field(default_factory=dict)
    """Error words for the next calls, one each; `http_500` answers with that status."""
    lost: dict[str, int] = field(default_factory=dict)
    """How many of the next calls are carried out, but their connection breaks before the answer."""
    slow_s: dict[str, float] = field(default_factory=dict)
    """Seconds that a call waits before it is carried out."""
    refused_scopes: set[str] = field(default_factory=set)
    revoked: bool = False
    """Whether the bot's token was revoked."""
    socket_mode_off: bool = False
    """Whether Socket Mode is switched off on the app's page: sockets open, Slack warns, and nothing comes on them."""

    def heal(self) -> None:
        """Switch all faults off."""
        self.duplicate, self.drop_acks, self.retry_headers = 1, 0, True
        self.channel_rate_limit, self.revoked, self.socket_mode_off = False, False, False
        for owed in (self.limited, self.errors, self.lost, self.slow_s, self.refused_scopes):
            owed.clear()

    def take_count(self, counts: dict[str, int], method: str) -> bool:
        """Use up one of the calls counted for this method, or for every method. Return whether there was one."""
        for key in (method, EVERY):
            if counts.get(key, 0) > 0:
                counts[key] -= 1
                return True
        return False

    def take_error(self, method: str) -> str | None:
        """Return the error code for the next call of this method, once."""
        for key in (method, EVERY):
            if self.errors.get(key):
                return self.errors[key].pop(0)
        return None

    def delay_s(self, method: str) -> float:
        """Return how many seconds a call of this method is delayed."""
        return self.slow_s.get(method, self.slow_s.get(EVERY, 0.0))

    def take_drop(self) -> bool:
        """Return whether to ignore the acknowledgment that just arrived."""
        if self.drop_acks > 0:
            self.drop_acks -= 1
            return True
        return False


@dataclass(slots=True)
class Traffic:
    """Every call and delivery with its payload, newest last, and the number of each."""

    entries: deque[JSON] = field(default_factory=lambda: deque(maxlen=_TRAFFIC_KEPT))
    counts: Counter[str] = field(default_factory=Counter)

    def clear(self) -> None:
        """Forget all traffic."""
        self.entries.clear()
        self.counts.clear()

    def note(self, at: float, kind: str, name: str, **facts: Any) -> None:
        """Log one call (`api`), delivery (`deliver`), response (`ack`, `no_ack`), webhook post or response_url post."""
        self.counts[f"{kind}:{name}"] += 1
        self.entries.append({"at": at, "kind": kind, "name": name, **copy_json(facts)})

    def calls(self, method: str) -> list[JSON]:
        """Return the logged Web API calls of a method, oldest first: `args`, `status`, `response`."""
        return [e for e in self.entries if e["kind"] == "api" and e["name"] == method]

    def deliveries(self, name: str | None = None) -> list[JSON]:
        """Return the logged deliveries: all, or those of one event type or interaction type."""
        return [e for e in self.entries if e["kind"] == "deliver" and name in (None, e["name"])]
