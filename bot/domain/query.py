"""The recall query: what is happening now, dense in symptoms (design 5). Must not search or score anything."""

from __future__ import annotations

from dataclasses import dataclass, field

from bot.domain.alert import Alert


@dataclass(frozen=True, slots=True)
class KnownNames:
    """Names that the records know; they are recognised in an alert's text even where no table lists them."""

    vendors: frozenset[str] = frozenset()
    services: frozenset[str] = frozenset()
    regions: frozenset[str] = frozenset()


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


OPERATOR = Viewer(sees_all=True)


@dataclass(frozen=True, slots=True)
class Query:
    """What to recall by. `text` is for text scoring; the fields are for identity, matches and gates.

    `exclude` holds ids that must not come back (the alert's own incident). `since_days`: None is no limit.
    """

    text: str
    fingerprint: str | None = None
    title: str | None = None
    service: str | None = None
    vendor: str | None = None
    region: str | None = None
    environment: str | None = None
    error_codes: frozenset[str] = frozenset()
    symptom_names: frozenset[str] = frozenset()
    exclude: frozenset[str] = frozenset()
    labels: dict[str, str] = field(default_factory=dict)


def build_query(alert: Alert, known: KnownNames, exclude: frozenset[str] = frozenset()) -> Query:
    """The query of an alert."""
    raise NotImplementedError
