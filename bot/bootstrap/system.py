"""The real clock and real ids. Must not be imported by anything but the composition root."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime


class SystemClock:
    """The machine's time."""

    def now(self) -> datetime:
        """The time now, in UTC."""
        return datetime.now(tz=UTC)  # noqa: TID251  # this is the one place that the Clock port stands for


@dataclass(frozen=True, slots=True)
class StoppedClock:
    """A time that was asked for."""

    at: datetime

    def now(self) -> datetime:
        """That time."""
        return self.at


class RandomIds:
    """Random tokens."""

    def new(self) -> str:
        """32 hexadecimal digits."""
        return uuid.uuid4().hex
