"""Import an adapter only when the settings ask for it: some libraries cost more to import than everything else
together.

Must not be used for what every command needs.
"""

from __future__ import annotations

import importlib
from typing import Any


def import_adapter(name: str) -> Any:
    """Import a module of `bot.adapters` by name. Its types are lost here: annotate what it returns at once."""
    return importlib.import_module(f"bot.adapters.{name}")
