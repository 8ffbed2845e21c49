"""Decide who may see which incidents."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


def list_scopes(visibility: str, pools: Iterable[str]) -> frozenset[str]:
    """Return the scopes readable in a channel: public, the channel's own, and those of its pool."""
    return frozenset({"public", visibility, *(f"private:{channel}" for channel in pools)})


@dataclass(frozen=True, slots=True)
class Viewer:
    """The audience of an answer, as the visibility scopes it may read ("public", "private:<channel id>")."""

    scopes: frozenset[str] = frozenset({"public"})
    sees_all: bool = False  # only for the operator's command line

    def may_see(self, visibility: str) -> bool:
        """Return whether a record of this visibility may be recalled, shown or counted for the viewer."""
        return self.sees_all or visibility in self.scopes
