"""Time and new ids come from outside, so that tests can say what they are. Must not be implemented in the core."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """The current time. Promise: timezone-aware, UTC."""

    def now(self) -> datetime:
        """The time now, in UTC."""
        ...


class Ids(Protocol):
    """Opaque unique tokens (lease tokens, correlation ids). Promise: never the same twice."""

    def new(self) -> str:
        """A new token of letters and digits."""
        ...
