"""Copy JSON values, so that nobody changes what somebody else holds.

`copy.deepcopy` inspects every value; here it is known that a value is JSON, which makes copying much cheaper.
"""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")


def copy_json(value: T) -> T:
    """Return the value with dictionaries and lists of its own at every depth; everything else is immutable."""
    found: Any = value
    if isinstance(found, dict):
        found = {key: copy_json(one) for key, one in found.items()}
    elif isinstance(found, list):
        found = [copy_json(one) for one in found]
    elif isinstance(found, tuple):
        found = tuple(copy_json(one) for one in found)
    return found  # type: ignore[no-any-return]  # of the same type as what was given
