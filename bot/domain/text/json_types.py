"""JSON objects as the standard library decodes them: the one place where their values are `Any`.

What is in them is checked where it is read; a value with a known shape has a dataclass or a TypedDict instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

JsonObject: TypeAlias = Mapping[str, Any]
JsonDict: TypeAlias = dict[str, Any]
