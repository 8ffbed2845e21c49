"""Finding the briefs that name an incident."""

from __future__ import annotations

import re
from typing import Any

import sqlalchemy as sa

from bot.adapters.store.database.statements import to_json
from bot.adapters.store.database.tables import briefs


def select_briefs_naming(incident_id: str) -> sa.Select[Any]:
    """Select briefs of other incidents whose text holds this id, perhaps as a part of a longer one (see
    `names_incident`)."""
    said = briefs.c.body.contains(to_json(incident_id)[1:-1], autoescape=True)
    return sa.select(briefs).where(said, briefs.c.incident_id != incident_id)


def names_incident(body: str, incident_id: str) -> bool:
    """Return whether JSON text holds this very id, and not only a longer one."""
    return re.search(_build_pattern(incident_id), body) is not None


def _build_pattern(incident_id: str) -> str:
    return rf"(?<![\w-]){re.escape(to_json(incident_id)[1:-1])}(?![\w-])"
