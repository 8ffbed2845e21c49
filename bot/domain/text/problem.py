"""The reason why something that a person typed cannot be read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """What is wrong with a field. `bot.ports.require_readable` makes it an error that a person sees."""

    # "" for the input as a whole.
    field: str
    reason: str
