"""Methods of usergroups.*; arguments arrive parsed."""

from __future__ import annotations

from collections.abc import Callable

from bot.playground.core import LocalSlackCore
from bot.playground.workspace.state import JSON, SlackRefused, UserGroup


def list_groups(core: LocalSlackCore, args: JSON) -> JSON:
    """Handle usergroups.list."""
    return {"usergroups": [_build_group(core, group) for group in core.workspace.groups.values()]}


def list_members(core: LocalSlackCore, args: JSON) -> JSON:
    """Handle usergroups.users.list."""
    group = core.workspace.groups.get(str(args.get("usergroup")))
    if group is None:
        raise SlackRefused("no_such_subteam")
    return {"users": list(group.members)}


def _build_group(core: LocalSlackCore, group: UserGroup) -> JSON:
    return {
        "id": group.id,
        "team_id": core.workspace.team_id,
        "is_usergroup": True,
        "name": group.name,
        "handle": group.name,
        "is_external": False,
        "date_delete": 0,
        "user_count": len(group.members),
    }


METHODS: dict[str, Callable[[LocalSlackCore, JSON], JSON]] = {
    "usergroups.list": list_groups,
    "usergroups.users.list": list_members,
}
