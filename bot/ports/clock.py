"""Time and new ids come from outside, so that tests can set them."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """The current time. Promise: timezone-aware, UTC."""

    def now(self) -> datetime:
        """Return the time now, in UTC."""
        ...


class Ids(Protocol):
    """Opaque unique tokens (lease tokens, correlation ids). Promise: never the same twice."""

    def new(self) -> str:
        """Return a new token of letters and digits."""
        ...
