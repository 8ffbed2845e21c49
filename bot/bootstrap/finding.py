"""What a check of the installation found. Must not check anything."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One check. `ok` None: not configured, which is fine. `fix` says what to do where it is not."""

    check: str
    ok: bool | None
    detail: str
    fix: str = ""
