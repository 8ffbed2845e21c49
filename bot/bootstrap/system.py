"""The real clock and real ids. Only the composition root and the command line use them."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the current time in UTC."""
        return datetime.now(tz=UTC)  # noqa: TID251  # this is the one place that the Clock port stands for


@dataclass(frozen=True, slots=True)
class StoppedClock:
    """A clock that stands at a given time."""

    at: datetime

    def now(self) -> datetime:
        """Return that time."""
        return self.at


class RandomIds:
    """Random tokens."""

    def new(self) -> str:
        """Return 32 hexadecimal digits."""
        return uuid.uuid4().hex
