"""Copies of what JSON can hold, so that nobody changes what another keeps. Must not be given anything else.

`copy.deepcopy` asks of each value what it is; of everything that passes through the local Slack that is known.
"""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")


def copy_json(value: T) -> T:
    """The value with dictionaries and lists of its own, all the way down; everything else cannot be changed."""
    found: Any = value
    if isinstance(found, dict):
        found = {key: copy_json(one) for key, one in found.items()}
    elif isinstance(found, list):
        found = [copy_json(one) for one in found]
    elif isinstance(found, tuple):
        found = tuple(copy_json(one) for one in found)
    return found  # type: ignore[no-any-return]  # of the same type as what was given
