"""Who may see which incidents. Must not look anybody up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


def list_scopes(visibility: str, pools: Iterable[str]) -> frozenset[str]:
    """What may be seen in a channel: what is public, its own incidents, and those of the channels pooled with it."""
    return frozenset({"public", visibility, *(f"private:{channel}" for channel in pools)})


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who will read the answer: the visibility scopes they may see ("public", "private:<channel id>").

    `sees_all` is for the operator's command line only.
    """

    scopes: frozenset[str] = frozenset({"public"})
    sees_all: bool = False

    def may_see(self, visibility: str) -> bool:
        """Whether a record of this visibility may be recalled, shown or counted for the viewer."""
        return self.sees_all or visibility in self.scopes
