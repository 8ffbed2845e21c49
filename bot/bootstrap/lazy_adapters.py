"""Adapters that are imported when the settings ask for them: their libraries cost more to import than all of the rest.

Must not be used for what every command needs.
"""

from __future__ import annotations

import importlib
from typing import Any


def import_adapter(name: str) -> Any:
    """The module of `bot.adapters` with this name. Its types are lost here: give what it returns a type at once."""
    return importlib.import_module(f"bot.adapters.{name}")
